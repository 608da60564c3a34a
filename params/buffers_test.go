package params

import (
	"slices"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

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
	for _, tt := range []struct {
		segments, size     int // selected
		number, bytes      int // measured
		y, short, long, l1 float64
	}{
		{0, 0, 2, 8192, 10, 100, 1000, 500},
		{3, 16384, 2, 32768, 10, 100, 1020, 520},
		{4, 20000, 8, 32768, 11, 101, 1021, 520},
		{100, 1, 8, 1024, 11, 101, 1011, 510},
		{1, 9000, 2, 8192, 10, 100, 1000, 500},
	} {
		s, err := again.Select(Selection{Segments: tt.segments, SegmentBytes: tt.size})
		if err != nil || s.Segments != tt.number || s.SegmentBytes != tt.bytes {
			t.Errorf("%d segments of %d: %+v, %v", tt.segments, tt.size, s, err)
		}
		table := must.Get(again.Table(s))
		y := must.Get(again.Y(s))
		got := []float64{y.Times[0][1], table.Transfers.Times[0][1], table.Transfers.Times[1][1], table.Transfers.Times[1][0]}
		want := []float64{tt.y / 1e9, tt.short / 1e9, tt.long / 1e9, (tt.l1 - 2.5) / 1e9} // half of y(1) is subtracted from isolated transfers
		if !slices.Equal(got, want) {
			t.Errorf("%d segments of %d: %v, want %v", tt.segments, tt.size, got, want)
		}
	}
	// A selection without buffers takes the first.
	table, err := again.Table(Selection{})
	if err != nil || table.Transfers.Times[1][1] != 1000/1e9 || len(again.Transfers()) != 2 {
		t.Errorf("%+v, %v", table, err)
	}
}
