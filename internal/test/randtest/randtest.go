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

// New returns a generator with a seed of its own, or with the one that TAULOP_SEED
// names. The seed is in the log of the test, which go test shows on failure.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(Env); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s=%q: give the number that a failed test printed", Env, text)
		}
	}
	t.Logf("random numbers of %s=%d", Env, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
