package engine

import (
	"context"
	"encoding/json"
	"os"
	"sync"
)

// Within is a start of launches within this process, for tests: its workers are as
// fresh as a team is, but the process is not.
func Within(open Open) func(Order, *os.File) (Process, error) {
	return func(o Order, journal *os.File) (Process, error) {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		var as received
		if err := json.Unmarshal(text, &as); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		p := &within{done: make(chan struct{}), cancel: cancel}
		go func() {
			defer close(p.done)
			p.err = serve(ctx, as, journal, open)
		}()
		return p, nil
	}
}

type within struct {
	done   chan struct{}
	cancel context.CancelFunc
	once   sync.Once
	err    error
}

func (p *within) Done() <-chan struct{} { return p.done }
func (p *within) Err() error            { <-p.done; return p.err }
func (p *within) Stop()                 { p.once.Do(p.cancel) }
