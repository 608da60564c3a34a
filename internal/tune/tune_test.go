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
func library(t testing.TB, name string) *mpi.Library {
	t.Helper()
	return must.Get(mpi.Tunable(name))
}

// known are all libraries with rules files.
func known(t testing.TB) []*mpi.Library {
	return lists.Map(mpi.TunableNames(), func(name string) *mpi.Library { return library(t, name) })
}

// table is a machine with a serial, or a perfectly concurrent, channel.
func table(serial bool) *params.File {
	c := params.Curve{Sizes: []int{1, 1 << 10, 1 << 22}}
	for tau := 1; tau <= 16; tau++ {
		c.Taus = append(c.Taus, tau)
	}
	for _, m := range c.Sizes {
		var row []float64
		for tau := 1; tau <= 16; tau++ {
			l := 1e-7 + float64(m)*1e-10
			if serial {
				l *= float64(tau)
			}
			row = append(row, l)
		}
		c.Times = append(c.Times, row)
	}
	t := &params.Table{Transfers: c, Overheads: []float64{1e-6, 1e-6, 1e-6}}
	return params.FromText(t, nil)
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
		for _, l := range known(t) {
			c := chooser(t, table(serial), l, 0.05)
			of := []*collective.Collective{collective.Bcast, collective.Allgather, collective.Alltoall}
			rules := must.Get(c.Choices(context.Background(), of, []int{2, 3, 8, 12}, []int{1, 1 << 10, 1 << 16, 1 << 20}))
			told += len(rules.Rules())
			for _, table := range rules.Rows {
				if first, last := table.Spans[0], table.Spans[len(table.Spans)-1]; first.From != 1 || last.To != 1<<20 {
					t.Errorf("%s, %s among %d: spans from %d to %d", l.Version, table.Collective, table.P, first.From, last.To)
				}
				for i, s := range table.Spans {
					if i > 0 && s.From != table.Spans[i-1].To+1 {
						t.Errorf("%s, %s among %d: a gap before %d", l.Version, table.Collective, table.P, s.From)
					}
					if s.Setting.Own() {
						continue
					}
					cost := func(x mpi.Setting) float64 {
						one := must.Get((&costs{c, make(map[collective.Key]model.Cost), math.Inf(1)}).of(table.Collective, x, table.P, s.From))
						return one.Seconds
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
	f := &params.File{}
	var node numa.CPUSet
	for core := range 24 {
		node = append(node, core)
	}
	f.Provenance.Levels = numa.Levels{{Name: "same_socket", Groups: []numa.CPUSet{node[:12], node[12:]}}, {Name: "other_socket", Groups: []numa.CPUSet{node}}}
	for i, l := range f.Provenance.Levels {
		for m := 1; m <= 4<<20; m *= 2 {
			ns := []float64{200, 450}[i] + []float64{0.07, 0.12}[i]*float64(m)
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: 1, Bytes: m,
				Variant: params.Parameter{Of: l.Name, Name: params.ChannelMessage}}, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
		}
	}
	p := must.Get(model.NewPredictor(f, model.Choice{}))
	for _, l := range []*mpi.Library{library(t, "openmpi4"), library(t, "mpich4")} {
		c := &Chooser{Library: l, Predictor: p, Margin: 0.02}
		for _, of := range []*collective.Collective{collective.Bcast, collective.Named("reduce"), collective.Named("alltoall")} {
			for _, ranks := range []int{2, 5, 16, 23} {
				before := mpi.Setting{}
				for m := 64; m <= 4<<20; m *= 4 {
					settings := l.Settings(of, ranks, m)
					v := must.Get(c.Choose(of, settings, ranks, m, before))
					exact := costs{c, make(map[collective.Key]model.Cost), math.Inf(1)}
					var all []candidate
					for _, s := range settings {
						one := must.Get(exact.of(of, s, ranks, m))
						all = append(all, one)
					}
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
	for i := range 10 {
		f.Launches = append(f.Launches, params.Launch{Began: fmt.Sprintf("2026-11-22T00:%02d:00Z", i)})
	}
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
		c := chooser(t, launched(table(false), noise), library(t, "openmpi4"), 0.05)
		rules := must.Get(c.Choices(context.Background(), []*collective.Collective{collective.Bcast}, []int{5, 8, 12}, []int{1 << 10, 1 << 16, 1 << 20}))
		for _, table := range rules.Rows {
			for _, s := range table.Spans {
				switch {
				case s.Why == Overlap && noise > 1:
					noisy++
				case s.Why == Overlap:
					t.Errorf("among %d of %d B intervals overlap without noise", table.P, s.From)
				case s.Why == Cheaper:
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
	mpich := library(t, "mpich4").OnBase(other)
	c := chooser(t, table(false), mpich, 0.05)
	v := must.Get(c.Choose(collective.Bcast, mpich.Settings(collective.Bcast, 20, 1<<20), 20, 1<<20, mpi.Setting{}))
	if v.OwnKnown || v.Beaten.Own() || v.Beaten == v.Best {
		t.Errorf("the best %s is compared with %s, known %v", v.Best, v.Beaten, v.OwnKnown)
	}
}
