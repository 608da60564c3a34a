package model_test

import (
	"fmt"
	"log"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// A broadcast among four ranks, of which two messages at a time share the channel in its second stage.
func Example() {
	machine := &params.Table{ // L(m,τ) of messages of 8 KB, and o(m), in seconds
		Transfers: params.Curve{Sizes: []int{8192}, Taus: []int{1, 2, 4}, Times: [][]float64{{1e-6, 1.25e-6, 2e-6}}},
		Overheads: []float64{0},
	}
	bcast, err := collective.Lookup("bcast:binomial")
	if err != nil {
		log.Fatal(err)
	}
	schedule, err := bcast.Schedule(collective.Call{P: 4, M: 32 << 10})
	if err != nil {
		log.Fatal(err)
	}
	cost, err := model.TauLop{Channels: model.Uniform(machine), Segment: 8192}.Cost(schedule)
	fmt.Printf("%.2f µs = %s, %v\n", 1e6*cost.Seconds, cost.Formula(), err)
	// Output:
	// 14.25 µs = 2o(m) + 2L(S,1) + (k+1)L(S,2) + (k−1)L(S,4), <nil>
}
