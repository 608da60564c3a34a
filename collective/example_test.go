package collective_test

import (
	"fmt"

	"github.com/taulop/taulop/collective"
)

// A schedule is stages, and a stage says how many messages of which size are on
// their way at once: all that a model needs, for a million ranks as for eight.
func Example() {
	a, err := collective.Lookup("bcast:binomial")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := a.Schedule(collective.Call{P: 8, M: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
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
		fmt.Println(err)
		return
	}
	s, err := a.Schedule(collective.Call{P: 3, M: 100})
	if err != nil {
		fmt.Println(err)
		return
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

// A collective says what ranks bring and what they are promised, so that a result can
// be checked without knowing which collective it was.
func ExampleSchedule_Promise() {
	for _, c := range []*collective.Collective{collective.Scatter, collective.Gather, collective.Reduce} {
		s, err := c.DefaultAlgorithm().Schedule(collective.Call{P: 4, Root: 1, M: 8})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s; m is %s\n", s.Algorithm, c.About, c.M)
		for rank := range 4 {
			given := s.Brings(rank)
			fmt.Printf("  rank %d brings %d bytes and gets %+v\n", rank, given.Bytes, s.Promise(rank))
		}
	}
	// Output:
	// scatter:binomial: each rank gets its block from the root; m is one rank's block
	//   rank 0 brings 0 bytes and gets [{From:1 Ranks:1 At:0 Bytes:8 Reduced:false}]
	//   rank 1 brings 32 bytes and gets [{From:1 Ranks:1 At:8 Bytes:8 Reduced:false}]
	//   rank 2 brings 0 bytes and gets [{From:1 Ranks:1 At:16 Bytes:8 Reduced:false}]
	//   rank 3 brings 0 bytes and gets [{From:1 Ranks:1 At:24 Bytes:8 Reduced:false}]
	// gather:binomial: the root gets each rank's block; m is one rank's block
	//   rank 0 brings 8 bytes and gets []
	//   rank 1 brings 8 bytes and gets [{From:0 Ranks:4 At:0 Bytes:8 Reduced:false}]
	//   rank 2 brings 8 bytes and gets []
	//   rank 3 brings 8 bytes and gets []
	// reduce:binomial: the root gets the ranks' vectors combined; m is the vector
	//   rank 0 brings 8 bytes and gets []
	//   rank 1 brings 8 bytes and gets [{From:0 Ranks:4 At:0 Bytes:8 Reduced:true}]
	//   rank 2 brings 8 bytes and gets []
	//   rank 3 brings 8 bytes and gets []
}
