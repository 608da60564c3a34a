// Package skip skips tests that lack what they need.
package skip

import (
	"os/exec"
	"testing"
)

// If skips the test where a condition holds. The format and its arguments say what it lacks.
func If(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if holds {
		t.Skipf(format, args...)
	}
}

// Error skips the test if there is an error, which says what it lacks.
func Error(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Skip(err)
	}
}

// Short skips a test that takes long where tests are to be short.
func Short(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}

// Without skips the test unless all programs are installed.
func Without(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		_, err := exec.LookPath(name)
		Error(t, err)
	}
}
