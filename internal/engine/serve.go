package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/calls"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Sampler takes samples of a survey's cells within one launch.
type Sampler interface {
	// Sample takes one sample of a cell. The hint is what earlier launches found,
	// in ns, 0 if there were none: it says how often to repeat for a batch.
	Sample(ctx context.Context, k params.Key, hint float64) (Reading, error)
	// Warnings say what speaks against trusting the samples.
	Warnings() []error
	// Loads say whether what was to be off cache was; nil where nobody knows.
	Loads() []params.Loads
	Close()
}

// A looker is a sampler whose workers can look where they are: what those on these CPUs take
// for nothing now, ns; 0: nobody knows.
type looker interface {
	Look(ctx context.Context, cpus []int) (ns float64)
}

// A Reading is a sample of a cell.
type Reading = setups.Sample

// An Open makes the sampler of a survey from what its experiment said, on a bench under
// these conditions.
type Open func(survey string, request json.RawMessage, c Conditions) (Sampler, error)

// received is an Order as a launch reads it.
type received struct {
	Requests map[string]json.RawMessage `json:"requests"`
	Visits   []Visit                    `json:"visits"`
	Time     time.Duration              `json:"time_ns"`
	Watches  []params.Watch             `json:"watches"`
	Least    time.Duration              `json:"least_ns"`
	Conditions
}

// Serve is a launch, and returns its exit status: it reads an order from standard input and appends what it
// finds to file descriptor 3. It ends when it is done, when standard input does, or
// by an error, which the journal then has. Signals are its parent's.
func Serve(open Open) (status int) {
	err := serveOrder(open)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errJournal):
		return noJournal
	}
	fmt.Fprintf(os.Stderr, "taulop: %v\n", err)
	return 1
}

func serveOrder(open Open) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	journal := os.NewFile(3, "journal")
	if journal == nil {
		return errors.New("a launch is begun by a measurement, not by hand")
	}
	orders := json.NewDecoder(os.Stdin)
	var o received
	if err := orders.Decode(&o); err != nil {
		return fmt.Errorf("a launch is begun by a measurement, not by hand: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin) // ends with the parent
		cancel()
	}()
	if ns := calls.Nanoseconds(); ns > 0 {
		if err := (entry{Instruction: ns}).write(journal); err != nil {
			return fmt.Errorf("%w: %w", errJournal, err)
		}
	}
	return serve(ctx, o, journal, open, nil)
}

var launched = time.Now()

// serve carries an order out; now is its clock, nil the machine's.
func serve(ctx context.Context, o received, journal io.Writer, open Open, now func() time.Duration) error {
	if now == nil {
		now = func() time.Duration { return time.Since(launched) }
	}
	began := now()
	since := func() time.Duration { return now() - began }
	samplers := make(map[string]Sampler)
	put := func(e entry) error {
		if err := e.write(journal); err != nil {
			return fmt.Errorf("%w: %w", errJournal, err)
		}
		return nil
	}
	fail := func(err error) error {
		var refused RefusedError
		return errors.Join(err, put(entry{Error: err.Error(), Refused: errors.As(err, &refused)}))
	}
	alive := make(chan struct{})
	defer close(alive)
	go func() {
		for {
			select {
			case <-alive:
				return
			case <-time.After(beat):
				put(entry{Alive: true})
			}
		}
	}()
	var unwritten error
	look := func(ctx context.Context, cpus []int) (float64, bool) {
		for _, s := range samplers {
			l, ok := s.(looker)
			if !ok {
				continue
			}
			if ns := l.Look(ctx, cpus); ns > 0 {
				unwritten = cmp.Or(unwritten, put(entry{Look: ns, CPUs: cpus, At: since().Seconds()}))
				return ns, true
			}
		}
		return 0, false
	}
	choose := newChooser(o, look, since)
	for ctx.Err() == nil && since() < o.Time {
		i, hint, more := choose.next(ctx)
		if !more {
			break
		}
		v := o.Visits[i]
		s := samplers[v.Survey]
		if s == nil {
			var err error
			if s, err = open(v.Survey, o.Requests[v.Survey], o.Conditions); err != nil {
				return fail(err)
			}
			defer s.Close()
			samplers[v.Survey] = s
		}
		if i != choose.first() {
			if err := put(entry{Begins: i + 1}); err != nil {
				return err
			}
		}
		tidy()
		reading, err := s.Sample(ctx, v.Key, hint)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fail(fmt.Errorf("%v: %w", v.Key, err))
		}
		choose.took(i, reading)
		e := entry{Cell: &v.Key, NS: reading.NS, Spread: reading.Spread, At: since().Seconds(), Probe: v.Probe, Begun: reading.Begun, MHz: reading.MHz,
			Visit: i, CPUs: reading.CPUs, Before: reading.Bracket.Before, After: reading.Bracket.After}
		if reading.Workers.Fastest > 0 {
			e.Workers = &reading.Workers
		}
		if err := cmp.Or(unwritten, put(e)); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	for _, s := range samplers {
		for _, w := range s.Warnings() {
			if err := put(entry{Warning: w.Error()}); err != nil {
				return err
			}
		}
		if loads := s.Loads(); len(loads) > 0 {
			if err := put(entry{Loads: loads}); err != nil {
				return err
			}
		}
	}
	return put(entry{Done: true})
}

// garbageLimit is how much the heap may grow before it is collected, between two visits: a
// launch of 256 workers makes some 0.3 MB of garbage a visit, and the runtime is kept from
// collecting in the middle of one. What it does at its limit of memory is a last resort.
const garbageLimit = 64 << 20

// tidy collects garbage where there is much, while no worker works.
func tidy() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > heap[1].Value.Uint64()+garbageLimit {
		runtime.GC()
	}
}
