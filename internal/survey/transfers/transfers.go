// Package transfers measures the parameters of τ-Lop: transfers L(m,τ), their synchronisation y(τ),
// bare copies c(m,τ), the overhead o(m), reduction operators γ(m,τ), and round trips for LogGP.
package transfers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
	"github.com/taulop/taulop/setups"
)

// Survey is in every sweep.
var Survey = survey.Register(&survey.Survey{
	Name: "transfers", Doc: "L(m,τ), y(τ), c(m,τ), o(m), γ(m,τ) and round trips",
	Decode: survey.Decoder[Request],
})

// Names are the kinds of cells in a sentence.
var Names = map[params.Kind]string{
	params.TransferCell: "transfers", params.NullCell: "y", params.CopyCell: "copies", params.OwnCell: "own copies", params.MessageCell: "messages", params.ExchangeCell: "exchanges",
	params.OverheadCell: "o", params.GammaCell: "γ", params.PRTTCell: "round trips",
}

// A Request is a plan.
type Request struct{ params.Plan }

// Cells are all cells of the plan with their tiers. The order of sizes is up to the sweep.
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
		if k.OffCache { // cells with the same arenas
			c.Group = fmt.Sprint(k.Placement, workers(k, tr.Setup))
		}
		cells = append(cells, c)
	}
	return cells, nil, nil
}

// Segment reports whether a cell is a transfer of one segment.
func Segment(p params.Plan, k params.Key) bool {
	return k.Kind == params.TransferCell && k.Bytes == cmp.Or(k.SegmentBytes, p.SegmentBytes)
}

// tier is the priority of a cell if time is short, 0 the highest: y, and a segment in cache at every
// τ with every setup and placement. Other sizes, setups and placements, off cache, copies, round trips
// and γ follow, one operator after the other: a large machine has more cells than a minute has
// samples, and predictions need every τ of a size, two sizes or more, and γ of their operator.
func (r Request) tier(k params.Key) int {
	const copies = 8 // after the last transfer
	segment := Segment(r.Plan, k)
	switch {
	case k.Kind == params.NullCell, segment && !k.OffCache:
		return 0
	case k.Kind == params.CopyCell, k.Kind == params.PRTTCell:
		return copies
	case k.Kind == params.GammaCell:
		if i := slices.Index(Common, k.Operator); i >= 0 {
			return copies + 1 + i
		}
		return copies + 1 + len(Common) + slices.IndexFunc(operators(r.Plan), func(o reduce.Operator) bool { return o.Name == k.Operator })
	}
	n := lists.FalseFirst(!segment)
	first := k.Kind == params.MessageCell || k.Kind == params.ExchangeCell || k.Setup == params.Isolated || len(r.Setups) > 0 && k.Setup == r.Setups[0]
	for _, later := range []bool{k.OffCache, !first && !segment, k.Placement == numa.Remote} {
		if later {
			n += 2
		}
	}
	if len(r.Policies) > 0 && k.Placement != r.Policies[0] {
		n++
	}
	return n
}

// Common are the most used operators. Predictions use the first by default, or for MPI libraries
// without vector instructions the second.
var Common = []string{"SUM_I", "SUM_I" + reduce.Scalar, "SUM_R", "MAX_R"}

// Open prepares sampling.
func (r Request) Open(b *engine.Bench) (engine.Sampler, error) { return engine.On(b, r.sample), nil }

func (r Request) sample(ctx context.Context, b *engine.Bench, k params.Key, hint float64) (engine.Reading, error) {
	tr, times, err := trial(r.Plan, k)
	if err != nil {
		return engine.Reading{}, err
	}
	tau := workers(k, tr.Setup)
	place, err := Place(b.Machine, b.FirstCPU, k.Placement, r.CPUs, tau)
	if err != nil {
		return engine.Reading{}, err
	}
	if k.Setup == setups.Ping.Name {
		place = b.Machine.Couple(place)
	}
	if k.OffCache {
		tr.ArenaBytes = max(room(r.Plan, place, b.Machine).ArenaBytes, k.Bytes)
		arenas := 1 // of a worker
		if ranked(k) || tr.Setup.Separate {
			arenas = 2
		}
		if ranked(k) && k.Kind == params.OwnCell { // both arenas together have the size
			tr.ArenaBytes /= 2
		}
		b.Keep(place, "arenas", int64(tr.ArenaBytes)*int64(arenas*tau))
	}
	work, err := work(r.Plan, k, tr)
	if err != nil {
		return engine.Reading{}, err
	}
	return b.Sample(ctx, place, work, times, hint)
}

// Probes are the cells of a reference probe: a segment at the largest τ, its synchronisation, and the
// longest copy of one worker.
func Probes(cells []engine.Cell) (probes []int) {
	find := func(better func(k, than params.Key) bool, wanted func(params.Key) bool) {
		best := -1
		for i, c := range cells {
			if wanted(c.Key) && (best < 0 || better(c.Key, cells[best].Key)) {
				best = i
			}
		}
		if best >= 0 {
			probes = append(probes, best)
		}
	}
	more := func(k, than params.Key) bool { return k.Tau > than.Tau }
	find(more, func(k params.Key) bool { return k.Kind == params.NullCell && k.Segments == 0 })
	find(more, func(k params.Key) bool {
		return k.Kind == params.TransferCell && k.Bytes == 8<<10 && !k.OffCache && k.Segments+k.SegmentBytes == 0
	})
	find(func(k, than params.Key) bool { return k.Bytes > than.Bytes },
		func(k params.Key) bool {
			return k.Kind == params.CopyCell && k.Setup == "" && k.Tau == 1 && k.Bytes <= 1<<20 && k.OffCache
		})
	return probes
}
