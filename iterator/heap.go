package iterator

// inputHeap is a binary heap of inputs that are live: the one whose next doc is
// smallest is the first.
type inputHeap []*input

// push adds in.
func (h *inputHeap) push(in *input) {
	*h = append(*h, in)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up].b.First <= in.b.First {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = in
}

// pop removes the first input and returns it.
func (h *inputHeap) pop() *input {
	s := *h
	first := s[0]
	n := len(s) - 1
	s[0], s[n] = s[n], nil
	*h = s[:n]
	h.fix()
	return first
}

// fix restores the order after the first input has moved on.
func (h *inputHeap) fix() {
	s := *h
	if len(s) < 2 {
		return
	}
	in, i := s[0], 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if right := down + 1; right < len(s) && s[right].b.First < s[down].b.First {
			down = right
		}
		if in.b.First <= s[down].b.First {
			break
		}
		s[i] = s[down]
		i = down
	}
	s[i] = in
}
