module github.com/sheafdb/sheaf/blockcodec/_gensimd

go 1.26.0
