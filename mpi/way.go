package mpi

// A Way is what becomes of messages up to a size.
type Way struct {
	Most int // bytes of the longest message, 0: any
	// Single messages are copied once, by the kernel, from the sender's memory to the
	// receiver's. All others go through shared memory, copied twice.
	Single bool
	// Segment is how many bytes of a message go through shared memory at once, and
	// Segments how many of these may be on their way.
	Segment, Segments int
	// Request is how many bytes of the message go ahead of it, with the request to send
	// it, and Control how many messages without data are waited for after that. What
	// single copies wait for is measured with them and does not count.
	Request, Control int
	// Lines is how many cache lines move from rank to rank for a message, one after the other,
	// besides its data, Control, and a flag for each transfer: what leads to a header, and what is
	// given back before the receiver goes on.
	Lines int
	// Message is how many instructions of both ranks are one after the other in a message besides
	// the copies of its data, and Exchange how many one of two ranks that exchange messages
	// executes. 0: not counted.
	Message, Exchange int
	Source            string // where the others are from, see Library.Counted
}

// Of is the way of a message.
func (l *Library) Of(bytes int) Way {
	for _, w := range l.Ways {
		if w.Most == 0 || bytes <= w.Most {
			return w
		}
	}
	return l.Ways[len(l.Ways)-1]
}
