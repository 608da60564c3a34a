package collective_test

import (
	"fmt"
	"log"

	"github.com/taulop/taulop/collective"
)

// A schedule is stages, and a stage says how many messages of which size are on
// their way at once: all that a model needs, for a million ranks as for eight.
func Example() {
	a, err := collective.Lookup("bcast:binomial")
	if err != nil {
		log.Fatal(err)
	}
	s, err := a.Schedule(collective.Call{P: 8, M: 64 << 10})
	if err != nil {
		log.Fatal(err)
	}
	for n, step := range s.Steps() {
		fmt.Println(n, step.Phase, step.Pattern, step.Shape)
	}
	// Output:
	// 0 binomial one-way [{1 65536}]
	// 1 binomial one-way [{2 65536}]
	// 2 binomial one-way [{4 65536}]
}

// A program that carries a schedule out asks each stage for its messages.
func ExampleStep_Messages() {
	a, err := collective.Lookup("allgather:ring")
	if err != nil {
		log.Fatal(err)
	}
	s, err := a.Schedule(collective.Call{P: 3, M: 100})
	if err != nil {
		log.Fatal(err)
	}
	for n, step := range s.Steps() {
		for m := range step.Messages() {
			fmt.Printf("%d: %d→%d %v at %d to %v at %d\n", n, m.From, m.To, m.Src.Buffer, m.Src.Offset, m.Dst.Buffer, m.Dst.Offset)
		}
	}
	// Output:
	// 0: 0→0 send at 0 to recv at 0
	// 0: 1→1 send at 0 to recv at 100
	// 0: 2→2 send at 0 to recv at 200
	// 1: 0→1 recv at 0 to recv at 0
	// 1: 1→2 recv at 100 to recv at 100
	// 1: 2→0 recv at 200 to recv at 200
	// 2: 0→1 recv at 200 to recv at 200
	// 2: 1→2 recv at 0 to recv at 0
	// 2: 2→0 recv at 100 to recv at 100
}
