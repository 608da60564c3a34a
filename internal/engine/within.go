package engine

import (
	"context"
	"encoding/json"
	"os"
	"time"
)

// Within is a start of launches within this process, for tests: its workers are as
// fresh as a team is, but the process is not. Now, if not nil, is the launches' clock.
func Within(now func() time.Duration, open Open) func(Order, *os.File) (*Process, error) {
	return func(o Order, journal *os.File) (*Process, error) {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		var as received
		if err := json.Unmarshal(text, &as); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		return process(func() error { return serve(ctx, as, journal, open, now) }, cancel), nil
	}
}
