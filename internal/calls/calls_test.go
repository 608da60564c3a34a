package calls

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

func TestMessagesArrive(t *testing.T) {
	l := newLayer()
	for i := range 10 {
		l.pass(64)
		check.Need(t, l.sent == i+1 && l.got == i+1, "%d sent and %d received after %d", l.sent, l.got, i+1)
	}
	n := 0
	for r := l.free.first; r != nil; r = r.next {
		n++
	}
	check.Equal(t, n, 2, "requests are free")
}

func TestNanoseconds(t *testing.T) {
	ns := Nanoseconds()
	check.True(t, instructions == 0 || ns > 0.005 && ns < 100, "an instruction takes %g ns", ns)
}
