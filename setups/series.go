package setups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taulop/taulop/fit"
)

// A Series measures L(S,τ) as the paper does: messages of k segments for
// growing k (taulop-2015, Fig. 18b), and with them, in the same minutes, the
// null transfer y(τ) and the bare copy.
type Series struct {
	Setup        Setup
	Segments     int   // nseg
	SegmentBytes int   // S; 0: the series is one of null transfers, L = y
	K            []int // ascending
	ArenaBytes   int   // > 0: off cache, memory of each worker's arena
	Time         time.Duration
	Width        float64 // relative half-width of an interval that is narrow enough
}

// A Row is what was found for one k.
type Row struct {
	K, Bytes int
	Message  fit.Estimate // l(k,τ), ns
	Transfer fit.Estimate // L(S,τ), ns
	Copy     fit.Estimate // one bare copy of a segment, ns; unknown for S = 0
	Messages int          // in a batch
	Batches  int          // timed
	Slow     int          // batches that took more than 1.5 times the median
	Samples  []float64    // ns a message, one a trial
	Huge     *HugeShare   // of the buffers in huge pages, if the team asks for them
}

// A Result is a series' rows and what follows from them, in ns.
type Result struct {
	Rows     []Row
	L        fit.Estimate // the paper's: the mean over k
	Slope    fit.Estimate // what one more transfer adds, by the line through l(k)
	Y        fit.Estimate // y(τ), a transfer of nothing
	C        fit.Estimate // c(S,τ) = L − y
	Copy     fit.Estimate // c(S,τ) measured by copies without flags, mean over k
	Warnings []error
}

// Measure runs the series on the team and calls each with every row as soon as
// it is complete. When ctx ends it returns what is complete, at its deadline also what
// is not, and ctx's error.
func (s Series) Measure(ctx context.Context, t *Team, each func(Row)) (Result, error) {
	var (
		res     Result
		y       = s.null()
		start   = time.Now()
		overdue = start.Add(s.Time * 5 / 4)
		slow    int
		batches int
	)
	if s.ArenaBytes > 0 {
		if err := s.lay(ctx, t); err != nil {
			return res, err
		}
	}
	for i, k := range s.K {
		if i > 0 && time.Now().After(overdue) {
			res.warn("the time was up before k = %d: allow more with -time, or fewer k with -k", k)
			break
		}
		row, err := s.row(ctx, t, k, y, s.deadline(start, i, res.Rows), overdue)
		if err != nil && len(row.Samples) == 0 {
			res.conclude(s, y)
			return res, err
		}
		res.Rows = append(res.Rows, row)
		slow, batches = slow+row.Slow, batches+row.Batches
		each(row)
		if err != nil {
			res.conclude(s, y)
			return res, err
		}
	}
	res.conclude(s, y)
	res.Warnings = append(res.Warnings, t.Warnings()...)
	if share := float64(slow) / float64(batches); share > 0.05 {
		res.warn("%.0f %% of the batches took more than 1.5 times their median: something else runs on these CPUs", 100*share)
	}
	return res, nil
}

// lay has the arena filled, which would eat up the first row's time.
func (s Series) lay(ctx context.Context, t *Team) error {
	_, err := t.Run(ctx, Trial{Setup: s.Setup, Segments: s.Segments, SegmentBytes: s.SegmentBytes,
		K: 1, Bytes: s.SegmentBytes, Messages: 1, Batches: 1, ArenaBytes: s.ArenaBytes})
	return err
}

func (s Series) null() *Cell {
	const k = 64 // so that the message's own loop does not count
	return &Cell{Trial: Trial{Setup: s.Setup, Segments: s.Segments, K: k}}
}

// deadline is when row i must be done: its share of the time left, after what
// the longer messages to come need at the least has been set aside.
func (s Series) deadline(start time.Time, i int, rows []Row) time.Time {
	left := s.Time - time.Since(start)
	if len(rows) > 0 {
		segment := rows[len(rows)-1].Message.Center / float64(rows[len(rows)-1].K)
		for _, k := range s.K[i+1:] {
			// A trial warms up, measures and checks: five messages or so, longer
			// ones than before, and the bare copy takes a third as long.
			left -= time.Duration(LeastTrials * 8 * segment * float64(k))
		}
	}
	return time.Now().Add(max(0, left) / time.Duration(len(s.K)-i))
}

// row measures one k until the interval is narrow enough or the time is up.
// The null transfer and the bare copy take turns with it, in random order, so
// that all three see the same machine.
func (s Series) row(ctx context.Context, t *Team, k int, y *Cell, deadline, overdue time.Time) (row Row, err error) {
	message := Trial{
		Setup: s.Setup, Segments: s.Segments, SegmentBytes: s.SegmentBytes,
		K: k, Bytes: k * s.SegmentBytes, ArenaBytes: s.ArenaBytes,
	}
	l := &Cell{Trial: message}
	alone := &Cell{Trial: message}
	alone.Trial.Setup = Bare
	turns, needed := []*Cell{l, l, l, l}, []*Cell{l}
	if s.SegmentBytes > 0 {
		turns, needed = append(turns, y, alone), append(needed, alone)
	}
	for {
		now := time.Now()
		enough, narrow := true, true
		for _, c := range needed {
			enough = enough && len(c.Samples) >= LeastTrials
			narrow = narrow && c.Message().Width() <= s.Width
		}
		if enough && (narrow || now.After(deadline)) || len(l.Samples) > 0 && now.After(overdue) {
			break
		}
		choice := turns
		if now.After(deadline) { // only what is missing
			choice = slices.DeleteFunc(slices.Clone(needed), func(c *Cell) bool { return len(c.Samples) >= LeastTrials })
		}
		if err = choice[rand.IntN(len(choice))].Run(ctx, t); err == nil {
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) || len(l.Samples) == 0 {
			return Row{}, err
		}
		break // the time is up, and this is better than nothing
	}
	if t.Huge && err == nil { // ask about the message's buffers, whatever ran last
		if err := l.Run(ctx, t); err != nil {
			return Row{}, err
		}
	}
	row = Row{
		K: k, Bytes: message.Bytes,
		Message: l.Message(), Transfer: l.Transfer(), Copy: alone.Transfer(),
		Messages: l.Trial.Messages, Samples: l.Samples,
	}
	row.Slow, row.Batches = l.Slow()
	if t.Huge {
		row.Huge = t.share
	}
	return row, err
}

// conclude works out the parameters from the rows that are there.
func (r *Result) conclude(s Series, y *Cell) {
	if len(r.Rows) == 0 {
		return
	}
	var (
		ks          []int
		ls, Ls, cs  []fit.Estimate
		perTransfer = 1 / float64(s.Setup.Transfers)
	)
	for _, row := range r.Rows {
		ks = append(ks, row.K)
		ls = append(ls, row.Message)
		Ls = append(Ls, row.Transfer)
		cs = append(cs, row.Copy)
	}
	r.L = fit.Mean(Ls)
	r.Slope = fit.Slope(ks, ls).Scale(perTransfer)
	if s.SegmentBytes == 0 {
		r.Y, r.C, r.Copy = r.L, fit.Estimate{N: r.L.N}, fit.Estimate{N: r.L.N}
		return
	}
	r.Y = y.Transfer()
	r.C = fit.Copy(r.L, r.Y)
	r.Copy = fit.Mean(cs)
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Errorf(format, args...))
}
