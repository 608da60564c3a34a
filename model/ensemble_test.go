package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// launched gives a file's cells samples of launches in sessions. Sessions and launches differ by 10 % (one
// standard deviation), samples by noise.
func launched(f *params.File, sessions, launches int, noise float64) {
	random := rand.New(rand.NewPCG(3, 4))
	var slow []float64
	for session := range sessions {
		hour := math.Exp(0.1 * random.NormFloat64())
		for i := range launches {
			f.Launches = append(f.Launches, params.Launch{Session: session, Began: fmt.Sprintf("2026-11-22T%02d:%02d:00Z", session, i)})
			slow = append(slow, hour*math.Exp(0.1*random.NormFloat64()))
		}
	}
	for i := range f.Cells {
		c := &f.Cells[i]
		ns := c.Time.Center
		c.Samples = lists.Map(lists.Indices(len(f.Launches)), func(l int) params.Sample {
			return params.Sample{NS: ns * slow[l] * math.Exp(noise*random.NormFloat64()), Launch: int32(l)}
		})
		c.Time = c.Replicates(f).Estimate()
	}
}

func TestEnsembleIntervals(t *testing.T) {
	try := func(sessions, launches int, least, most float64) { // least, most: half-width
		t.Helper()
		f := twoNodes()
		launched(f, sessions, launches, 0.001)
		p := predictorOf(t, f, Choice{})
		e, again := NewEnsemble(f, Choice{}), NewEnsemble(f, Choice{})
		linear := schedule(t, "bcast:linear", collective.Call{P: 2, M: 8192})
		ring := schedule(t, "allgather:ring", collective.Call{P: 2, M: 8192})
		c := priced(t, p, linear)
		drawn := e.Costs(linear)
		interval := e.Interval(c.Seconds, drawn)
		check.AtLeast(t, interval.Width(), least, "width with %d sessions of %d launches", sessions, launches)
		check.AtMost(t, interval.Width(), most, "width with %d sessions of %d launches", sessions, launches)
		check.Equal(t, again.Interval(c.Seconds, again.Costs(linear)), interval, "intervals of one file")
		if !interval.Known() {
			return
		}
		// A slow launch cancels in a ratio.
		other := priced(t, p, ring)
		ratios := e.Costs(ring)
		for i := range ratios {
			ratios[i] /= drawn[i]
		}
		w := e.Interval(other.Seconds/c.Seconds, ratios).Width()
		check.True(t, w < least/4, "%d sessions of %d launches: the ratio of two costs is uncertain by ±%.3f", sessions, launches, w)
	}
	try(1, 12, 0.03, 0.25) // Student's 2.2 · 0.1 · 1.25/√12 is 0.08
	try(8, 6, 0.03, 0.25)  // 2.4 · √(0.1² + 0.05²)/√8 is 0.09
	try(2, 6, 0.03, 0.25)  // of launches: two sessions are too few
	try(1, 2, math.Inf(1), math.Inf(1))
}

// Intervals include the uncertainty of a network of another file.
func TestEnsembleHasNetwork(t *testing.T) {
	f := twoNodes()
	launched(f, 1, 12, 0.001)
	net := &params.File{Format: params.Format, Version: params.Version, Networks: []params.Network{{Name: "n", Kind: "tcp"}}}
	for _, tau := range []int{1, 2} {
		for _, m := range []int{1, 8192} {
			for _, of := range []string{params.NetTransfer, params.NetOverhead} {
				c := params.Cell{Key: params.Key{Kind: params.NetCell, Tau: tau, Bytes: m, Variant: params.Parameter{Of: "n", Name: of}}, Time: fit.Estimate{Center: 50000}}
				if of == params.NetTransfer || tau == 1 {
					net.Cells = append(net.Cells, c)
				}
			}
		}
	}
	launched(net, 1, 12, 0.3)
	n, table, err := net.Network("n")
	must.Do(err)
	s := schedule(t, "bcast:linear", collective.Call{P: 2, M: 8192})
	width := func(file *params.File) float64 {
		c := Choice{Cluster: cluster(t, "block", 2, &Network{n, table, file})}
		p := predictorOf(t, f, c)
		cost := priced(t, p, s)
		e := NewEnsemble(f, c)
		return e.Cost(cost.Seconds, e.Costs(s)).Width()
	}
	exact, measured := width(nil), width(net)
	check.True(t, math.IsInf(exact, 1) && measured > 0.05 && measured < 1, "a message through the network: ±%.4f without its launches, ±%.4f with them", exact, measured)
}
