module github.com/sheafdb/sheaf/bench

go 1.26.0

toolchain go1.27.4

require github.com/sheafdb/sheaf v0.0.0

replace github.com/sheafdb/sheaf => ../
