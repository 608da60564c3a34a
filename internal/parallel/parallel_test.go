package parallel

import (
	"context"
	"errors"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
)

func TestMap(t *testing.T) {
	check.Slices(t, Map(lists.Indices(100), func(i int) int { return i * i })[98:], []int{9604, 9801}, "squares")
}

// Progress counts to n; the first error ends it, and so does the context.
func TestEach(t *testing.T) {
	var said []int
	err := Each(context.Background(), 3, func(done, of int) { said = append(said, done, of) }, func(context.Context, int) error { return nil })
	check.True(t, err == nil, "an error: %v", err)
	check.Slices(t, said, []int{1, 3, 2, 3, 3, 3}, "progress")
	failed := errors.New("failed")
	check.Equal(t, Each(context.Background(), 3, nil, func(_ context.Context, i int) error { return failed }), failed, "error")
	ended, end := context.WithCancel(context.Background())
	end()
	check.Equal(t, Each(ended, 3, nil, func(context.Context, int) error { return nil }), context.Canceled, "error")
}
