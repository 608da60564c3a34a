package params

import (
	"bytes"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// A trend has a row for each session in the order of time, and the cells with samples in all of them.
func TestWriteTrend(t *testing.T) {
	f := &File{Format: Format, Version: Version, Launches: []Launch{
		{Session: 0, Began: "2026-02-01T03:00:00Z"}, {Session: 1, Began: "2026-01-01T03:00:05Z"}, {Session: 1, Began: "2026-01-01T03:00:00Z"}, {Session: 0, Began: "2026-02-01T03:01:00Z"},
	}}
	f.Provenance.Taulop = "v1.0.0"
	add := func(k Key, samples ...Sample) {
		f.Cells = append(f.Cells, Cell{Key: k, Transfers: 2, Samples: samples, Time: fit.Estimate{Center: samples[0].NS}})
	}
	ring := Key{Kind: TransferCell, Setup: Ring, Placement: numa.Local, Tau: 2, Bytes: 8192}
	add(ring, Sample{NS: 200}, Sample{NS: 300, Launch: 1}, Sample{NS: 320, Launch: 2}, Sample{NS: 220, Launch: 3})
	ring.Tau = 4
	add(ring, Sample{NS: 200}, Sample{NS: 220, Launch: 3}) // not in session 1
	var b bytes.Buffer
	left, err := f.WriteTrend(&b)
	const want = "time,taulop,transfer_setup_ring_placement_local_cache_in_tau_2_bytes_8192\n" +
		"2026-01-01T03:00:00Z,v1.0.0,155\n2026-02-01T03:00:00Z,v1.0.0,105\n"
	if err != nil || left != 1 || b.String() != want {
		t.Errorf("%d left out, %v:\n%s\nwant\n%s", left, err, b.String(), want)
	}
	f.Cells = f.Cells[1:]
	contains.Error(t, must.Err(f.WriteTrend(&b)), "each of 2 sessions")
	check.Error(t, must.Err((&File{}).WriteTrend(&b)), "a file without sessions has a trend")
}
