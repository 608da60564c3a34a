package engine

import (
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
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A Sampler takes samples of a survey's cells within one launch.
type Sampler interface {
	// Sample takes one sample of a cell. The hint is the time that earlier launches found, in ns, 0
	// if there were none. It determines the repetitions of a batch.
	Sample(ctx context.Context, k params.Key, hint float64) (Reading, error)
	Close()
}

// A doubter is a sampler with reasons not to trust the samples.
type doubter interface{ Warnings() []error }

// A loader is a sampler that knows whether off-cache data were off cache.
type loader interface{ Loads() []params.Loads }

// A looker is a sampler that can take a look of the workers on these CPUs, see setups.Team.Look; 0:
// unknown.
type looker interface {
	Look(ctx context.Context, cpus []int) (ns, computed float64)
}

// A Reading is a sample of a cell.
type Reading = setups.Sample

// An Open makes the sampler of a survey from its request, on a bench under these conditions.
type Open func(survey string, request json.RawMessage, c Conditions) (Sampler, error)

// Serve is the main function of a launch, and returns its exit status. It reads an order from standard
// input and appends results to file descriptor 3, the journal. It ends when it is done, at the end of
// standard input, or by an error, which it writes to the journal. It leaves signals to its parent.
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
	orders := json.NewDecoder(os.Stdin)
	var o Order
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

// A service is a running launch.
type service struct {
	Order
	open      Open
	journal   io.Writer
	since     func() time.Duration // the time since its begin
	samplers  map[string]Sampler   // by survey
	unwritten error                // why the last line is not in the journal
}

// serve carries out an order. Now is its clock; nil: the machine's.
func serve(ctx context.Context, o Order, journal io.Writer, open Open, now func() time.Duration) error {
	if now == nil {
		now = func() time.Duration { return time.Since(launched) }
	}
	began := now()
	s := &service{Order: o, open: open, journal: journal, since: func() time.Duration { return now() - began }, samplers: make(map[string]Sampler)}
	defer func() {
		for _, sampler := range s.samplers {
			sampler.Close()
		}
	}()
	alive := make(chan struct{})
	defer close(alive)
	go func() {
		for {
			select {
			case <-alive:
				return
			case <-time.After(beat):
				entry{Alive: true}.write(journal)
			}
		}
	}()
	choose, seen := newChooser(o, s.look, s.since), glance{after: o.Glance, looks: make(map[int32][]params.Sample)}
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
			_, refused := errors.AsType[RefusedError](err)
			return errors.Join(err, s.put(entry{Error: err.Error(), Refused: refused}))
		}
		choose.took(i, reading)
		v := &o.Visits[i]
		reading.At = float32(s.since().Seconds())
		if err := s.put(entry{Cell: &v.Key, Sample: reading, Probe: v.Probe, Visit: i}); err != nil {
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

// put writes a line to the journal, unless one before could not be written.
func (s *service) put(e entry) error {
	if s.unwritten != nil {
		return s.unwritten
	}
	if err := e.write(s.journal); err != nil {
		s.unwritten = fmt.Errorf("%w: %w", errJournal, err)
	}
	return s.unwritten
}

// leastTime is a lower bound of all times of a cell, in ns: a terabyte a second. A smaller hint comes
// from a damaged file, and would make a batch of billions.
func leastTime(k params.Key) float64 { return max(0.01, 1e-3*float64(k.Bytes)) }

// sample carries out a visit. The first one of a survey opens its sampler.
func (s *service) sample(ctx context.Context, v Visit, hint float64) (r Reading, err error) {
	sampler := s.samplers[v.Survey]
	if sampler == nil {
		if sampler, err = s.open(v.Survey, s.Requests[v.Survey], s.Conditions); err != nil {
			return r, err
		}
		s.samplers[v.Survey] = sampler
	}
	tidy()
	if hint < leastTime(v.Key) {
		hint = 0
	}
	if r, err = sampler.Sample(ctx, v.Key, hint); err != nil {
		err = fmt.Errorf("%v: %w", v.Key, err)
	}
	return r, err
}

// look takes a look of the workers on these CPUs; 0: no sampler has such workers.
func (s *service) look(ctx context.Context, cpus []int) (ns, computed float64) {
	for _, sampler := range s.samplers {
		if l, ok := sampler.(looker); ok {
			if ns, computed := l.Look(ctx, cpus); ns > 0 {
				look := params.Sample{At: float32(s.since().Seconds()), Before: float32(ns), After: float32(ns), Computed: float32(computed)}
				s.put(entry{Look: true, Sample: setups.Sample{CPUs: cpus, Sample: look}})
				return ns, computed
			}
		}
	}
	return 0, 0
}

// conclude puts the samplers' warnings and loads, and the end of the launch, into the journal.
func (s *service) conclude() error {
	for _, sampler := range s.samplers {
		if d, ok := sampler.(doubter); ok {
			for _, w := range d.Warnings() {
				s.put(entry{Warning: w.Error()})
			}
		}
		if l, ok := sampler.(loader); ok && len(l.Loads()) > 0 {
			s.put(entry{Loads: l.Loads()})
		}
	}
	ran, waited := process.OnCPU()
	return s.put(entry{Done: true, Ran: ran, Waited: waited})
}

// garbageLimit is the heap's growth after which it is collected between two visits: a launch of 256
// workers makes some 0.3 MB of garbage a visit, and the runtime must not collect during one. The
// runtime's memory limit is a last resort.
const garbageLimit = 64 << 20

// tidy collects garbage beyond garbageLimit, while no worker is busy.
func tidy() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > heap[1].Value.Uint64()+garbageLimit {
		runtime.GC()
	}
}
