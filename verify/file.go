package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// FromFile makes τ-Lop, and log_nP from it, of what a sweep has measured: segments
// in the context of their message, one-way messages as ping has them if it was
// measured, exchanges of what was not touched before as sendrecv has them and
// others as ring does, the synchronisation of empty messages, the
// bare copy for what a rank copies within itself, and γ if the file has it.
func FromFile(f *params.File, operator string) Predictor {
	return Predictor{TauLop: func(m int, off bool) (model.TauLop, error) {
		exchanges, err := channel(f, setups.Ring.Name, m, off)
		if err != nil {
			return model.TauLop{}, err
		}
		c, err := f.C("", off)
		if err != nil {
			return model.TauLop{}, err
		}
		tau := model.TauLop{Parameters: exchanges, Operator: operator, Segment: f.Plan.SegmentBytes, LocalCopies: true, Copies: c.At}
		for setup, special := range map[string]*model.Parameters{setups.Ping.Name: &tau.OneWay, setups.Sendrecv.Name: &tau.Fresh} {
			if slices.Contains(f.Plan.Setups, setup) {
				if *special, err = channel(f, setup, m, off); err != nil {
					return model.TauLop{}, err
				}
			}
		}
		if gamma, err := f.Gamma(""); err == nil {
			tau.Reductions = gamma
		}
		return tau, nil
	}}
}

// channel is a setup's parameters for the messages of a call of m bytes.
func channel(f *params.File, setup string, m int, off bool) (model.Parameters, error) {
	table, err := f.SegmentTable(setup, "", off)
	if err != nil {
		return nil, err
	}
	y, err := f.Y(setup, "")
	if err != nil {
		return nil, err
	}
	waits := func(tau int) (float64, bool) { return y.At(1, tau) }
	return model.Synchronised{
		Parameters: model.InContext{Parameters: table, Segment: f.Plan.SegmentBytes, Message: m, Alone: waits},
		Y:          waits,
	}, nil
}

// Round trips for LogGP: n messages, and sizes up to a segment, for longer
// messages are several to LogGP, eq. (3).
const (
	tripMessages = 16
	tripSizes    = 6
	tripRuns     = 64
)

// RoundTrips collects round trips from which LogGP's parameters follow.
type RoundTrips struct {
	Segments, SegmentBytes, ArenaBytes int

	samples map[trip][]float64
}

type trip struct {
	n, bytes int
	delay    time.Duration
}

// Measure adds a sample of each round trip, by the first two workers of a team.
func (r *RoundTrips) Measure(ctx context.Context, t *setups.Team) error {
	if r.samples == nil {
		r.samples = make(map[trip][]float64)
	}
	for m, i := r.SegmentBytes, 0; m > 0 && i < tripSizes; m, i = m/2, i+1 {
		if err := r.measure(ctx, t, m); err != nil {
			return err
		}
	}
	return r.measure(ctx, t, 1)
}

func (r *RoundTrips) measure(ctx context.Context, t *setups.Team, m int) error {
	one := func(n int, delay time.Duration) (float64, error) {
		times, err := t.RoundTrips(ctx, setups.RoundTrip{N: n, Delay: delay, Bytes: m,
			Segments: r.Segments, SegmentBytes: r.SegmentBytes, Runs: tripRuns, ArenaBytes: r.ArenaBytes})
		if err != nil {
			return 0, err
		}
		ns := center(times)
		key := trip{n, m, delay}
		r.samples[key] = append(r.samples[key], ns)
		return ns, nil
	}
	single, err := one(1, 0)
	if err != nil {
		return err
	}
	if _, err = one(tripMessages, 0); err != nil || m > 1 {
		return err
	}
	// The delay, once chosen, stays: longer than any gap can be.
	delay := time.Duration(4 * single)
	for key := range r.samples {
		if key.delay > 0 {
			delay = key.delay
		}
	}
	_, err = one(tripMessages, delay)
	return err
}

// LogGP assesses the parameters, for messages in segments.
func (r *RoundTrips) LogGP() (model.LogGP, []error, error) {
	var trips []model.RoundTrip
	for key, ns := range r.samples {
		trips = append(trips, model.RoundTrip{N: key.n, Delay: key.delay.Seconds(), Bytes: key.bytes, Seconds: center(ns) / 1e9})
	}
	m, warnings, err := model.AssessLogGP(trips)
	if err != nil {
		return m, warnings, fmt.Errorf("round trips: %w", err)
	}
	m.Segment = r.SegmentBytes
	return m, warnings, nil
}

func center(xs []float64) float64 { return fit.Median(xs).Center }
