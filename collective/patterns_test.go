package collective

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

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
			check.Equal(t, s.Len(), 2, "%s, P = %d: stages", a, p)
		}
	}
}
