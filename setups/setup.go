// Package setups measures transfers on real memory: bcast, ping and ring of the τ-Lop paper as
// worker programs over shared memory, and the team of pinned workers that runs them, decides
// how often, and checks that the bytes that arrived are the bytes that were sent.
//
// Its opinion: a setup says only who copies what to whom; every repetition gets fresh memory; a
// run that moved the wrong bytes is an error, not a measurement; and no wait is unbounded.
//
// A Placement of package numa makes a Team; Team.Sample times a Work, such as a Trial of setup Ring.
// To learn how a transfer is measured, read Ring in setup.go, then exchange in trial.go (the timed
// loop), start in clock.go (the common begin) and Sample in sample.go (the repetitions).
package setups

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/reduce"
)

// A Setup says who copies what to whom. Every worker owns a user buffer, and an intermediate
// buffer if another worker reads from it. For each segment of a message a worker first copies its
// own segment into its intermediate buffer, then overwrites it with the segment that it receives.
type Setup struct {
	Name  string
	About string // one line for users
	// Transfers of a segment in sequence: l(k,τ) = Transfers·k·L(S,τ).
	Transfers int
	// Separate: the receive buffer differs from the send buffer.
	Separate bool
	// source is the worker whose intermediate buffer worker w of tau reads, or the constant noWorker.
	source func(w, tau int) int
	// least is the smallest number of workers; 0: one.
	least int
	// couples: workers are couples of sender and receiver.
	couples bool
	// alone: no flags, workers do not wait for each other.
	alone bool
	// shared: all workers copy out of worker 0's buffer, see Share.
	shared bool
	// segments, if not 0, replaces the trial's number of segments of the intermediate buffer.
	segments int
	// operator, if not nil, replaces the two copies of a setup without flags.
	operator *reduce.Operator
}

const noWorker = -1

// Bcast is Fig. 18 of taulop-2015: worker 0 fills its intermediate buffer, and the other workers
// copy each segment out while the next is being filled. l = k·L.
var Bcast = Setup{
	Name: "bcast", About: "worker 0 copies in, all others copy out", Transfers: 1,
	source: func(w, tau int) int {
		if w == 0 {
			return noWorker
		}
		return 0
	},
	least: 2,
}

// Ping is Fig. 19: concurrent couples of a sender and a receiver, each with an intermediate buffer
// of its own. l = k·L.
var Ping = Setup{
	Name: "ping", About: "couples of sender and receiver, each with a buffer of its own", Transfers: 1,
	source: func(w, tau int) int {
		if w%2 == 0 {
			return noWorker
		}
		return w - 1
	},
	couples: true,
}

// Ring is Fig. 20: every worker copies its segment into the buffer that its right neighbour reads, then
// copies its left neighbour's segment over the one just sent. l = 2k·L.
var Ring = Setup{
	Name: "ring", About: "every worker copies in for its right neighbour, then out from its left", Transfers: 2,
	source: func(w, tau int) int { return (w + tau - 1) % tau },
}

// Isolated is a message whose two transfers never run at once: the sender fills and the receiver
// empties an intermediate buffer of one segment in turn. It measures L(S,1) between two processes,
// T = 2L(m,1), eq. (11); a ring of one worker would copy within its own cache. l = 2k·L(S,1).
var Isolated = Setup{
	Name: "isolated", About: "one worker copies in, then another out, never both at once", Transfers: 2,
	source:   Ping.source,
	couples:  true,
	segments: 1,
}

// Sendrecv is a ring with separate send and receive buffers, as MPI_Sendrecv has; Ring
// corresponds to MPI_Sendrecv_replace. l = 2k·L.
var Sendrecv = Setup{
	Name: "sendrecv", About: "a ring whose workers receive beside what they send", Transfers: 2,
	source:   Ring.source,
	Separate: true,
}

