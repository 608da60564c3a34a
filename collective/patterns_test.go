package collective

import (
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Each message of a pattern is sent once, in its number of stages, with each distance, pair and root.
func TestPatternsSendEachMessageOnce(t *testing.T) {
	for p := 1; p <= 17; p++ {
		for _, m := range []int{0, 3, 17} {
			for _, a := range []*Algorithm{Permutation, PingPong, Dealing} {
				for root := range p {
					for d := range p {
						if a.Collective.Shifted == (d == 0) || !a.Collective.Rooted && root > 0 {
							continue
						}
						checkPattern(t, must.Get(a.Schedule(Call{P: p, M: m, Root: root, Distance: d})))
					}
				}
			}
		}
	}
}

func checkPattern(t *testing.T, s *Schedule) {
	t.Helper()
	carryOut(t, s) // which fails if a message is sent twice
	p := s.Call.P
	stages, sends := 1, p // of Permutation
	switch s.Algorithm {
	case PingPong:
		stages, sends = 2, 2
	case Dealing:
		stages, sends = p-1, p-1
	}
	if s.Call.M == 0 { // an empty message is not sent
		stages, sends = 0, 0
	}
	seen := make(map[[2]int]bool)
	for _, step := range s.Steps() {
		for m := range step.Messages() {
			if m.From == m.To || m.Bytes() != s.Call.M {
				t.Fatalf("%s %+v: %+v", s.Algorithm, s.Call, m)
			}
			seen[[2]int{m.From, m.To}] = true
		}
	}
	if s.Len() != stages || len(seen) != sends {
		t.Fatalf("%s %+v: %d messages in %d stages, want %d in %d", s.Algorithm, s.Call, len(seen), s.Len(), sends, stages)
	}
	checkSteps(t, s)
	checkBeside(t, s)
}

// Ranks copy their message to Recv and send it from there: the bytes that the receiver read in the last run.
func TestCopiedPatternsSendWhatWasCopied(t *testing.T) {
	for _, a := range []*Algorithm{CopiedCouples, CopiedPermutation} {
		for p := 2; p <= 8; p += 2 {
			s := must.Get(a.Schedule(Call{P: p, M: 17, Distance: 1}))
			carryOut(t, s)
			for n, step := range s.Steps() {
				for msg := range step.Messages() {
					if own := msg.From == msg.To; own != (n == 0) || own != (msg.Src.Buffer == Send) || msg.Dst.Buffer != Recv || msg.Bytes() != 17 {
						t.Errorf("%s, P = %d, stage %d: %+v", a, p, n, msg)
					}
				}
			}
			if s.Len() != 2 {
				t.Errorf("%s, P = %d: %d stages", a, p, s.Len())
			}
		}
	}
}
