package params

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
)

// Files up to the limits of Read are written and read again; larger ones are refused with a LimitError.
func TestWriteIsReadAgain(t *testing.T) {
	launches := func(n, readings int) func(*File) {
		return func(f *File) {
			l := f.Launches[0]
			l.Probe = slices.Repeat([]ProbeReading{{Key: f.Cells[0].Key, NS: 121.5, At: 0.01}}, readings)
			f.Launches = append(f.Launches, slices.Repeat([]Launch{l}, n-len(f.Launches))...)
		}
	}
	fill := func(bytes int) func(*File) { // to that size
		return func(f *File) {
			f.Warnings = []string{strings.Repeat("w", 100)} // a line of its own
			f.Warnings[0] += strings.Repeat("w", bytes-len(must.Get(f.text())))
		}
	}
	samples := func(n int) func(*File) {
		return func(f *File) {
			f.Cells = f.Cells[:1]
			f.Cells[0].Samples, f.Cells[0].Time = make([]Sample, n), fit.Estimate{N: 1}
		}
	}
	try := func(name string, change func(*File), least int, limit string) { // least: bytes; without a limit it is read again
		t.Helper()
		f := machine(2, numa.Local)
		change(f)
		var b bytes.Buffer
		err := f.Write(&b)
		if limit != "" {
			contains.Error(t, err, limit)
			check.True(t, errors.As(err, new(LimitError)) && b.Len() == 0, "%s: %T with %d bytes written", name, err, b.Len())
			return
		}
		check.Need(t, err == nil && b.Len() >= least, "%s: %v with %d bytes written, want %d or more", name, err, b.Len(), least)
		is := reread(t, b.Bytes())
		count := func(f *File) [4]int { return [4]int{len(f.Launches), len(f.Cells), len(f.Warnings), len(f.Placements)} }
		check.Equal(t, count(is), count(f), "%s: launches, cells, warnings and placements that are read again", name)
	}
	try("before the first cell", func(f *File) { *f = File{} }, 1, "")
	try("launches beyond a header", launches(9000, 9), maxHeader, "")
	try("all launches", launches(maxLaunches, 0), 3<<20, "")
	try("a launch too many", launches(maxLaunches+1, 0), 0, "more than 65536 launches")
	try("the largest launch", func(f *File) { f.Launches[0] = largest() }, 1<<19, "")
	try("all warnings", func(f *File) { f.Warnings = make([]string, maxWarnings) }, 3*maxWarnings, "")
	try("a warning too many", func(f *File) { f.Warnings = make([]string, maxWarnings+1) }, 0, "more than 262144 warnings")
	try("warnings beyond a header", fill(maxHeader+1<<20), maxHeader, "")
	try("a full file", fill(maxFile), maxFile, "")
	try("a byte too many", fill(maxFile+1), 0, "more than 64 MiB")
	try("head of published tables", func(f *File) { f.Provenance.Published = []string{strings.Repeat("w", maxHeader)} }, 0, "more than 8 MiB in one field")
	many := numa.Placement{Policy: numa.List, Workers: make([]numa.Worker, maxWorkers)}
	try("placements beyond a header", func(f *File) { f.Placements = slices.Repeat([]numa.Placement{many}, 7) }, 0, "more than 8 MiB in one field")
	try("kinds of cores", func(f *File) { f.Provenance.CoreKinds = make([]numa.Kind, maxObjects+1) }, 0, "more than 131072 objects in one field")
	skip.Short(t, "the others take ten seconds each")
	try("all samples", samples(maxSamples), maxSamples, "")
	try("a sample too many", samples(maxSamples+1), 0, "more than 4194304 samples")
	try("cells beyond a file", func(f *File) {
		for n := range 1 << 19 {
			f.Cells = append(f.Cells, Cell{Key: Key{Kind: GammaCell, Placement: numa.Local, Tau: 3 + n, Bytes: 64, Operator: strings.Repeat("m", maxName)}, Time: fit.Estimate{Center: 1, Lo: 1, Hi: 1, N: 1}})
		}
	}, 0, "more than 64 MiB")
}

