// Package cma measures single copies by the kernel from process to process (cross memory attach,
// process_vm_readv), by the state of send buffers.
package cma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Survey is single copies.
var Survey = survey.Register(&survey.Survey{
	Name: "cma", Doc: "single copies by the kernel, from process to process",
	Decode: survey.Decoder[Request],
	Plan:   func(m *numa.Machine, p params.Plan) (survey.Request, error) { return NewRequest(m, p), nil },
	Time: func(m *numa.Machine) time.Duration {
		return usual + time.Duration(m.Concurrency())*time.Second/2 // to start processes
	},
	Command: &survey.Command{Help: help, Time: usual, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
})

// usual is the time for all states of buffers on two cores.
const usual = 25 * time.Second

// A setup is ranks that copy at once.
type setup struct {
	name, about string
	ranks       func(tau int) int // for τ concurrent copies
	algorithm   *collective.Algorithm
	copied      *collective.Algorithm // with a copy into the send buffer before each message; nil: none
}

// kinds are the setups in the order of tables.
var kinds = []setup{
	{params.Ping, "ping, τ couples of sender and receiver", func(tau int) int { return 2 * tau }, collective.Couples, collective.CopiedCouples},
	{params.Sendrecv, "sendrecv, τ ranks in a circle", func(tau int) int { return tau }, collective.Permutation, collective.CopiedPermutation},
	{params.Bcast, "bcast, τ readers of one process", func(tau int) int { return tau + 1 }, collective.Readers, nil},
}

// index is the index of a setup, −1 for other names.
func index(name string) int {
	return slices.IndexFunc(kinds, func(s setup) bool { return s.name == name })
}

// A Request is single copies by placement, size and τ.
type Request struct {
	Policies   []numa.Policy `json:"placements"`
	CPUs       []int         `json:"cpus,omitempty"` // for placement cpus
	Sizes      []int         `json:"sizes"`
	Taus       []int         `json:"taus"`
	Caches     []bool        `json:"off_cache"`
	ArenaBytes int           `json:"arena_bytes"` // bound on a rank's off-cache send buffers, and receive buffers
	// ArenaCaches is the size of these over the cache that holds a rank's data.
	ArenaCaches float64 `json:"arena_caches"`
	Refused     string  `json:"refused,omitempty"`
}

// leastBytes is the smallest message: libraries send smaller ones in segments.
const leastBytes = 512

// NewRequest is the request of a plan, with fewer sizes. If the kernel lets no process read another's
// memory, the request has the reason in Refused and no cells.
func NewRequest(m *numa.Machine, p params.Plan) Request {
	r := Request{Policies: p.Policies, CPUs: p.CPUs, Caches: p.Caches, Taus: p.Taus, Sizes: Sizes(p.Sizes), ArenaCaches: cmp.Or(p.ArenaCaches, setups.ArenaCaches)}
	if free, err := numa.FreeMemoryBytes("/"); err == nil {
		r.ArenaBytes = int(free/4) / (2 * max(2, m.Allowed.Len()))
	}
	if err := Allowed(m); err != nil {
		r.Refused = err.Error()
	}
	return r
}

// Sizes are the measured sizes of a plan: each at least twice the one before, and the largest.
func Sizes(all []int) (sizes []int) {
	for _, bytes := range all {
		if n := len(sizes); bytes >= leastBytes && (n == 0 || bytes >= 2*sizes[n-1] || bytes == all[len(all)-1]) {
			sizes = append(sizes, bytes)
		}
	}
	return sizes
}

// Allowed fails if single copies cannot be measured: on one CPU, or if the kernel lets no process read
// another's memory.
func Allowed(m *numa.Machine) error {
	if m.Allowed.Len() < 2 {
		return errors.New("single copies go from process to process, each on a CPU of its own, and there is one CPU: allow this process more")
	}
	place, err := m.Place(numa.Local, 2)
	if err != nil {
		return err
	}
	team, err := setups.NewProcesses(place)
	if err != nil {
		return err
	}
	defer team.Close()
	work, err := work(params.Key{Setup: params.Ping, Tau: 1, Bytes: 1})
	if err == nil {
		work.Runs = 1
		_, err = team.RunCollective(context.Background(), work)
	}
	return err
}

// Cells are y(τ), and L(m,τ) with rewritten, unchanged and copied send buffers. Off cache, unchanged
// is the same as rewritten.
func (r Request) Cells(m *numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	if r.Refused != "" {
		return nil, []error{fmt.Errorf("single copies (cma) are not measured: %s", r.Refused)}, nil
	}
	for _, policy := range r.Policies {
		for _, s := range kinds {
			for _, tau := range r.Taus {
				n := s.ranks(tau)
				alone := tau == 1 && s.name != params.Ping // equal to ping
				if n > m.Allowed.Len() || alone {
					continue
				}
				k := params.Key{Kind: params.NullCell, Setup: s.name, Placement: policy, Tau: tau, Transport: params.CMA}
				add := func(k params.Key) {
					c := engine.Cell{Cell: params.Cell{Key: k}, Group: fmt.Sprint(policy, s.name == params.Ping, n)}
					if k.Kind == params.TransferCell {
						c.K, c.Transfers = 1, 1
					}
					cells = append(cells, c)
				}
				add(k)
				k.Kind = params.TransferCell
				for _, k.Bytes = range r.Sizes {
					for _, k.OffCache = range r.Caches {
						add(k)
						for _, k.Buffers = range []params.Buffers{params.Unchanged, params.Copied} {
							if k.Buffers == params.Copied && s.copied != nil || k.Buffers == params.Unchanged && !k.OffCache {
								add(k)
							}
						}
						k.Buffers = params.Rewritten
					}
				}
			}
		}
	}
	return cells, nil, nil
}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	n := kinds[index(k.Setup)].ranks(k.Tau)
	place, err := transfers.Place(b.Machine, b.FirstCPU, k.Placement, r.CPUs, n)
	if err != nil {
		return engine.Reading{}, err
	}
	if k.Setup == params.Ping {
		place = b.Machine.Couple(place)
	}
	work, err := work(k)
	if err != nil {
		return engine.Reading{}, err
	}
	if k.OffCache {
		work.ArenaBytes = max(min(setups.ArenaOf(b.Machine, place, r.ArenaCaches), r.ArenaBytes), 2*k.Bytes)
	}
	return b.Sample(ctx, place, work, 1, hint)
}

// work is the collective that measures a cell.
func work(k params.Key) (setups.Collective, error) {
	s := kinds[index(k.Setup)]
	a := s.algorithm
	if k.Buffers == params.Copied {
		a = s.copied
	}
	laid, err := a.Schedule(collective.Call{P: s.ranks(k.Tau), M: max(1, k.Bytes), Distance: 1})
	return setups.Collective{Schedule: laid, Single: true, Rewritten: k.Buffers != params.Unchanged, Null: k.Kind == params.NullCell}, err
}
