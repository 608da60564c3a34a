package model_test

import (
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// A broadcast among four ranks, of which two messages at a time share the channel in
// its second stage.
func Example() {
	machine := &params.Table{ // L(m,τ) of messages of 8 KB, and o(m), in seconds
		Transfers: params.Curve{Sizes: []int{8192}, Taus: []int{1, 2, 4}, Times: [][]float64{{1e-6, 1.25e-6, 2e-6}}},
		Overheads: []float64{0},
	}
	bcast, err := collective.Lookup("bcast:binomial")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := bcast.Schedule(collective.Call{P: 4, M: 32 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range []model.TauLop{
		{Channels: model.Uniform(machine), Segment: 8192},
		{Channels: model.Uniform(machine), Transport: model.SingleCopy},
	} {
		cost, err := m.Cost(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.2f µs = %s\n", 1e6*cost.Seconds, cost.Formula())
	}
}
