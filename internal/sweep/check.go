package sweep

import (
	"cmp"
	"slices"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// checked is the longest copy that is measured again: long enough to show the memory's bandwidth, short
// enough for many visits.
const checked = 1 << 20

// Check is an experiment that measures the most significant cells of a sweep's file again in a few
// seconds, into a new file, under the same conditions. It fails if the file is of another kind of machine
// or has no such cells. The host name may differ: one node's file serves all nodes of its kind. If the
// peak bandwidth is given, or known here or in the file, it also measures the memory's bandwidth.
func Check(was *params.File, m *numa.Machine, peakGBs float64, budget time.Duration) (*engine.Experiment, error) {
	here := provenance.Read("/", m)
	same := *was
	same.Provenance.Hostname = here.Hostname
	err := transfers.SameMachine(&same, m, here)
	if err == nil {
		err = transfers.Holds(was.Plan, m)
	}
	if err != nil {
		return nil, err
	}
	here.Give(was.Provenance.Huge())
	here.Fill(was.Provenance.Filled())
	if known := was.Provenance.Memory; known != nil && (here.Memory == nil || here.Memory.PeakGBs == 0) {
		here.Memory = known
	}
	here.SetPeak(peakGBs, m)
	f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: was.Plan, Placements: was.Placements}
	f.Plan.Copy = shm.CopyName()
	warnOfCopy(f, was.Plan.Copy)
	x := &engine.Experiment{File: f, Time: budget, FirstCPUs: transfers.FirstCPUs(was.Plan, m)}
	if _, err := survey.Add(x, transfers.Survey, transfers.Request{Plan: was.Plan}, m); err != nil {
		return nil, err
	}
	keys := significant(was, here.Memory != nil && here.Memory.PeakGBs > 0)
	x.Cells = slices.DeleteFunc(x.Cells, func(c engine.Cell) bool { return !slices.Contains(keys, c.Key) })
	for i := range x.Cells {
		x.Cells[i].Tier = slices.Index(keys, x.Cells[i].Key)
	}
	if len(x.Cells) == 0 {
		return nil, refusef("it has no cell with %d launches to measure again: %w", engine.LeastLaunches, params.ErrUnfinished)
	}
	return x, nil
}

// significant are the most significant cells of a file, in falling order for each placement: copies with
// all workers and with one, a segment's transfer with all workers and between two, and flags alone. With
// bandwidth there are also copies from memory to memory.
func significant(f *params.File, bandwidth bool) (keys []params.Key) {
	first := slices.Concat(f.Plan.Setups, []string{""})[0]
	for _, policy := range f.Plan.Policies {
		add := func(matches func(*params.Cell) bool) {
			all := lists.Filter(f.Cells, func(c params.Cell) bool {
				return c.Placement == policy && c.Time.Known() && c.Segments+c.SegmentBytes == 0 && matches(&c)
			})
			if len(all) > 0 {
				largest := slices.MaxFunc(all, func(a, b params.Cell) int { return cmp.Or(a.Tau-b.Tau, a.Bytes-b.Bytes) })
				keys = append(keys, largest.Key)
			}
		}
		copies := func(off, alone bool) func(*params.Cell) bool {
			return func(c *params.Cell) bool {
				return c.Kind == params.CopyCell && c.Setup == "" && c.OffCache == off && c.Bytes <= checked && (!alone || c.Tau == 1)
			}
		}
		segments := func(setup string, off bool) func(*params.Cell) bool {
			return func(c *params.Cell) bool {
				return c.Kind == params.TransferCell && c.Setup == setup && c.OffCache == off && c.Bytes == f.Plan.SegmentBytes
			}
		}
		if bandwidth {
			add(func(c *params.Cell) bool {
				return c.Kind == params.OwnCell && c.OffCache && c.Bytes <= checked && c.Transport == params.InSegments
			})
		}
		add(copies(true, false))
		add(segments(first, false))
		add(segments(params.Isolated, false))
		add(func(c *params.Cell) bool { return c.Kind == params.NullCell && c.Setup == first })
		add(segments(first, true))
		add(copies(true, true))
		add(copies(false, false))
	}
	return lists.Unique(keys)
}
