module github.com/sheafdb/sheaf/blockcodec/gen

go 1.26.0
