package iterator

// Blocks returns it as a BlockIterator: itself when it is one, else an iterator
// that collects docs into blocks of up to BlockSize. Closing the result closes
// it, and it must not be moved otherwise. nil is an empty list.
func Blocks(it Iterator) BlockIterator { return blockwise(it) }
