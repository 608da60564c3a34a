package setups

import "testing"

// Each step of a chain needs the one before it: without one the result is another.
func TestChain(t *testing.T) {
	for _, n := range []int{16, 2000, stepsOfChain} {
		want := 1
		for i := range n {
			if i%2 == 0 {
				want += 3
			} else {
				want ^= n
			}
		}
		if got := chain(n, 1, 3); got != want {
			t.Errorf("%d steps: %d, want %d", n, got, want)
		}
	}
}

// Sums of n iterations are those of n−1 and one more: none is left out.
func TestSums(t *testing.T) {
	for n := range 20 {
		if sums(n+1) == sums(n) {
			t.Errorf("%d and %d iterations come to %d", n, n+1, sums(n))
		}
	}
}
