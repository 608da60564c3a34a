package mpi

import "slices"

// A Way is the protocol for messages up to a size.
type Way struct {
	Most int // bytes of the longest message, 0: any
	// Single: the kernel copies the message once, from the send buffer to the receive buffer (CMA).
	// Other messages are copied into and out of shared memory.
	Single bool
	// Segment is the bytes of a shared-memory buffer, Segments the number of buffers in flight.
	Segment, Segments int
	// Request is the bytes of the message in its rendezvous request (RTS), Control the number of control
	// messages on the critical path after it. Measurements of single copies include their control
	// messages: there it is 0.
	Request, Control int
	// Lines is the number of cache lines that move between the ranks one after the other for a message,
	// besides its data, Control and one flag a transfer: to reach a header, and to return a buffer
	// before the receiver goes on.
	Lines int
	// Message is the number of instructions of both ranks on the critical path of a message, without the
	// copies of its data. Exchange is the number that each of two exchanging ranks executes. 0: not
	// counted.
	Message, Exchange int
	Source            string // of the other fields; of instructions it is Library.Counted
}

// Of is the protocol for a message size.
func (l *Library) Of(bytes int) Way { return l.Ways[l.Way(bytes)] }

// Way is the index of that protocol in Ways.
func (l *Library) Way(bytes int) int {
	return slices.IndexFunc(l.Ways, func(w Way) bool { return w.Most == 0 || bytes <= w.Most })
}
