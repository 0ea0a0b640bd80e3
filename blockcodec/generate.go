package blockcodec

// The z*.go files are kernels, one straight line of code per width.
//go:generate go -C _gen run .
