package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// library is a library with rules files.
func library(name string) *mpi.Library { return must.Get(mpi.Tunable(name)) }

// table is a machine with a serial, or a perfectly concurrent, channel.
func table(serial bool) *params.File {
	c := params.Curve{Sizes: []int{1, 1 << 10, 1 << 22}, Taus: lists.Indices(17)[1:]}
	for _, m := range c.Sizes {
		c.Times = append(c.Times, lists.Map(c.Taus, func(tau int) float64 {
			if !serial {
				tau = 1
			}
			return float64(tau) * (1e-7 + float64(m)*1e-10)
		}))
	}
	return params.FromText(&params.Table{Transfers: c, Overheads: []float64{1e-6, 1e-6, 1e-6}}, nil)
}

func chooser(t testing.TB, f *params.File, l *mpi.Library, margin float64) *Chooser {
	t.Helper()
	p := must.Get(model.NewPredictor(f, model.Choice{}))
	return &Chooser{Library: l, Predictor: p, Ensemble: model.NewEnsemble(f, model.Choice{}), Margin: margin}
}

// A rule gains more than the margin by the model, and no other setting gains more.
func TestRulesGain(t *testing.T) {
	told := 0
	for _, serial := range []bool{false, true} {
		for _, l := range lists.Map(mpi.TunableNames(), library) {
			c := chooser(t, table(serial), l, 0.05)
			of := []*collective.Collective{collective.Bcast, collective.Allgather, collective.Alltoall}
			rules := must.Get(c.Choices(context.Background(), of, []int{2, 3, 8, 12}, []int{1, 1 << 10, 1 << 16, 1 << 20}))
			told += len(rules.Rules())
			for _, table := range rules.Rows {
				first, last := table.Spans[0], table.Spans[len(table.Spans)-1]
				check.True(t, first.From == 1 && last.To == 1<<20, "%s, %s among %d: spans from %d to %d", l.Version, table.Collective, table.P, first.From, last.To)
				for i, s := range table.Spans {
					check.True(t, i == 0 || s.From == table.Spans[i-1].To+1, "%s, %s among %d: a gap before %d", l.Version, table.Collective, table.P, s.From)
					if s.Setting.Own() {
						continue
					}
					cost := func(x mpi.Setting) float64 {
						return must.Get((&costs{c, make(map[collective.Key]model.Cost), math.Inf(1)}).of(table.Collective, x, table.P, s.From)).Seconds
					}
					mine := cost(s.Setting)
					if own, known := l.Own(table.Collective, table.P, 1, s.From); known && s.OwnKnown && !(mine < 0.95*cost(own)) {
						t.Errorf("%s, %s of %d B among %d: %s costs %g, its own choice %s %g", l.Version, table.Collective, s.From, table.P, s.Setting, mine, own, cost(own))
					}
					for _, other := range l.Settings(table.Collective, table.P, s.From) {
						check.AtLeast(t, cost(other)*(1+alike)*1.000001, mine, "%s, %s of %d B among %d: cost of %s", l.Version, table.Collective, s.From, table.P, other)
					}
				}
			}
		}
	}
	check.True(t, told != 0, "no rule anywhere")
}

// Limits of costs do not change choices.
func TestCostsWithinChooseTheSame(t *testing.T) {
	f, node := &params.File{}, numa.SetOf(lists.Indices(24)...)
	f.Provenance.Levels = numa.Levels{{Name: "same_socket", Groups: []numa.CPUSet{node[:12], node[12:]}}, {Name: "other_socket", Groups: []numa.CPUSet{node}}}
	for i, l := range f.Provenance.Levels {
		for m := 1; m <= 4<<20; m *= 2 {
			ns := []float64{200, 450}[i] + []float64{0.07, 0.12}[i]*float64(m)
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: 1, Bytes: m,
				Variant: params.Parameter{Of: l.Name, Name: params.ChannelMessage}}, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
		}
	}
	p := must.Get(model.NewPredictor(f, model.Choice{}))
	for _, l := range []*mpi.Library{library("openmpi4"), library("mpich4")} {
		c := &Chooser{Library: l, Predictor: p, Margin: 0.02}
		for _, of := range []*collective.Collective{collective.Bcast, collective.Named("reduce"), collective.Named("alltoall")} {
			for _, ranks := range []int{2, 5, 16, 23} {
				before := mpi.Setting{}
				for m := 64; m <= 4<<20; m *= 4 {
					settings := l.Settings(of, ranks, m)
					v := must.Get(c.Choose(of, settings, ranks, m, before))
					exact := costs{c, make(map[collective.Key]model.Cost), math.Inf(1)}
					all := lists.Map(settings, func(s mpi.Setting) candidate { return must.Get(exact.of(of, s, ranks, m)) })
					want, _ := cheapest(all, before)
					if own, known := l.Own(of, ranks, 1, m); known {
						if one, err := exact.of(of, own, ranks, m); err == nil && want.Seconds >= one.Seconds {
							want = one
						}
					}
					check.Equal(t, v.Best, want.setting, "%s, best of %s of %d B among %d", l.Version, of, m, ranks)
					before = v.Setting
				}
			}
		}
	}
}

// launched gives the cells of a file samples of ten launches, each off by noise.
func launched(f *params.File, noise float64) *params.File {
	r := rand.New(rand.NewPCG(1, 2))
	f.Launches = lists.Map(lists.Indices(10), func(i int) params.Launch { return params.Launch{Began: fmt.Sprintf("2026-11-22T00:%02d:00Z", i)} })
	for i := range f.Cells {
		c := &f.Cells[i]
		ns := c.Time.Center
		for l := range f.Launches {
			c.Samples = append(c.Samples, params.Sample{NS: ns * math.Exp(noise*r.NormFloat64()), Launch: int32(l)})
		}
		c.Time = c.Replicates(f).Estimate()
	}
	return f
}

func TestNoRuleWhereIntervalsOverlap(t *testing.T) {
	quiet, noisy := 0, 0
	for _, noise := range []float64{0.001, 2} {
		c := chooser(t, launched(table(false), noise), library("openmpi4"), 0.05)
		rules := must.Get(c.Choices(context.Background(), []*collective.Collective{collective.Bcast}, []int{5, 8, 12}, []int{1 << 10, 1 << 16, 1 << 20}))
		for _, table := range rules.Rows {
			for _, s := range table.Spans {
				switch s.Why {
				case Overlap:
					noisy++
					check.True(t, noise > 1, "among %d of %d B intervals overlap without noise", table.P, s.From)
				case Cheaper:
					quiet++
					check.True(t, s.Gain.Known() && s.Gain.Lo > 0, "a rule gains %v", s.Gain)
				}
			}
		}
	}
	check.True(t, quiet != 0 && noisy != 0, "%d rules, %d overlaps: want some of each", quiet, noisy)
}

func TestSecondBestWhereOwnIsUnknown(t *testing.T) {
	other := must.Get(mpi.ReadTree(strings.NewReader(`{"collective=gatherv": {"algorithm=MPIR_Gatherv_allcomm_linear": {}}}`), "base.json"))
	mpich := library("mpich4").OnBase(other)
	c := chooser(t, table(false), mpich, 0.05)
	v := must.Get(c.Choose(collective.Bcast, mpich.Settings(collective.Bcast, 20, 1<<20), 20, 1<<20, mpi.Setting{}))
	check.True(t, !v.OwnKnown && !v.Beaten.Own() && v.Beaten != v.Best, "the best %s is compared with %s, known %v", v.Best, v.Beaten, v.OwnKnown)
}