// largest is a launch at all limits.
func largest() Launch {
	long := func() string { return strings.Repeat("m", maxName) }
	l := Launch{Session: maxLaunches - 1, Began: "2026-01-02T03:04:05.123456789+00:00", Seconds: 1. / 3, MHz: make(map[int]float64)}
	for len(l.MHz) < maxNames {
		l.MHz[maxCount-len(l.MHz)] = 1e5 / 3.
	}
	for len(l.Loads) < maxProbes {
		l.Loads = append(l.Loads, Loads{Placement: "across-packages", Tau: maxWorkers, Next: 1e17 / 3, Flushed: 1e18 / 3, Cached: 1. / 3})
		l.Probe = append(l.Probe, ProbeReading{NS: 1e18 / 3, At: 1e9 / 3,
			Key: Key{Kind: TransferCell, Setup: long(), Placement: "across-packages", OffCache: true, Tau: maxCount, Bytes: maxSize, Segments: maxSize, SegmentBytes: maxSize, Transport: Transport(long()), Buffers: Unchanged}})
	}
	return l
}

func FuzzWriteIsReadAgain(f *testing.F) {
	const plain = "a \"text\"\\ \x00\u2028 <&>"
	for seed := range uint64(20) {
		f.Add(seed, plain)
	}
	f.Add(uint64(100), "0-4194304")
	f.Add(uint64(101), "no UTF-8: \xff")
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		random := rand.New(rand.NewPCG(seed, 0))
		file := machine(1, numa.Local)
		number := func(most float64) float64 {
			return [...]float64{0, most, most * random.Float64(), random.Float64(), random.Float64() * 1e-300, float64(int(most) >> random.IntN(40))}[random.IntN(6)]
		}
		file.Warnings, file.Journal = append(file.Warnings, text), text
		some := func(most float64) float64 { return max(number(most), 1e-300) }
		p := &file.Provenance
		p.Hostname, p.Unknown, p.CoreKinds = text, []string{text}, []numa.Kind{{Name: text, CPUs: numa.SetOf(random.IntN(1 << 13))}}
		file.Networks = []Network{{Name: "eth0", Kind: "tcp", Hosts: []string{text}, Peers: []Peer{{Address: text, Packet: 1 + random.IntN(maxSize), Provenance: *p}}}}
		for i := range file.Launches {
			l := &file.Launches[i]
			l.Session, l.Seconds, l.Load, l.Instruction = random.IntN(maxLaunches), number(longest), number(longest), number(maxNs)
			l.MHz = map[int]float64{random.IntN(maxCount): some(1e6)}
			l.Relative = map[numa.Policy]float64{numa.Local: number(maxNs)}
			l.Probe = []ProbeReading{{Key: file.Cells[0].Key, NS: number(maxNs), At: float32(number(longest))}}
			flushed := some(maxNs)
			l.Loads = []Loads{{Placement: numa.Local, Tau: 1, Next: number(maxNs), Flushed: flushed, Cached: flushed / 3}}
		}
		for i := range file.Cells {
			c := &file.Cells[i]
			c.Samples = nil
			for range random.IntN(4) {
				s := Sample{NS: number(maxNs), Launch: int32(random.IntN(len(file.Launches)+1)) - 1, At: float32(number(longest)), Spread: float32(number(maxNs))}
				if random.IntN(2) == 0 {
					s.Fastest = max(float32(number(1)), 1e-40)
					s.Typical = s.Fastest + (1-s.Fastest)*random.Float32()
					s.Last = int32(random.IntN(maxCPUs))
				}
				c.Samples = append(c.Samples, s)
			}
			c.Time = fit.Median(c.Values())
			if len(c.Samples) == 0 {
				center := number(maxNs)
				c.Time = fit.Estimate{Center: center, Lo: center * random.Float64(), Hi: center, N: random.IntN(maxCount)}
			}
			if c.Kind == GammaCell && checkOperator(text) == nil {
				c.Operator = text + c.Operator
			}
		}
		if err := file.Validate(); err != nil {
			check.True(t, text != plain, "%v", err)
			return
		}
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			check.True(t, errors.As(err, new(LimitError)) && text != plain, "%v", err)
			return
		}
		again := written(t, reread(t, b.Bytes()))
		check.True(t, !utf8.ValidString(text) || bytes.Equal(b.Bytes(), again), "written twice")
	})
}
