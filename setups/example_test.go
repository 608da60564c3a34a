package setups_test

import (
	"context"
	"fmt"

	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

// L(8K,2) of a ring of two workers is half of the time of a message of one segment, which passes two
// transfers.
func Example() {
	machine, err := numa.Discover("/")
	if err != nil {
		fmt.Println(err)
		return
	}
	placement, err := machine.Place(numa.Local, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	team, err := setups.NewTeam(placement)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer team.Close()
	message := setups.Trial{Setup: setups.Ring, Segments: 2, SegmentBytes: 8192, K: 1, Bytes: 8192}
	sample, err := team.Sample(context.Background(), message, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("L(8K,2) = %.0f ns\n", sample.NS/2)
}
