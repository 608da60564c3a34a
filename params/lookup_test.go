package params

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// exactly is a cell's time without samples.
func exactly(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6} }

// sparse is a file for calculations by hand, in which l = 2k·L: ring at τ = 1, 2 and 4, isolated, o at two sizes, y, c
// and γ.
func sparse() *File { return must.Get(ReadFile("testdata/sparse.json")) }

func sameTimes(t *testing.T, what string, got, wantNs [][]float64) {
	t.Helper()
	ns := lists.Map(got, func(row []float64) []float64 {
		return lists.Map(row, func(seconds float64) float64 { return seconds * 1e9 })
	})
	check.Equal(t, fmt.Sprintf("%.12g", ns), fmt.Sprintf("%.12g", wantNs), "%s in ns", what)
}

func TestTables(t *testing.T) {
	f := sparse()
	whole := must.Get(f.Table(Selection{}))
	// τ = 1 is the isolated transfer, less half of y(1) for each transfer.
	sameTimes(t, "L(m,τ)", whole.Transfers.Times, [][]float64{{70, 120, 240}, {2940, 4000, 6000}})
	sameTimes(t, "o(m)", [][]float64{whole.Overheads}, [][]float64{{10 + 100*64./16384, 110}})
	check.Deep(t, whole.Transfers.Sizes, []int{64, 16384}, "sizes")
	check.Deep(t, whole.Transfers.Taus, []int{1, 2, 4}, "taus")
	segment := must.Get(f.SegmentTable(Selection{Setup: "ring", Placement: numa.Local}))
	sameTimes(t, "L(S,τ)", segment.Transfers.Times, [][]float64{{70, 120, 240}, {1470, 2000, 3000}})
	alone := must.Get(f.Table(Selection{Setup: Isolated}))
	sameTimes(t, "isolated", alone.Transfers.Times, [][]float64{{70}, {2940}})
	one := sparse()
	one.Cells = slices.DeleteFunc(one.Cells, func(c Cell) bool { return c.Tau > 1 })
	sameTimes(t, "of τ = 1 alone", must.Get(one.Table(Selection{})).Transfers.Times, [][]float64{{70}, {2940}})
	y := must.Get(f.Y(Selection{}))
	for tau, want := range map[int]float64{1: 60e-9, 2: 70e-9, 3: 75e-9} {
		for _, m := range []int{1, 5000} {
			got, beyond := y.At(m, tau)
			check.True(t, math.Abs(got-want) <= 1e-15 && !beyond, "y(%d) = %v, %v; want %v", tau, got, beyond, want)
		}
	}
	c := must.Get(f.C("", false))
	sameTimes(t, "c", c.Times, [][]float64{{4, 6}})
	gamma := must.Get(f.Gamma(""))
	// The order of the published files, not of the cells.
	check.Deep(t, []string{gamma.Operators[0].Name, gamma.Operators[1].Name}, []string{"MAX_I", "SUM_R"}, "operators")
	v, _ := must.Get(gamma.Operator("sum_r")).At(16384, 2)
	check.True(t, math.Abs(v-1.6e-6) <= 1e-15, "γ = %v", v)
}

// Without isolated transfers τ = 1 is the setup's own.
func TestTableWithoutIsolated(t *testing.T) {
	f := sparse()
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Setup == Isolated || c.Kind == OverheadCell || c.Kind == GammaCell })
	table := must.Get(f.Table(Selection{}))
	sameTimes(t, "L(m,τ)", table.Transfers.Times, [][]float64{{5, 120, 240}, {500, 4000, 6000}})
	sameTimes(t, "o(m), not measured", [][]float64{table.Overheads}, [][]float64{{0, 0}})
	check.ErrorIs(t, must.Err(f.Gamma("")), ErrUnfinished, "γ")
}

