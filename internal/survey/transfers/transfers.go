// Package transfers measures what τ-Lop itself asks for: transfers L(m,τ), their
// synchronisation y(τ), bare copies c(m,τ), the overhead o(m), reduction operators
// γ(m,τ), and round trips for LogGP.
package transfers

import (
	"context"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// Survey is what every sweep measures.
var Survey = survey.Register(&survey.Survey{
	Name: "transfers", Doc: "L(m,τ), y(τ), c(m,τ), o(m), γ(m,τ) and round trips",
	Decode: survey.Decoder[Request],
})

// A Request is a plan.
type Request struct{ params.Plan }

// Cells are all of the plan, by worth: segments at every τ before other sizes, those of
// the first setup before others, γ last.
func (r Request) Cells(m *numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, k := range Keys(r.Plan, m.Allowed.Len()) {
		tr, _, err := trial(r.Plan, k)
		if err != nil {
			return nil, nil, err
		}
		c := engine.Cell{Cell: params.Cell{Key: k}, Tier: r.tier(k)}
		if k.Kind == params.TransferCell {
			c.K, c.Transfers = tr.K, tr.Setup.Transfers
		}
		if k.OffCache { // filled alike: those of a team and a setup, or of ranks
			c.Group = fmt.Sprint(k.Placement, ranked(k), tr.Setup.Name, workers(k, tr.Setup))
		}
		cells = append(cells, c)
	}
	return cells, nil, nil
}

// tier says how much a cell is worth where time is short.
func (r Request) tier(k params.Key) int {
	switch {
	case k.Kind == params.NullCell, k.Kind == params.TransferCell && k.Bytes == r.SegmentBytes:
		return 0
	case k.Kind == params.MessageCell, k.Kind == params.TransferCell && (k.Setup == params.Isolated || len(r.Setups) > 0 && k.Setup == r.Setups[0]):
		return 1
	case k.Kind == params.TransferCell, k.Kind == params.OwnCell:
		return 2
	case k.Kind == params.CopyCell, k.Kind == params.PRTTCell:
		return 3
	case slices.Contains(common, k.Operator):
		return 4
	}
	return 5
}

// common are the operators that programs use most.
var common = []string{"SUM_I", "SUM_R", "MAX_R"}

// Open prepares for samples.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	tr, times, err := trial(r.Plan, k)
	if err != nil {
		return engine.Reading{}, err
	}
	tau := workers(k, tr.Setup)
	place, err := place(r.Plan, b.Machine, k.Placement, tau)
	if err != nil {
		return engine.Reading{}, err
	}
	if k.OffCache {
		tr.ArenaBytes = max(room(r.Plan, place, b.Machine).WantedArena(), k.Bytes)
		b.Keep(place, fmt.Sprint(ranked(k)), int64(tr.ArenaBytes)*int64(tau))
	}
	work, err := work(r.Plan, k, tr)
	if err != nil {
		return engine.Reading{}, err
	}
	return b.Sample(ctx, place, work, times, hint)
}

// Probes are the cells of a reference probe: a segment at the largest τ, its
// synchronisation, and the longest copy of one worker.
func Probes(cells []engine.Cell) (probes []int) {
	find := func(better func(k, than params.Key) bool, of func(params.Key) bool) {
		best := -1
		for i, c := range cells {
			if of(c.Key) && (best < 0 || better(c.Key, cells[best].Key)) {
				best = i
			}
		}
		if best >= 0 {
			probes = append(probes, best)
		}
	}
	more := func(k, than params.Key) bool { return k.Tau > than.Tau }
	find(more, func(k params.Key) bool { return k.Kind == params.NullCell })
	find(more, func(k params.Key) bool { return k.Kind == params.TransferCell && k.Bytes == 8<<10 && !k.OffCache })
	find(func(k, than params.Key) bool { return k.Bytes > than.Bytes },
		func(k params.Key) bool {
			return k.Kind == params.CopyCell && k.Tau == 1 && k.Bytes <= 1<<20 && k.OffCache
		})
	return probes
}
