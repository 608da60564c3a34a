package setups

import "testing"

// A chain of n steps has the result of n dependent steps.
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

// One more iteration changes the result: the compiler has removed none.
func TestSums(t *testing.T) {
	for n := range 20 {
		if sums(n+1) == sums(n) {
			t.Errorf("%d and %d iterations come to %d", n, n+1, sums(n))
		}
	}
}