// o and γ are taken from another placement if necessary, transfers are not.
func TestOtherPlacements(t *testing.T) {
	f := sparse()
	for _, c := range f.Cells {
		if c.Kind == TransferCell {
			c.Placement, c.OffCache = numa.Remote, true
			f.Cells = append(f.Cells, c)
		}
	}
	check.Equal(t, must.Get(f.Table(Selection{Placement: numa.Remote, OffCache: true})).Overheads[1], 110e-9, "Table")
	check.Equal(t, len(must.Get(f.Gamma(numa.Remote)).Operators), 2, "Gamma")
	contains.Error(t, must.Err(f.Table(Selection{Placement: numa.Remote})), "no transfers of ring, placement remote, in cache: the file has ring (placement local, in cache), ring (placement remote, off cache)")
	contains.Error(t, must.Err(f.Table(Selection{Setup: "bcast"})), "no transfers of bcast")
	contains.Error(t, must.Err((&File{}).Table(Selection{})), "the file has none at all")
	contains.Error(t, must.Err(f.Y(Selection{Placement: numa.Remote})), "the file has no y of ring, placement remote")
}

func TestTableOfAnUnfinishedSweep(t *testing.T) {
	f := sparse()
	f.Cells = append(f.Cells[:4:4], f.Cells[5:]...) // without m = 64, τ = 4
	want := "the file lacks 1 of 6 transfers of ring, placement local, in cache, of m = 64 at τ = 4: resume its sweep, which measures what is missing"
	err := must.Err(f.Table(Selection{}))
	check.ErrorIs(t, err, ErrUnfinished, "of one size")
	check.Equal(t, fmt.Sprint(err), want, "of one size")
	// Two complete sizes are enough for a table.
	for _, c := range f.Cells {
		if c.Kind == TransferCell && c.Bytes == 16384 {
			c.Bytes = 32768
			f.Cells = append(f.Cells, c)
		}
	}
	table, err := f.Table(Selection{})
	check.True(t, err == nil && slices.Equal(table.Transfers.Sizes, []int{16384, 32768}) && errors.Is(table.Lacking, ErrUnfinished), "%+v, %v", table, err)
}

// Complete operators are available while others are incomplete.
func TestGammaOfAnUnfinishedSweep(t *testing.T) {
	f := sparse()
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Operator == "MAX_I" && c.Tau == 2 && c.Bytes != 4 })
	gamma := must.Get(f.Gamma(""))
	v, _ := must.Get(gamma.Operator("sum_r")).At(16384, 2)
	check.True(t, math.Abs(v-1.6e-6) <= 1e-15, "γ of SUM_R = %v", v)
	for op, want := range map[string]string{"max": "the file lacks 2 of 6 γ of MAX_I, of m = 64, 16384 at τ = 2: resume its sweep", "xor": `no γ of operator "xor"; measured are SUM_R`} {
		contains.Error(t, must.Err(gamma.Operator(op)), want)
	}
}

func TestFill(t *testing.T) {
	pairs := func(tau int) *Table {
		return &Table{Transfers: Curve{Sizes: []int{1}, Taus: []int{tau}, Times: [][]float64{{7e-9}}}, Overheads: []float64{0}}
	}
	try := func(table *Table, sizes, taus []int, times [][]float64, lacks []string) { // times: ns
		t.Helper()
		full, missing, err := table.Fill()
		check.True(t, err == nil && slices.Equal(full.Transfers.Sizes, sizes) && slices.Equal(full.Transfers.Taus, taus) && slices.Equal(missing, lacks),
			"%+v, missing %q, %v", full, missing, err)
		sameTimes(t, "filled", full.Transfers.Times, times)
	}
	try(must.Get(sparse().Table(Selection{})), []int{1, 64, 16384}, []int{1, 2, 3, 4}, [][]float64{{70, 120, 180, 240}, {70, 120, 180, 240}, {2940, 4000, 5000, 6000}},
		[]string{"m = 1 was not measured: its row is that of m = 64", "not measured, but on the line between their neighbours, are τ = 3"})
	try(pairs(2), []int{1}, []int{1, 2}, [][]float64{{7, 7}}, []string{"τ = 1 was not measured: its column is that of τ = 2"})
	for what, table := range map[string]*Table{"an empty table": new(Table), "a table of a billion columns": pairs(maxCount)} {
		_, _, err := table.Fill()
		check.Error(t, err, "%s was filled", what)
	}
}

