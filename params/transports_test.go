package params

import (
	"errors"
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// overCMA is a file of segments and of single copies with all kinds of send buffers, whose times identify them.
func overCMA() *File {
	f := &File{Format: Format, Version: Version, Plan: Plan{Setups: []string{Ring, Ping, Sendrecv}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false, true},
		Sizes: []int{1024, 65536}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, MoreSegments: []int{8}}}
	add := func(k Key, ns float64) {
		k.Placement = numa.Local
		f.Cells = append(f.Cells, Cell{Key: k, Time: exactly(ns)})
	}
	for i, m := range f.Plan.Sizes {
		at := float64(i)
		add(Key{Kind: TransferCell, Setup: Ring, Tau: 2, Bytes: m}, 100+at)
		for b, buffers := range []Buffers{Rewritten, Unchanged, Copied} {
			ns := 1000 * float64(1+b)
			if buffers != Unchanged {
				add(Key{Kind: TransferCell, Setup: Ping, Tau: 1, Bytes: m, OffCache: true, Transport: CMA, Buffers: buffers}, 10*ns+at)
			}
			add(Key{Kind: TransferCell, Setup: Ping, Tau: 1, Bytes: m, Transport: CMA, Buffers: buffers}, ns+at)
			add(Key{Kind: TransferCell, Setup: Ping, Tau: 2, Bytes: m, Transport: CMA, Buffers: buffers}, ns+100+at)
			add(Key{Kind: TransferCell, Setup: Sendrecv, Tau: 2, Bytes: m, Transport: CMA, Buffers: buffers}, ns+200+at)
		}
	}
	add(Key{Kind: NullCell, Setup: Ping, Tau: 1, Transport: CMA}, 50)
	add(Key{Kind: MessageCell, Tau: 1, Bytes: 1024, Variant: Segmented}, 500)
	add(Key{Kind: CopyCell, Tau: 1, Bytes: 1024}, 7)
	return f
}

// The default transport is segments. With CMA a table has copies alone, with ping's τ = 1 for every setup and
// no overhead of segments.
func TestTransports(t *testing.T) {
	f := reread(t, written(t, overCMA()))
	table := must.Get(f.Table(Selection{}))
	check.True(t, table.Transfers.Times[0][0] == 100e-9 && len(table.Transfers.Taus) == 1, "segments: %+v", table)
	check.Equal(t, len(f.Transfers()), 2, "tables of segments")                    // of two sizes
	try := func(buffers Buffers, setup string, alone, several, offCache float64) { // offCache: alone
		t.Helper()
		s := must.Get(f.Select(Selection{Setup: setup, Transport: CMA, Buffers: buffers}))
		table := must.Get(f.Table(s))
		for tau, ns := range map[int]float64{1: alone, 2: several} {
			s, beyond := table.L(1024, tau)
			check.True(t, s == ns/1e9 && !beyond, "%v, %s: L(1024,%d) = %g s, extrapolated %v; want %g ns", buffers, setup, tau, s, beyond, ns)
		}
		s.OffCache = true
		off := must.Get(f.Table(s))
		one, _ := off.L(1024, 1)
		check.Equal(t, one, offCache/1e9, "%v, %s: off cache L(1024,1), s", buffers, setup)
		o, _ := table.O(1024)
		check.True(t, o == 0, "o = %g s, want 0", o)
		check.Equal(t, must.Get(f.Y(Selection{Setup: Ping, Transport: CMA, Buffers: buffers})).Times[0][0], 50e-9, "y")
	}
	try(Rewritten, "", 1000, 1200, 10000)
	try(Rewritten, Ping, 1000, 1100, 10000)
	try(Unchanged, Sendrecv, 2000, 2200, 10000)
	try(Copied, Ping, 3000, 3100, 30000)
	check.Equal(t, must.Get(f.Table(Selection{Buffers: Unchanged})).Transfers.Times[0][0], 100e-9, "segments have one state")
	check.Error(t, must.Err(f.Table(Selection{Segments: 8})), "transfers through buffers of two segments serve for eight")
}

