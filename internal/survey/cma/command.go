package cma

import (
	"errors"
	"flag"
	"fmt"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

const help = `Cma measures messages that the kernel copies straight from one process to another
(cross memory attach, process_vm_readv), as MPI libraries have it do from some size on:
L(m,τ) of couples of a sender and a receiver, of ranks that all send and receive, and
of one process that many read at once; with send buffers that are rewritten before
each message, unchanged as in most benchmarks, and with messages that their senders
copy to where they are sent from, in the time that is measured, as collectives do.

  taulop cma [flags]

Examples:
  taulop cma                        all states of buffers, in 25 s
  taulop cma -m 64K:4M -tau 1,2     these sizes and τ alone
  taulop sweep -with cma -o host.json
  taulop predict -params host.json -P 4 -m 64K -transport cma bcast
`

// buffers is the largest number of buffers of a rank: to send, to receive, and to copy the message to.
const buffers = 3

func flags(f *flag.FlagSet) func(*numa.Machine) (survey.Task, error) {
	p := params.Plan{Policies: []numa.Policy{numa.Local}}
	argument.Var(f, &p.Taus, "tau", "", "τ, copies at once, a `list` like 1,2,4 with ranges: 2-8, or doubling 1:16 (default every one to 8, then some)", argument.Rising(argument.Taus))
	argument.Var(f, &p.Sizes, "m", "1K:4M", "message `sizes` in bytes, or with a unit, a list like 64K,1M with doubling ranges: 64K:4M", argument.Rising(argument.Sizes))
	argument.Var(f, &p.Caches, "cache", "in,off", "user buffers in cache or off cache, a `list`: in,off", argument.Caches)
	return func(m *numa.Machine) (t survey.Task, err error) {
		if len(p.Taus) == 0 {
			p.Taus = transfers.Taus(m.Concurrency())
		}
		if tau, most := p.Taus[len(p.Taus)-1], m.Allowed.Len(); tau > most {
			return t, fmt.Errorf("-tau %d is more than the %d CPUs that may be used: processes that take turns are not concurrent", tau, most)
		}
		free, err := numa.FreeMemoryBytes("/")
		if err != nil {
			return t, err
		}
		if largest := p.Sizes[len(p.Sizes)-1]; int64(largest) > free/4/int64(buffers*m.Allowed.Len()) {
			return t, fmt.Errorf("messages of %d bytes among %d processes need more than a quarter of the %d MB of memory that this process may take: choose smaller sizes", largest, m.Allowed.Len(), free>>20)
		}
		p.ArenaCaches = setups.NeededCaches(m, p.Caches)
		r := NewRequest(m, p)
		if r.Refused != "" {
			return t, errors.New(r.Refused)
		}
		r.Sizes = p.Sizes
		place, err := m.Place(numa.Local, m.Concurrency())
		t.Request, t.Plan, t.Places = r, p, []numa.Placement{place}
		return t, err
	}
}