func TestFitGamma(t *testing.T) {
	fitted, missing := must.Get(sparse().Gamma("")).Fit([]int{1, 64, 16384})
	sameTimes(t, "MAX_I", fitted.Operators[0].Times, [][]float64{{2}, {20}, {800}})
	sameTimes(t, "SUM_R", fitted.Operators[1].Times, [][]float64{{3}, {3 + 1597*56./16376}, {1600}})
	check.Deep(t, fitted.Operators[1].Sizes, []int{4, 64, 16384}, "sizes")
	check.True(t, len(missing) == 1 && missing[0] == "γ of some operators was not measured for m = 4, 64 and follows from its neighbours", "missing %q", missing)
	must.Do(WriteGammaText(&bytes.Buffer{}, fitted))
}

// Published numbers are the same after import, writing, reading and export.
func TestImportRoundTrip(t *testing.T) {
	gammas := published(t, "gamma.txt")
	for path, data := range published(t, "SHM.txt", "IB.txt", "TCP.txt") {
		gammaPath := filepath.Join(filepath.Dir(path), "gamma.txt")
		table := must.Get(ReadText(bytes.NewReader(data), path))
		gamma := must.Get(ReadGammaText(bytes.NewReader(gammas[gammaPath]), gammaPath))
		f := reread(t, written(t, FromText(table, gamma)))
		full, missing, err := must.Get(f.Table(Selection{})).Fill()
		check.True(t, err == nil && len(missing) == 0, "%s: %q, %v", path, missing, err)
		fitted, missing := must.Get(f.Gamma("")).Fit(full.Transfers.Sizes)
		check.Empty(t, missing, "missing in %s", gammaPath)
		var shm, reductions bytes.Buffer
		must.Do(WriteText(&shm, full))
		must.Do(WriteGammaText(&reductions, fitted))
		names := func(text string) []string { return strings.Fields(strings.Split(text, "\n")[2])[1:] }
		was := string(gammas[gammaPath])
		check.True(t, slices.Equal(numbers(shm.String()), numbers(string(data))) && slices.Equal(numbers(reductions.String()), numbers(was)) && slices.Equal(names(reductions.String()), names(was)),
			"%s: other numbers or operators", path)
	}
}

func TestWriteCSV(t *testing.T) {
	f := sparse()
	f.Cells[0].Time = fit.Median([]float64{10}) // no interval
	var b bytes.Buffer
	must.Do(f.WriteValues(&b, ','))
	rows := must.Get(csv.NewReader(&b).ReadAll()) // as many fields in each
	check.Need(t, len(rows) == 1+len(f.Cells), "%d rows for %d cells", len(rows), len(f.Cells))
	find := func(kind, setup, tau, m string) string {
		return strings.Join(rows[slices.IndexFunc(rows, func(row []string) bool { return row[0] == kind && row[1] == setup && row[4] == tau && row[5] == m })], ",")
	}
	for _, tt := range []struct{ got, want string }{
		{strings.Join(rows[0], ","), "kind,setup,placement,off_cache,tau,m_bytes,operator,variant,n,delay_ns,k,transfers,samples,time_ns,time_lo_ns,time_hi_ns,L_m_ns,L_m_lo_ns,L_m_hi_ns,L_S_ns,L_S_lo_ns,L_S_hi_ns,segments,segment_bytes,transport,buffers"},
		{find("transfer", "ring", "2", "16384"), "transfer,ring,local,false,2,16384,,,,,2,2,0,8000,8000,8000,4000,4000,4000,2000,2000,2000,,,,"},
		{find("transfer", "ring", "1", "64"), "transfer,ring,local,false,1,64,,,,,1,2,0,10,,,5,,,5,,,,,,"},
		{find("null", "ring", "4", "0"), "null,ring,local,false,4,0,,,,,,,0,80,80,80,,,,,,,,,,"},
		{find("gamma", "", "1", "8"), "gamma,,local,false,1,8,SUM_R,,,,,,0,3,3,3,,,,,,,,,,"},
	} {
		check.Equal(t, tt.got, tt.want, "row")
	}
}