// Bare is the copy alone, c(m,τ) of Fig. 4: every worker copies its user segment into a buffer of its
// own and back, all workers at once and without flags. Two copies a segment.
var Bare = Setup{
	Name: "copy", About: "every worker copies in and out of a buffer of its own, without flags", Transfers: 2,
	source: func(w, tau int) int { return w },
	alone:  true,
}

// Own is the local copy of a rank, a whole message from its send to its receive buffer, all ranks at
// once and without flags. One copy a message.
var Own = Setup{
	Name: "own", About: "every worker copies from what it sends to where it receives, without flags", Transfers: 1,
	source:   func(w, tau int) int { return noWorker },
	alone:    true,
	Separate: true,
}

// Share is a copy out of a shared buffer: every worker copies worker 0's buffer into memory of its
// own, all workers at once and without flags, as in Fig. 4 and as receivers of a bcast do. One copy a
// segment.
var Share = Setup{
	Name: "share", About: "every worker copies out of one buffer, worker 0's, without flags", Transfers: 1,
	source: func(int, int) int { return 0 },
	alone:  true,
	shared: true,
}

// Reducing is the setup of γ(m,τ): every worker reduces its user buffer into a buffer of its own, all
// workers at once and without flags.
func Reducing(o reduce.Operator) Setup {
	return Setup{
		Name: o.Name, About: "every worker reduces one vector into another", Transfers: 1,
		source: Bare.source, alone: true, operator: &o,
	}
}

// All holds the setups that measure L(S,τ), in the paper's order.
var All = []Setup{Bcast, Ping, Ring}

// Lookup finds a setup by name; its error lists the names.
func Lookup(name string) (Setup, error) {
	all := append([]Setup{Isolated, Sendrecv, Share}, All...)
	if s := lists.Find(all, func(s Setup) bool { return s.Name == name }); s != nil {
		return *s, nil
	}
	names := lists.Map(all, func(s Setup) string { return s.Name })
	return Setup{}, fmt.Errorf("there is no setup %q: use one of %s", name, strings.Join(names, ", "))
}

// Workers is the number of workers for τ concurrent transfers: τ, except for Isolated, whose
// transfers need two workers each.
func (s Setup) Workers(tau int) int {
	if s.Name == Isolated.Name {
		return 2 * tau
	}
	return tau
}

// Check rejects a number of workers that the setup cannot have.
func (s Setup) Check(tau int) error {
	switch {
	case s.couples && (tau < 2 || tau%2 != 0):
		return fmt.Errorf("%s needs an even number of workers, got %d (couples of sender and receiver)", s.Name, tau)
	case tau < max(s.least, 1):
		return fmt.Errorf("%s needs at least %s, got %d", s.Name, printable.Count(max(s.least, 1), "worker"), tau)
	}
	return nil
}

// readers returns the workers that read from w's intermediate buffer.
func (s Setup) readers(w, tau int) (readers []int) {
	for r := range tau {
		if s.source(r, tau) == w {
			readers = append(readers, r)
		}
	}
	return readers
}

// origin is the worker whose bytes lie in w's user buffer after n messages: each message brings
// the bytes that its source held before it.
func (s Setup) origin(w, tau, n int) int {
	holder := w
	for step := 1; step <= n; step++ {
		src := s.source(holder, tau)
		if src == noWorker {
			break
		}
		if src == w { // once round
			return s.origin(w, tau, n%step)
		}
		holder = src
	}
	return holder
}

// ones returns the operands of reductions: elements of value 1. Random bytes would be NaNs and
// denormal numbers, which take far longer.
func ones(o reduce.Operator) []byte {
	name := strings.TrimSuffix(o.Name, reduce.Scalar)
	values := map[byte]any{'I': int32(1), 'L': int64(1), 'F': float32(1), 'R': float64(1)}
	one, _ := binary.Append(nil, binary.NativeEndian, values[name[len(name)-1]]) // of fixed size: no error
	p := make([]byte, 1<<16)
	for at := 0; at < len(p); at += o.Element {
		copy(p[at:], one)
	}
	return p
}
