// Package randtest gives tests random numbers whose seed is printed when the test
// fails, so that a failure seen once can be seen again.
package randtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Env is the environment variable with the seed to repeat.
const Env = "TAULOP_SEED"

// New returns a generator with the same seed each time, with TAULOP_LONG one of its own, or
// the one that TAULOP_SEED names. The seed is in the log of the test, which go test shows on
// failure.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if os.Getenv("TAULOP_LONG") != "" {
		seed = rand.Uint64()
	}
	if text := os.Getenv(Env); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s=%q: give the number that a failed test printed", Env, text)
		}
	}
	t.Logf("random numbers of %s=%d", Env, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
