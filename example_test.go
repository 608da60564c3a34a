package taulop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func Example() {
	team := must(setups.NewTeam(must(must(numa.Discover("/")).Place(numa.Local, 2))))
	defer team.Close()
	L := func(s setups.Setup, tau int) float64 { // seconds; each segment passes two transfers
		t := setups.Trial{Setup: s, Tau: s.Workers(tau), Segments: 2, SegmentBytes: 8192, K: 1, Bytes: 8192}
		return must(team.Sample(context.Background(), t, 0)).NS / 2e9
	}
	measured := &params.Table{
		Transfers: params.Curve{Sizes: []int{8192}, Taus: []int{1, 2}, Times: [][]float64{{L(setups.Isolated, 1), L(setups.Ring, 2)}}},
		Overheads: []float64{0},
	}
	broadcast := must(must(collective.Lookup("bcast:binomial")).Schedule(collective.Call{P: 2, M: 64 << 10}))
	cost := must(model.TauLop{Channels: model.Uniform(measured), Segment: 8192}.Cost(broadcast))
	fmt.Printf("%s = %.1f µs\n", cost.Formula(), 1e6*cost.Seconds)
}
