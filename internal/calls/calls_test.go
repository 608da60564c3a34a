package calls

import "testing"

func TestMessagesArrive(t *testing.T) {
	l := newLayer()
	for i := range 10 {
		l.pass(64)
		if l.sent != i+1 || l.got != i+1 {
			t.Fatalf("%d sent and %d received after %d", l.sent, l.got, i+1)
		}
	}
	n := 0
	for r := l.free.first; r != nil; r = r.next {
		n++
	}
	if n != 2 {
		t.Errorf("%d requests are free, want the 2 that do not wait", n)
	}
}

func TestNanoseconds(t *testing.T) {
	if ns := Nanoseconds(); instructions > 0 && !(ns > 0.005 && ns < 100) {
		t.Errorf("an instruction takes %g ns", ns)
	}
}
