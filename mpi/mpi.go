// Package mpi says how MPI libraries carry a message from one rank of a node to another:
// which ones go through shared memory and in what segments, from which size on the kernel
// copies them straight from process to process, and what ranks tell each other before.
//
// Its opinion: what a library does is data with sources, in one file for each library, and
// what that costs is none of it: package model looks that up among what was measured of a
// machine.
package mpi

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/spelling"
)

// A Library is what an MPI library, as it comes, does with messages within a node.
type Library struct {
	Name  string // as users call it, such as "openmpi4"
	Title string // what exactly it is
	Ways  []Way  // rising by size, the last one for all that are longer
	// Chooses is whose tables choose its algorithms for collectives: openmpi4, openmpi5 or
	// mpich4.
	Chooses string
	// Self is how many bytes of a message of a rank to itself go through a buffer of its own; longer
	// ones are single copies. 0: nobody knows.
	Self int
	// Call is how many instructions a collective takes a rank besides its messages, Reduction
	// those of a reduction besides its elements. 0: nobody counted them.
	Call, Reduction int
	Counted         string // where numbers of instructions are from
	// Scalar, if not empty, is why it reduces one element at a time, without vector
	// instructions.
	Scalar string
}

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
	// Lines is how many cache lines move from rank to rank for a message, one after the
	// other, besides those of its data, of Control, and of a flag for each transfer: what
	// leads to a header, and what is given back before the receiver goes on.
	Lines int
	// Message is how many instructions of both ranks are one after the other in a message besides
	// the copies of its data, and Exchange those of one rank of two that exchange messages. 0:
	// nobody counted them.
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

// Libraries are all known, in order.
func Libraries() []*Library {
	return []*Library{openMPI4, openMPI4None, openMPI4UCX, openMPI5, openMPI5None, mpich4, mpich40OFI, mpich4OFI}
}

// Named finds a library. The error names the nearest known one, and all.
func Named(name string) (*Library, error) {
	var names []string
	for _, l := range Libraries() {
		if l.Name == strings.ToLower(name) {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return nil, fmt.Errorf("unknown MPI library %.40q; %s", name, spelling.Suggest(name, names))
}
