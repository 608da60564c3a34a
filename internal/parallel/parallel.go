// Package parallel does independent things several at a time.
package parallel

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Each calls do for 0 to n−1, as many at a time as this process has CPUs, until one fails or ctx ends, and
// returns the first error. Progress, if not nil, is called after each, one call at a time.
func Each(ctx context.Context, n int, progress func(done, of int), do func(ctx context.Context, i int) error) error {
	var lock sync.Mutex
	done := 0
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		workers.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := do(ctx, i); err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			if done++; progress != nil {
				progress(done, n)
			}
			return nil
		})
	}
	return workers.Wait()
}

// Map is the list of f's results, which it computes several at a time.
func Map[T, V any](list []T, f func(T) V) []V {
	values := make([]V, len(list))
	Each(context.Background(), len(list), nil, func(_ context.Context, i int) error { // none fails
		values[i] = f(list[i])
		return nil
	})
	return values
}
