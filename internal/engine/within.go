package engine

import (
	"context"
	"encoding/json"
	"os"
	"time"
)

// Within starts launches within this process, for tests: teams are fresh, but the process is not. Now,
// if not nil, is the launches' clock.
func Within(now func() time.Duration, open Open) func(Order, *os.File) (*Process, error) {
	return func(o Order, journal *os.File) (*Process, error) {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		var received Order // shares no memory with the parent's
		if err := json.Unmarshal(text, &received); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		return running(func() error { return serve(ctx, received, journal, open, now) }, cancel), nil
	}
}