func TestWriteBenchmarks(t *testing.T) {
	f := machine(2, numa.Local)
	f.Provenance.CPUModel = "Two\nlines"
	var b bytes.Buffer
	must.Do(f.WriteBenchmarks(&b))
	check.True(t, strings.HasPrefix(b.String(), "# host: tiny\n# cpu: Two lines\n"), "begins %.100q", b.String())
	samples := make(map[string][]float64)
	for r := benchfmt.NewReader(&b, "b"); r.Scan(); {
		result := r.Result().(*benchfmt.Result)
		s := result.GetConfig("segment-bytes")
		check.Need(t, s == "8192", "segment-bytes %q", s)
		sec, _ := result.Value("sec/op")
		samples[result.Name.String()] = append(samples[result.Name.String()], sec)
	}
	c := f.Cells[0]
	got := samples["Transfer/setup=ring/placement=local/cache=in/tau=1/bytes=1"]
	check.True(t, len(samples) == len(f.Cells) && len(got) == len(c.Samples) && math.Abs(got[3]-c.Samples[3].NS/2e9) <= 1e-5*got[3],
		"%d benchmarks for %d cells, samples %v s of %v ns", len(samples), len(f.Cells), got, c.Samples)
	for _, name := range []string{"Null/setup=isolated/placement=local/cache=in/tau=1", "Gamma/operator=SUM_I/placement=local/cache=in/tau=2/bytes=64",
		"Prtt/placement=local/cache=in/tau=1/bytes=64/n=10/delay=500"} {
		check.Equal(t, len(samples[name]), 10, "samples of %s", name)
	}
}

// Alone subtracts half of y(1) from each isolated transfer, paired by launch if possible, at most half of the time,
// and nothing if y is unknown.
func TestAlone(t *testing.T) {
	y := Cell{Key: Key{Kind: NullCell, Setup: Isolated, Placement: "local", Tau: 1}, Time: fit.Estimate{Center: 60, Lo: 50, Hi: 70}}
	c := Cell{Key: Key{Kind: TransferCell, Setup: Isolated, Placement: "local", Tau: 1, Bytes: 16384}, K: 2, Transfers: 2, Time: fit.Estimate{Center: 4000, Lo: 3900, Hi: 4100}}
	f := &File{Cells: []Cell{y, c}}
	check.Equal(t, f.Alone(&c).Time, fit.Estimate{Center: 3880, Lo: 3760, Hi: 4000}, "alone") // four transfers, two waits of 60
	ring, short := c, c
	ring.Setup, short.Time.Center = Ring, 100
	check.True(t, f.Alone(&ring) == &ring && (&File{Cells: []Cell{c}}).Alone(&c) == &c, "a transfer in a ring, or one without y, is changed")
	check.Equal(t, f.Alone(&short).Time.Center, 50, "what remains of 100 ns")

	f.Launches = make([]Launch, 7)
	for n := range f.Launches {
		y.Samples = append(y.Samples, Sample{NS: 50 + float64(10*n), Launch: int32(n)})
		c.Samples = append(c.Samples, Sample{NS: 4000 + float64(20*n), Launch: int32(n)})
	}
	y.Samples = y.Samples[:6] // launch 6 takes the centre, 60; in the others the launch's effect cancels
	f.Cells = []Cell{y, c}
	alone := f.Alone(&f.Cells[1])
	check.Slices(t, alone.Values(), []float64{3900, 3900, 3900, 3900, 3900, 3900, 4000}, "ns")
	check.True(t, alone.Time.Center == 3900 && alone.Time.N == 7 && f.Cells[1].Samples[0].NS == 4000, "got %+v of %+v", alone.Time, f.Cells[1])
}

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
	check.True(t, err == nil && left == 1 && b.String() == want, "%d left out, %v:\n%s\nwant\n%s", left, err, b.String(), want)
	f.Cells = f.Cells[1:]
	contains.Error(t, must.Err(f.WriteTrend(&b)), "each of 2 sessions")
	check.Error(t, must.Err((&File{}).WriteTrend(&b)), "a file without sessions has a trend")
}
