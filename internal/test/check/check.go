// Package check compares what tests got with what they want. A format and its arguments say what was compared.
package check

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Equal fails the test unless got is want.
func Equal[T comparable](t testing.TB, got, want T, format string, args ...any) {
	if got != want {
		t.Helper()
		differ(t, got, want, format, args...)
	}
}

// Slices is Equal for slices; an empty one is nil, too.
func Slices[S ~[]E, E comparable](t testing.TB, got, want S, format string, args ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		differ(t, got, want, format, args...)
	}
}

// Deep is Equal for whatever reflect.DeepEqual compares.
func Deep[T any](t testing.TB, got, want T, format string, args ...any) {
	if !reflect.DeepEqual(got, want) {
		t.Helper()
		differ(t, got, want, format, args...)
	}
}

// Near is Equal for numbers that may be up to within apart.
func Near(t testing.TB, got, want, within float64, format string, args ...any) {
	if !(math.Abs(got-want) <= within) {
		t.Helper()
		differ(t, got, want, format, args...)
	}
}

// True fails the test unless all that is expected holds. The format and its arguments say what there is instead.
func True(t testing.TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Errorf(format, args...)
	}
}

// Need is True for what the rest of the test needs: without that it ends.
func Need(t testing.TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Fatalf(format, args...)
	}
}

// AtMost fails the test if got is more than most, or no number.
func AtMost[T cmp.Ordered](t testing.TB, got, most T, format string, args ...any) {
	if !(got <= most) {
		t.Helper()
		t.Errorf("%s: got %v, want at most %v", fmt.Sprintf(format, args...), got, most)
	}
}

// AtLeast fails the test if got is less than least, or no number.
func AtLeast[T cmp.Ordered](t testing.TB, got, least T, format string, args ...any) {
	if !(got >= least) {
		t.Helper()
		t.Errorf("%s: got %v, want at least %v", fmt.Sprintf(format, args...), got, least)
	}
}

// Empty fails the test if a slice has elements.
func Empty[E any](t testing.TB, got []E, format string, args ...any) {
	if len(got) > 0 {
		t.Helper()
		differ(t, got, nil, format, args...)
	}
}

// NoError fails the test if there is an error.
func NoError(t testing.TB, err error, format string, args ...any) {
	if err != nil {
		t.Helper()
		differ(t, err, nil, format, args...)
	}
}

// Error fails the test unless there is an error.
func Error(t testing.TB, err error, format string, args ...any) {
	if err == nil {
		t.Helper()
		t.Errorf("no error: "+format, args...)
	}
}

// ErrorIs fails the test unless the error is target.
func ErrorIs(t testing.TB, err, target error, format string, args ...any) {
	if !errors.Is(err, target) {
		t.Helper()
		differ(t, err, target, format, args...)
	}
}

// differ prints texts quoted, and other values with the names of their fields.
func differ(t testing.TB, got, want any, format string, args ...any) {
	t.Helper()
	verb := "%+v"
	switch got.(type) {
	case string, []string:
		verb = "%q"
	}
	t.Errorf("%s: got "+verb+", want "+verb, fmt.Sprintf(format, args...), got, want)
}

// Allocated are the bytes that are allocated while f runs, all in all.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Golden is Equal for a text and a file of testdata, which TAULOP_UPDATE=1 rewrites.
func Golden(t testing.TB, got, name string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("TAULOP_UPDATE") != "" {
		must.Do(os.WriteFile(path, []byte(got), 0o644))
	}
	if want := string(must.Get(os.ReadFile(path))); got != want {
		t.Errorf("the text is\n%s\nwant that of %s\n%s", got, path, want)
	}
}

// Raced reports whether the race detector instruments the program, which then allocates more and has other
// instructions.
func Raced() bool {
	build, _ := debug.ReadBuildInfo()
	return slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
