// Package randtest gives tests random numbers whose seed a failing test prints, so that the failure can
// be repeated.
package randtest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Env is the environment variable with a seed.
const Env = "TAULOP_SEED"

// New returns a generator with a fixed seed, with TAULOP_LONG a random one, or the one of TAULOP_SEED.
// The seed is in the test's log, which go test shows on failure.
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
