package params

import (
	"math"
	"slices"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// messages is sparse with messages, by size, instead of overheads.
func messages(ns map[int]float64) *File {
	f := sparse()
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Kind == OverheadCell })
	for m, t := range ns {
		f.Cells = append(f.Cells, Cell{Key: Key{Kind: MessageCell, Placement: numa.Local, Tau: 1, Bytes: m, Variant: Segmented}, Time: exactly(t)})
	}
	return f
}

// In sparse, L(64,1) = 100; 16384 bytes are two segments with L(S,1) = 1500 and L(S,2) = 2000; y(1) = 60, of
// which Alone subtracts half. Between 64 and 16384 bytes transfers are interpolated.
func TestOverheadsOfMessages(t *testing.T) {
	try := func(name string, times map[int]float64, want, filled []float64, below string) { // want: o, ns, m rising; filled: as a table has them
		t.Helper()
		f := messages(times)
		if name == "a size without transfers" { // of one segment
			f.Plan.SegmentBytes = 16384
		}
		got := lists.Map(f.Overheads(Selection{}), func(o Overhead) float64 { return math.Round(o.Time.Center*1e6) / 1e6 })
		check.Slices(t, got, want, "%s: o in ns", name)
		table := must.Get(f.Table(Selection{}))
		sameTimes(t, name, [][]float64{table.Overheads}, [][]float64{filled})
		contains.Error(t, f.BelowZero(Selection{}), below)
	}
	try("two sizes", map[int]float64{64: 230, 16384: 5100}, []float64{90, 160}, []float64{90, 160}, "")
	try("below zero", map[int]float64{64: 90, 16384: 5100}, []float64{-50, 160}, []float64{0, 160},
		"o(m) is below zero (placement local, in cache), -50 ns of m = 64: a message alone took less than its transfers; it counts as 0 there")
	try("a size without transfers", map[int]float64{64 + (16384-64)/2: 3700}, []float64{3700 - 2*(800-30)}, []float64{2160, 2160}, "")
}

// Differences are paired by launch, so that a slow launch does not change o.
func TestOverheadsByLaunches(t *testing.T) {
	f := messages(nil)
	f.Launches = make([]Launch, 7)
	add := func(k Key, ns float64) {
		c := Cell{Key: k}
		c.Placement, c.Tau = numa.Local, 1
		if k.Kind == TransferCell {
			c.K, c.Transfers = 1, 2
		}
		c.Samples = lists.Map(lists.Indices(7), func(i int) Sample { return Sample{NS: ns * float64(1+i%3), Launch: int32(i)} })
		c.Time = c.Replicates(f).Estimate()
		f.Cells = append(f.Cells, c)
	}
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Setup == Isolated })
	add(Key{Kind: TransferCell, Setup: Isolated, Bytes: 64}, 200)
	add(Key{Kind: MessageCell, Bytes: 64, Variant: Segmented}, 210)
	o := f.Overheads(Selection{})
	check.True(t, len(o) == 1 && o[0].Time.Center == 20 && o[0].Time.Lo == 10 && o[0].Time.Hi == 30 && o[0].Time.N == 7, "%+v, want 10 times 1, 2 and 3", o)
}

// Messages of an MPI library come before segmented ones, and messages before o(m) of older sweeps.
func TestWhoseOverheads(t *testing.T) {
	f := messages(map[int]float64{64: 230})
	f.Cells = append(f.Cells,
		Cell{Key: Key{Kind: OverheadCell, Placement: numa.Local, Tau: 1}, Time: exactly(7)},
		Cell{Key: Key{Kind: MessageCell, Placement: numa.Local, Tau: 1, Bytes: 64}.Named("PingPong"), Time: fit.Median([]float64{900})})
	for _, want := range []float64{760, 90, 7} {
		o := f.Overheads(Selection{})
		check.True(t, len(o) == 1 && o[0].Time.Center == want, "%+v, want %g", o, want)
		last := slices.IndexFunc(f.Cells, func(c Cell) bool { return c.VariantName() == "PingPong" })
		if last < 0 {
			last = slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Kind == MessageCell })
		}
		f.Cells = slices.Delete(f.Cells, max(0, last), max(0, last)+1)
	}
}

// o(m) of exchanges is their time less transfers of sendrecv, or else ring, with one segment or several. o(m) of
// one-way messages does not change.
func TestExchangeOverheads(t *testing.T) {
	f := messages(map[int]float64{64: 230})
	add := func(kind Kind, setup string, m, k int, ns float64) {
		c := Cell{Key: Key{Kind: kind, Setup: setup, Placement: numa.Local, Tau: 2, Bytes: m}, Time: exactly(ns)}
		if kind == TransferCell {
			c.K, c.Transfers = k, 2
		}
		f.Cells = slices.DeleteFunc(f.Cells, func(old Cell) bool { return old.Key == c.Key })
		f.Cells = append(f.Cells, c)
	}
	check.Empty(t, f.ExchangeOverheads(Selection{}), "of a file without exchanges")
	add(TransferCell, Sendrecv, 64, 1, 400)
	add(TransferCell, Sendrecv, 16384, 2, 4000)
	add(ExchangeCell, "", 1, 0, 80)
	add(TransferCell, Sendrecv, 1, 1, 120)
	add(ExchangeCell, "", 64, 0, 450)
	add(ExchangeCell, "", 16384, 0, 4120)
	all := f.ExchangeOverheads(Selection{})
	check.Need(t, len(all) == 3 && all[0].Time.Center == -40 && all[1].Time.Center == 50 && all[2].Time.Center == 120, "%+v, want -40, 50 and 120 ns", all)
	for m, want := range map[int]float64{0: -40, 64: 50, 8224: 85, 16384: 120, 1 << 20: 120} {
		check.Near(t, 1e9*OverheadAt(all, m), want, 1e-6, "o(%d), ns", m)
	}
	o := f.Overheads(Selection{})
	check.True(t, len(o) == 1 && o[0].Time.Center == 90, "of messages %+v, want 90 ns", o)
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Setup == Sendrecv || c.Kind == ExchangeCell })
	add(ExchangeCell, "", 64, 0, 450)
	add(TransferCell, Ring, 64, 1, 420)
	all = f.ExchangeOverheads(Selection{})
	check.True(t, len(all) == 1 && all[0].Time.Center == 30, "%+v, want 30 ns beyond ring", all)
}
