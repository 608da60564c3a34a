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
	// Loads say whether off-cache data were off cache; nil if unknown.
	Loads() []params.Loads
	Close()
}

// A looker is a sampler that can measure an empty exchange of the workers on these CPUs, and what sums
// take them, in ns; 0: unknown.
type looker interface {
	Look(ctx context.Context, cpus []int) (ns, computed float64)
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
	Glance   time.Duration              `json:"glance_ns"`
	Conditions
}

// Serve runs a launch and returns its exit status: it reads an order from standard input and
// appends results to file descriptor 3. It ends when it is done, when standard input does, or
// by an error, which it writes to the journal. Signals are left to its parent.
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

// A service is a launch under way.
type service struct {
	received
	open      Open
	journal   io.Writer
	since     func() time.Duration // it began
	samplers  map[string]Sampler   // by survey
	unwritten error                // why a look is not in the journal
}

// serve carries an order out; now is its clock, nil the machine's.
func serve(ctx context.Context, o received, journal io.Writer, open Open, now func() time.Duration) error {
	if now == nil {
		now = func() time.Duration { return time.Since(launched) }
	}
	began := now()
	s := &service{received: o, open: open, journal: journal, since: func() time.Duration { return now() - began }, samplers: make(map[string]Sampler)}
	defer s.close()
	alive := make(chan struct{})
	defer close(alive)
	go func() {
		for {
			select {
			case <-alive:
				return
			case <-time.After(beat):
				s.put(entry{Alive: true})
			}
		}
	}()
	choose, seen := newChooser(o, s.look, s.since), glance{after: o.Glance, looks: make(map[int32][]params.Look)}
	for ctx.Err() == nil && s.since() < o.Time {
		i, hint, more := choose.next(ctx)
		if !more {
			break
		}
		if i != choose.first(&choose.all) {
			if err := s.put(entry{Begins: i + 1}); err != nil {
				return err
			}
		}
		reading, err := s.sample(ctx, o.Visits[i], hint)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return s.fail(err)
		}
		choose.took(i, reading)
		if err := s.found(i, reading); err != nil {
			return err
		}
		if seen.ends(reading, s.since()) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.conclude()
}

func (s *service) close() {
	for _, of := range s.samplers {
		of.Close()
	}
}

func (s *service) put(e entry) error {
	if err := e.write(s.journal); err != nil {
		return fmt.Errorf("%w: %w", errJournal, err)
	}
	return nil
}

// fail puts an error into the journal.
func (s *service) fail(err error) error {
	var refused RefusedError
	return errors.Join(err, s.put(entry{Error: err.Error(), Refused: errors.As(err, &refused)}))
}

// leastTime is what nothing takes less than, ns: a terabyte a second. A hint below it is of a damaged file,
// and would make a batch of billions.
func leastTime(k params.Key) float64 { return max(0.01, 1e-3*float64(k.Bytes)) }

// sample takes one, of a sampler that is opened by its first.
func (s *service) sample(ctx context.Context, v Visit, hint float64) (r Reading, err error) {
	of := s.samplers[v.Survey]
	if of == nil {
		if of, err = s.open(v.Survey, s.Requests[v.Survey], s.Conditions); err != nil {
			return r, err
		}
		s.samplers[v.Survey] = of
	}
	tidy()
	if hint < leastTime(v.Key) {
		hint = 0
	}
	if r, err = of.Sample(ctx, v.Key, hint); err != nil {
		err = fmt.Errorf("%v: %w", v.Key, err)
	}
	return r, err
}

// look is what the workers on these CPUs take for nothing now, and for sums, if any sampler has them.
func (s *service) look(ctx context.Context, cpus []int) (ns, computed float64, known bool) {
	for _, of := range s.samplers {
		if l, ok := of.(looker); ok {
			if ns, computed := l.Look(ctx, cpus); ns > 0 {
				at := params.Sample{At: float32(s.since().Seconds()), Computed: float32(computed)}
				s.unwritten = cmp.Or(s.unwritten, s.put(entry{Look: ns, Sample: setups.Sample{CPUs: cpus, Sample: at}}))
				return ns, computed, true
			}
		}
	}
	return 0, 0, false
}

// found puts what a visit found into the journal.
func (s *service) found(visit int, r Reading) error {
	v := &s.Visits[visit]
	r.At = float32(s.since().Seconds())
	return cmp.Or(s.unwritten, s.put(entry{Cell: &v.Key, Sample: r, Probe: v.Probe, Visit: visit}))
}

// conclude puts what speaks against the samples, and that there are no more, into the journal.
func (s *service) conclude() error {
	for _, of := range s.samplers {
		for _, w := range of.Warnings() {
			if err := s.put(entry{Warning: w.Error()}); err != nil {
				return err
			}
		}
		if loads := of.Loads(); len(loads) > 0 {
			if err := s.put(entry{Loads: loads}); err != nil {
				return err
			}
		}
	}
	return s.put(entry{Done: true})
}

// garbageLimit is how much the heap may grow before it is collected, between two visits: a
// launch of 256 workers makes some 0.3 MB of garbage a visit, and the runtime must not collect
// in the middle of one. The runtime's memory limit is a last resort.
const garbageLimit = 64 << 20

// tidy collects garbage where there is much, while no worker works.
func tidy() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > heap[1].Value.Uint64()+garbageLimit {
		runtime.GC()
	}
}
