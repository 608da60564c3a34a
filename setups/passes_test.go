package setups

import (
	"context"
	"fmt"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/shm"
)

// Every pass is counted and checked, warm-up passes included, in fresh memory, in kept memory and in an
// arena.
func TestPassesAreCounted(t *testing.T) {
	if !shm.Supported {
		t.Skip("measuring needs Linux")
	}
	m := must.Get(numa.Discover("/"))
	place := must.Get(m.Place(numa.Local, 1))
	team := must.Get(NewTeam(place))
	defer team.Close()
	kept := keptArray
	defer func() { keptArray = kept }()
	for _, c := range []struct {
		name        string
		kept, arena int
		passes      int // of an array, at least
	}{
		{"fresh", 1 << 20, 0, warmPasses},
		{"kept", 1 << 10, 0, 3 * 4},
		{"arena", 1 << 20, 4 << 10, 3},
	} {
		keptArray = c.kept
		var fewest int
		p := Passes{Bytes: 1 << 10, Count: 4, Batches: 2, ArenaBytes: c.arena, Laid: c.name,
			Lay: func(mem []byte, _ int) { clear(mem) },
			Pass: func(array []byte, times int) float64 {
				for range times {
					for i := range array {
						array[i]++
					}
				}
				return 0
			},
			Check: func(array []byte, passes int) error {
				for i, got := range array {
					if int(got) != passes {
						return fmt.Errorf("byte %d was passed over %d times, and %d were counted", i, got, passes)
					}
				}
				clear(array)
				fewest = min(fewest, passes)
				return nil
			}}
		for range 3 {
			fewest = 1 << 30
			times, err := team.Passes(context.Background(), p)
			if err != nil || len(times) < 1 {
				t.Fatalf("%s: %v, %v", c.name, times, err)
			}
			if fewest < c.passes {
				t.Errorf("%s: an array was passed over %d times, want %d or more", c.name, fewest, c.passes)
			}
		}
		if stays := team.memory.kept[key{of: arrayOfPasses}] != nil; stays != (c.name != "fresh") {
			t.Errorf("%s: an arena stays: %t", c.name, stays)
		}
	}
}