func TestSelectRefuses(t *testing.T) {
	try := func(s Selection, says string, with ...string) { // with: of the plan
		t.Helper()
		f := overCMA()
		f.Plan.With = with
		f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.OffCache || c.Buffers == Unchanged })
		err := must.Err(f.Select(s))
		contains.Error(t, err, says)
		check.Equal(t, errors.Is(err, ErrUnfinished), with != nil, "%v: unfinished", err)
	}
	try(Selection{Transport: "xpmem"}, "no transfers over xpmem yet", "xpmem")
	try(Selection{Transport: "xpmem"}, "no transfers over xpmem: measure them")
	try(Selection{Transport: CMA, Buffers: Unchanged}, "rewritten alone")
}

// A file with several kinds of buffers has tables of the first, or of those nearest to a selection.
func TestBuffers(t *testing.T) {
	f := &File{Format: Format, Version: Version, Plan: Plan{Setups: []string{Ring}, Policies: []numa.Policy{numa.Local}, Caches: []bool{false},
		Sizes: []int{64, 65536}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, MoreSegments: []int{8}, MoreSegmentBytes: []int{1024, 32768}}}
	add := func(kind Kind, setup string, tau, m, segments, size int, ns float64) {
		f.Cells = append(f.Cells, Cell{Key: Key{Kind: kind, Setup: setup, Placement: numa.Local, Tau: tau, Bytes: m, Segments: segments, SegmentBytes: size}, Time: exactly(ns)})
	}
	for i, n := range []int{0, 8} {
		add(NullCell, Ring, 2, 0, n, 0, 10+float64(i))
		add(TransferCell, Ring, 2, 64, n, 0, 100+float64(i))
		for j, size := range []int{0, 1024, 32768} {
			add(TransferCell, Ring, 2, 65536, n, size, 1000+10*float64(j)+float64(i))
		}
	}
	add(TransferCell, Isolated, 1, 64, 0, 0, 50)
	add(NullCell, Isolated, 1, 0, 0, 0, 5)
	for j, size := range []int{0, 1024, 32768} {
		add(TransferCell, Isolated, 1, 65536, 0, size, 500+10*float64(j))
	}
	add(CopyCell, "", 1, 64, 0, 0, 7)
	again := reread(t, written(t, f))
	try := func(segments, size, number, bytes int, wait, short, long, l1 float64) { // segments, size: selected; number, bytes: measured
		t.Helper()
		s := must.Get(again.Select(Selection{Segments: segments, SegmentBytes: size}))
		check.True(t, s.Segments == number && s.SegmentBytes == bytes, "%d segments of %d: %+v", segments, size, s)
		table := must.Get(again.Table(s))
		y := must.Get(again.Y(s))
		got := []float64{y.Times[0][1], table.Transfers.Times[0][1], table.Transfers.Times[1][1], table.Transfers.Times[1][0]}
		want := []float64{wait / 1e9, short / 1e9, long / 1e9, (l1 - 2.5) / 1e9} // half of y(1) is subtracted from isolated transfers
		check.Slices(t, got, want, "%d segments of %d", segments, size)
	}
	try(0, 0, 2, 8192, 10, 100, 1000, 500)
	try(3, 16384, 2, 32768, 10, 100, 1020, 520)
	try(4, 20000, 8, 32768, 11, 101, 1021, 520)
	try(100, 1, 8, 1024, 11, 101, 1011, 510)
	try(1, 9000, 2, 8192, 10, 100, 1000, 500)
	// A selection without buffers takes the first.
	table := must.Get(again.Table(Selection{}))
	check.True(t, table.Transfers.Times[1][1] == 1000/1e9 && len(again.Transfers()) == 2, "%+v", table)
}
