package params

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// customarySizes are the sizes of the published files.
var customarySizes = []int{
	1, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 16384, 32768, 49152, 65536, 98304,
	131072, 196608, 262144, 393216, 524288, 786432, 1048576, 1572864, 2097152, 3145728, 4194304,
}

// machine is a file of a sweep over τ = 1 … cores with invented times: L is linear in m, and grows by 10 % with τ.
func machine(cores int, policies ...numa.Policy) *File {
	const segment, samples = 8192, 10
	f := &File{
		Format: Format, Version: Version,
		Provenance: Provenance{Time: "2026-01-02T03:04:05Z", Hostname: "tiny", CPUModel: "An <Invented> CPU", Governors: []string{"performance"},
			Online: numa.SetOf(0, 1, 2, 5), Allowed: numa.SetOf(0, 1), Go: "go1.26", Taulop: "(devel)", Command: []string{"taulop", "sweep"}},
		Plan: Plan{Setups: []string{"ring"}, Policies: policies, Sizes: customarySizes, Segments: 2, SegmentBytes: segment,
			Taus: lists.Indices(cores + 1)[1:], Caches: []bool{false}, Budget: 60, Width: 0.03, Copy: "memmove"},
		Complete: true, Seconds: 59.5, Warnings: []string{"the load is 0.5 \"high\"", "this is a virtual machine"},
	}
	f.Launches = lists.Map(lists.Indices(samples), func(i int) Launch {
		return Launch{Began: fmt.Sprintf("2026-01-02T03:04:%02dZ", 5+5*i), Seconds: 4.5, Load: 0.5}
	})
	seed := uint64(1)
	noise := func() float64 { // ±1 %
		seed = seed*6364136223846793005 + 1442695040888963407
		return 0.99 + 0.02*float64(seed>>40)/(1<<24)
	}
	add := func(k Key, kSegments, transfers int, ns float64) {
		c := Cell{Key: k, K: kSegments, Transfers: transfers}
		for range samples {
			c.Samples = append(c.Samples, Sample{NS: ns * noise(), Launch: int32(len(c.Samples)), At: 1.5, Spread: 0.011})
		}
		c.Time = fit.Median(c.Values())
		f.Cells = append(f.Cells, c)
	}
	workers := lists.Map(lists.Indices(cores), func(cpu int) numa.Worker { return numa.Worker{CPU: numa.CPU{ID: cpu, Core: cpu}, Distance: 10} })
	for _, p := range policies {
		f.Placements = append(f.Placements, numa.Placement{Policy: p, Workers: workers})
		for i, m := range customarySizes {
			k := (m + segment - 1) / segment
			L := 90 + 0.11*float64(m)
			for _, tau := range f.Plan.Taus {
				slow := 1 + 0.1*float64(tau-1)
				add(Key{Kind: TransferCell, Setup: "ring", Placement: p, Tau: tau, Bytes: m}, k, 2, 2*L*slow)
				if i == 0 {
					add(Key{Kind: NullCell, Setup: "ring", Placement: p, Tau: tau}, 0, 0, 70+float64(tau))
				}
			}
			add(Key{Kind: TransferCell, Setup: Isolated, Placement: p, Tau: 1, Bytes: m}, k, 2, 1.8*L)
		}
		add(Key{Kind: NullCell, Setup: Isolated, Placement: p, Tau: 1}, 0, 0, 60)
	}
	add(Key{Kind: OverheadCell, Placement: policies[0], Tau: 1}, 0, 0, 12.5)
	add(Key{Kind: PRTTCell, Placement: policies[0], Tau: 1, Bytes: 64, N: 10, Delay: 500}, 0, 0, 9e3)
	add(Key{Kind: PRTTCell, Placement: policies[0], Tau: 1, Bytes: 64, N: 1}, 0, 0, 1e3)
	add(Key{Kind: PRTTCell, Placement: policies[0], Tau: 1, Bytes: 64, N: 10, Delay: 500, Variant: Receiver}, 0, 0, 30)
	for _, tau := range f.Plan.Taus[:min(2, cores)] {
		for _, operator := range []string{"MAX_I", "SUM_I"} {
			for _, m := range customarySizes {
				add(Key{Kind: GammaCell, Placement: policies[0], Tau: tau, Bytes: max(m, 4), Operator: operator}, 0, 0, 2+0.3*float64(m))
			}
		}
	}
	return f
}

func written(t testing.TB, f *File) []byte {
	var b bytes.Buffer
	must.Do(f.Write(&b))
	return b.Bytes()
}

func reread(t testing.TB, text []byte) *File {
	return must.Get(Read(bytes.NewReader(text), "host.json"))
}

// Reading a written file returns numbers with the promised digits and everything else unchanged; writing it
// again returns the same text.
func TestFileRoundTrip(t *testing.T) {
	was := machine(4, numa.Local, numa.Remote)
	few := &was.Cells[7]
	few.Samples = few.Samples[:3]
	few.Time = fit.Median(few.Values()) // no interval yet
	text := written(t, was)
	is := reread(t, text)
	check.Slices(t, text, written(t, is), "written again")
	byKey := lists.ToMap(is.Cells, func(c Cell) (Key, Cell) { return c.Key, c })
	check.Equal(t, len(byKey), len(was.Cells), "cells")
	for _, want := range was.Cells {
		for _, v := range []*float64{&want.Time.Center, &want.Time.Lo, &want.Time.Hi} {
			if !math.IsInf(*v, 0) {
				*v = round(*v, 6)
			}
		}
		for i := range want.Samples {
			want.Samples[i].NS = round(want.Samples[i].NS, 5)
		}
		got := byKey[want.Key]
		check.Need(t, reflect.DeepEqual(got, want), "%v: got %+v, want %+v", want.Key, got, want)
	}
	a, b := *was, *is
	a.Cells, b.Cells = nil, nil
	check.Deep(t, b, a, "all but cells")
	contains.All(t, string(text), `null,null,3],"samples":[[`,
		"\n    "+`{"kind":"transfer","setup":"ring","placement":"local","tau":2,"bytes":8192,"k":1,"transfers":2,"time_ns":[`)
}

var good = string(must.Get(os.ReadFile("testdata/good.json")))

// The example in docs/parameter-file.md is a file as Write lays it out, and the page explains every field.
func TestDocument(t *testing.T) {
	_, rest, _ := strings.Cut(string(must.Get(os.ReadFile("../docs/parameter-file.md"))), "```json\n")
	example, fields, found := strings.Cut(rest, "```")
	check.Need(t, found, "no example")
	f := reread(t, []byte(example))
	check.Equal(t, string(written(t, f)), example, "written, the example")
	for _, typ := range []reflect.Type{reflect.TypeFor[File](), reflect.TypeFor[Plan](), reflect.TypeFor[Key](), reflect.TypeFor[Cell](), reflect.TypeFor[Launch](), reflect.TypeFor[Network]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			check.True(t, name == "" || strings.Contains(fields, "- `"+name+"`") || strings.Contains(fields, ", `"+name+"`: "),
				"%s of %s is not explained", name, typ.Name())
		}
	}
	for _, kind := range kinds {
		contains.All(t, fields, "- `"+string(kind)+"`: ")
	}
}

// changed is good with one replacement.
func changed(t *testing.T, old, new string) string {
	t.Helper()
	check.Need(t, strings.Contains(good, old), "%q is not in the sample", old)
	return strings.Replace(good, old, new, 1)
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"as written", good},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n")},
		{"on one line", strings.ReplaceAll(good, "\n", "")},
		{"byte order mark", "\xef\xbb\xbf" + good},
		{"escapes", changed(t, `"kind":"transfer"`, `"\u006bind":"transf\u0065r"`)},
	} {
		f, err := Read(strings.NewReader(tt.text), "f")
		check.Need(t, err == nil, "%s: %v", tt.name, err)
		c := f.Cells[0]
		check.True(t, len(f.Cells) == 2 && c.Kind == TransferCell && c.Segment().Center == 50 && c.Time.Hi == 101.5 && len(c.Samples) == 6 && !f.Cells[1].Time.Known(),
			"%s: read as %+v", tt.name, f)
	}
}

func TestReadRefuses(t *testing.T) {
	with := func(old, new string) string { return changed(t, old, new) }
	first := `{"kind":"transfer","setup":"ring","placement":"local","tau":1,"bytes":1,`
	for _, tt := range []struct{ name, text, says string }{
		{"empty", "", "f is empty: measure again"},
		{"published text", small, "f:1: this is no parameter file; if it is a published text file, taulop import makes one of it"},
		{"other text", "MPI results\n", "f:1: this is no parameter file: name one that taulop sweep or import wrote"},
		{"a mark alone", "\xef\xbb\xbf{", "f:1: the file ends in the middle"},
		{"cut", good[:200], "it was cut off: copy it again"},
		{"other JSON", `{"setup": "ring"}`, `f:1: this is no parameter file: it has no "format" and "version": name one that taulop sweep or import wrote`},
		{"other format", with("taulop parameters", "recipes"), `f:3: format is "recipes", want "taulop parameters"`},
		{"newer version", with(`"version": 1`, `"version": 6`), "f:3: version 6 of the format is not one that this taulop reads, which is 1: take the taulop that wrote the file, or measure anew"},
		{"newer version with new fields", strings.Replace(with(`"version": 1`, `"version": 7`), `"k":1`, `"j":1`, 1), "f:3: version 7"},
		{"cells before the version", `{"cells": [], "format": "taulop parameters", "version": 1, "x": []}`, `f:1: there is no field "x"`},
		{"newer version after the cells", `{"cells": [{"new": 1}], "format": "taulop parameters", "version": 6}`, "f:1: version 6"},
		{"version 0", with(`"version": 1`, `"version": 0`), "f:3: version is 0"},
		{"version in words", with(`"version": 1`, `"version": "1"`), "f:3: version: string where a value like int belongs"},
		{"no version", with(`"version": 1,`, ``), `f:1: this is no parameter file`},
		{"no plan", with(`"plan": `, `"provenance": `), `f:5: "provenance" is there twice`},
		{"unknown field", with(`"complete"`, `"compete"`), `f:7: there is no field "compete"`},
		{"unknown field of the plan", with(`"sizes"`, `"seizes"`), `f:5: plan: there is no field "seizes"`},
		{"unknown field of a cell", with(`"k":1`, `"j":1`), `f:11: there is no field "j"`},
		{"operator that is no UTF-8", with(`"kind":"transfer","setup":"ring"`, `"kind":"gamma","operator":"SUM`+"\xcd"+`I"`), `is no operator; want a name like SUM_I`},
		{"a cell twice", with(`"tau":2,"bytes":1`, `"tau":1,"bytes":1`), "f:12: transfer of ring, placement local, in cache, τ = 1, m = 1 is there twice, first in line 11"},
		{"unknown kind", with(`"kind":"transfer"`, `"kind":"transport"`), `f:11: transport of ring, placement local, in cache, τ = 1, m = 1: kind "transport" is unknown`},
		{"unknown placement", with(`"placement":"local"`, `"placement":"loco"`), `f:11: transfer of ring, placement loco, in cache, τ = 1, m = 1: placement "loco" is unknown`},
		{"no kind", with(`"kind":"transfer",`, ``), "f:11: a cell lacks one of kind"},
		{"no setup", with(`"setup":"ring",`, ``), `f:11: transfer, placement local, in cache, τ = 1, m = 1: "" is no setup`},
		{"NaN", with("[100,", "[NaN,"), `f:11: invalid character 'N' at start of value, at "NaN,99,101.5`},
		{"overflow", with("[100,", "[1e999,"), `f:11: "1e999" is too large`},
		{"negative time", with("[100,", "[-100,"), `m = 1: -100 is no time in ns; want 0 … 1e+18`},
		{"negative zero", with("[100,", "[-0,"), `-0 is no time in ns`},
		{"negative sample", with("[-1,99.5", "[-1,-99.5"), `sample: -99.5 is no time in ns`},
		{"centre outside the interval", with("[100,99,", "[100,100.5,"), `100.5 … 101.5 is no interval round 100`},
		{"three numbers for a time", with(`[100,99,101.5,6]`, `[100,99,101.5]`), `f:11: "],\"samples`},
		{"six numbers for a time", with(`[100,99,101.5,6]`, `[100,99,101.5,6,1,7]`), `f:11: "7],`},
		{"more sessions than launches", with(`[100,99,101.5,6]`, `[100,99,101.5,6,7]`), `6 samples of 7 sessions`},
		{"samples of no launch", with(`"samples":[[-1,1.2e2,0,0]]`, `"samples":[[0,120,0,0]]`), `a sample is of launch 0 and the file has 0`},
		{"workers of no CPU", with(`"samples":[[-1,1.2e2,0,0]]`, `"samples":[[-1,120,0,0,0.5,0.6,70000]]`), `on CPU 70000`},
		{"a fastest in no time", with(`"samples":[[-1,1.2e2,0,0]]`, `"samples":[[-1,120,0,0,0,0.6,7]]`), `the fastest took 0`},
		{"a median before the fastest", with(`"samples":[[-1,1.2e2,0,0]]`, `"samples":[[-1,120,0,0,0.9,0.6,7]]`), `want shares that rise to 1`},
		{"more late than batches", with(`"warnings": []`, `"warnings": [], "launches": [{"session":0,"began":"2026-01-02T03:04:05Z","begun":{"batches":1,"late":2}}]`), `2 of 1 batches late`},
		{"a launch at no moment", with(`"warnings": []`, `"warnings": [], "launches": [{"session":0,"began":"now"}]`), `began is "now"`},
		{"a journal of many letters", with(`"warnings": []`, `"warnings": [], "journal": "`+strings.Repeat("j", 300)+`"`), `want the mark of a journal`},
		{"absurd n", with("101.5,6]", "101.5,6000000000]"), `6000000000 samples`},
		{"n with a fraction", with("101.5,6]", "101.5,6.5]"), `f:11: "6.5" is no whole number`},
		{"τ zero", with(`"tau":1`, `"tau":0`), `τ is 0; want 1 …`},
		{"m of nothing", with(`"kind":"transfer"`, `"kind":"null"`), `m is 1; want 0 … 0`},
		{"n of a transfer", with(first, first+`"n":2,`), `kind transfer has no n`},
		{"prtt of no side", with(`"kind":"transfer","setup":"ring"`, `"kind":"prtt","n":1,"variant":"sender"`), `variant "sender" of a round trip; want receiver, or none`},
		{"plan's setup a path", with(`["ring"]`, `["../ring"]`), `f:5: plan: "../ring" is no setup`},
		{"setup twice", with(`["ring"]`, `["ring","ring"]`), `f:5: plan: a setup, placement, operator or state of the cache is there twice`},
		{"width", with(`0.03`, `3`), "f:5: plan: width is 3"},
		{"negative seconds", with(`1.5`, `-1.5`), "seconds is -1.5; want 0 …"},
		{"placement of a file unknown", with(`"placements": []`, `"placements": [{"policy":"loco"}]`), `f:6: placement "loco" is unknown`},
		{"samples that contradict the centre", with(`[[-1,99,0,0],[-1,99.5,0,0],[-1,100,0,0],[-1,100,0,0],[-1,101,0,0],[-1,101.5,0,0]]`, `[[-1,101,0,0],[-1,199,0,0]]`), "its time is 100 ns, and its samples are 101 … 199"},
		{"CPU list in words", with(`"cpus_online": "0-1"`, `"cpus_online": "all"`), "f:4: provenance: "},
		{"cells an object", with("\"cells\": [\n", "\"cells\": {\n"), `f:10: "{" where [ belongs`},
		{"text after the end", good + "x", `f:15: invalid character 'x' at start of value, at "x"`},
		{"two files", good + good, `f:15: "{" where the end of the file belongs`},
		{"deep", with(`"warnings": []`, `"warnings": `+strings.Repeat("[", 100000)), "f:9: more than 16 brackets in each other"},
		{"UTF-16", utf16(good), "f:1: the file is UTF-16"},
		{"zero bytes", with(`"k":1`, "\x00"), `f:11: invalid character '\x00' at start of value`},
		{"megabyte of a name", with(`"k":1`, `"`+strings.Repeat("k", 1<<20)+`":1`), `f:11: there is no field "kkkk`},
		{"many names", with(`"since": "later"`, many(`"n%d": 0`, 5000)), "f:4: more than 4096 names in an object"},
		{"many fields", with(`"complete": false`, many(`"n%d": 0`, 5000)), "f:7: more than 4096 fields"},
		{"more than 64 MiB", strings.Repeat(" ", 64<<20) + good, "f:1: more than 64 MiB"},
		{"a launch of many MB", with(`"warnings": []`, `"warnings": [], "launches": [{"began":"`+strings.Repeat("w", 3<<20)+`"}]`), "f:9: more than 2 MiB in one field"},
		{"a warning that is a number", with(`"warnings": []`, `"warnings": ["a", 1]`), `f:9: "1]," where a string belongs`},
	} {
		f, err := Read(strings.NewReader(tt.text), "f")
		contains.Error(t, err, tt.says)
		check.True(t, f == nil && len(fmt.Sprint(err)) <= 400, "%s: a file beside the error, or one of %d bytes", tt.name, len(fmt.Sprint(err)))
		check.True(t, strings.HasPrefix(fmt.Sprint(err), "f:") || tt.text == "", "%s: %q has no file and line", tt.name, err)
	}
}

func many(format string, n int) string {
	return strings.Join(lists.Map(lists.Indices(n), func(i int) string { return fmt.Sprintf(format, i) }), ", ")
}

// utf16 is a text in UTF-16, little endian.
func utf16(text string) string {
	return "\xff\xfe" + strings.Join(strings.Split(text, ""), "\x00") + "\x00"
}

// Truncated files are refused.
func TestReadRefusesEveryTruncation(t *testing.T) {
	for i := range len(good) - 2 {
		_, err := Read(strings.NewReader(good[:i]), "f")
		check.True(t, err != nil && (strings.HasPrefix(err.Error(), "f:") || i == 0), "%q: %v", good[:i], err)
	}
}

// Hostile input allocates at most a small multiple of its size in total, and so at any moment.
func TestReadBoundsMemory(t *testing.T) {
	const size, most = 8 << 20, 56
	head := good[:strings.Index(good, "    {")]
	for _, tt := range []struct{ name, begin, repeat string }{
		{"cells", head, `{"kind":"overhead","placement":"local","tau":%d,"bytes":0,"time_ns":[0,0,0,0]},`},
		{"samples", head + `{"kind":"overhead","placement":"local","tau":1,"bytes":0,"time_ns":[0,0,0,0],"samples":[`, "[-1,0,0,0],"},
		{"sizes", good[:strings.Index(good, "64]")], "1,"},
		{"names", `{"format": `, `{"%d":`},
		{"lines", head, "\n"},
	} {
		var b bytes.Buffer
		b.WriteString(tt.begin)
		for i := 1; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(tt.repeat, "%d", fmt.Sprint(i)))
		}
		var err error
		allocated := check.Allocated(func() { _, err = Read(&b, "f") })
		check.Error(t, err, "%s: no error", tt.name)
		check.AtMost(t, allocated, most*size, "%s: bytes for %d of input (%v)", tt.name, size, err)
	}
}

func TestValidate(t *testing.T) {
	plan := func(change func(*Plan)) func(*File) { return func(f *File) { change(&f.Plan) } }
	cell := func(change func(*Cell)) func(*File) { return func(f *File) { change(&f.Cells[2]) } }
	key := func(k Key) func(*File) {
		if k.Placement, k.Tau = numa.Local, 1; k.Kind != NullCell {
			k.Bytes = 64
		}
		return func(f *File) { f.Cells = append(f.Cells, Cell{Key: k}) }
	}
	memory := func(m Memory) func(*File) { return func(f *File) { f.Provenance.Memory = &m } }
	loads := func(l Loads) func(*File) { return func(f *File) { f.Launches[0].Loads = []Loads{l} } }
	watch := func(change func(*Watch)) func(*File) { return func(f *File) { *f = *moved(t); change(&f.Watches[0]) } }
	network := func(change func(*Network)) func(*File) { return func(f *File) { *f = *ib(); change(&f.Networks[0]) } }
	for _, tt := range []struct {
		spoil func(*File)
		says  string
	}{
		{cell(func(c *Cell) { c.Time.Center = math.NaN() }), "invalid character 'N'"},
		{cell(func(c *Cell) { c.Samples[1].NS = math.Inf(1) }), `"null,`},
		{cell(func(c *Cell) { c.Setup = "ring\",\"x\":\"" }), "is no setup"},
		{cell(func(c *Cell) { c.Time.Center = -1 }), "transfer of ring, placement local, in cache, τ = 2, m = 1: -1 is no time"},
		{func(f *File) { f.Cells[2] = f.Cells[0] }, "transfer of ring, placement local, in cache, τ = 1, m = 1 is there twice"},
		{func(f *File) { f.Seconds = math.NaN() }, "NaN"},
		{plan(func(p *Plan) { p.Taus[1] = 1 }), "plan: τ 1 is there twice"},
		{plan(func(p *Plan) { p.MoreSegments = []int{2} }), "more_segments: 1 values"},
		{plan(func(p *Plan) { p.MoreSegments = []int{0} }), "more_segments is 0"},
		{plan(func(p *Plan) { p.MoreSegmentBytes = []int{32, 32} }), "more_segment_bytes: 2 values"},
		{key(Key{Kind: CopyCell, Segments: 4}), "kind copy has no segments"},
		{key(Key{Kind: CopyCell, Transport: CMA}), "kind copy has no transport"},
		{key(Key{Kind: TransferCell, Setup: Ping, Transport: "C MA"}), `"C MA" is no transport`},
		{key(Key{Kind: TransferCell, Setup: Ping, Buffers: "fresh"}), `buffers are "fresh"`},
		{key(Key{Kind: NullCell, Setup: Ring, SegmentBytes: 64}), "kind null has no segment_bytes"},
		{key(Key{Kind: TransferCell, Setup: Ring, SegmentBytes: -1}), "segment_bytes is -1"},
		{memory(Memory{PeakGBs: -1}), "-1 GB/s"}, {memory(Memory{PeakGBs: 2 * MostPeakGBs}), "GB/s"}, {memory(Memory{MTs: -5}), "memory: -5"},
		{loads(Loads{"local", 1, 5, 5, 4, 0}), "above twice cached_ns"}, {loads(Loads{"local", 1, 5, 5, 0, 0}), "above twice cached_ns"}, {loads(Loads{"local", 0, 9, 9, 1, 0}), "τ = 0"},
		{loads(Loads{"a\nb", 1, 9, 9, 1, 0}), "is unknown"}, {loads(Loads{"local", 1, -1, 9, 1, 0}), "-1 is no time"},
		{func(f *File) { *f = *moved(t); f.Cells[0].Samples[0].Watch = 9 }, "a sample is of watch 9 and the file has 4"},
		{func(f *File) { *f = *moved(t); f.Cells[0].Samples[0].Before = 0 }, "want times above 0"},
		{watch(func(w *Watch) { w.States[1].Above = 0 }), "states must rise"},
		{watch(func(w *Watch) { w.States[0].Share = 2 }), "share of a state is 2"},
		{watch(func(w *Watch) { w.CPUs = nil }), "number of CPUs is 0"},
		{watch(func(w *Watch) { w.CPUs[0] = -1 }), "CPU is -1"},
		{watch(func(w *Watch) { w.Session = -1 }), "session is -1"},
		{network(func(n *Network) { n.Name = "" }), "no name of a network"},
		{network(func(n *Network) { n.Name = "a:b" }), "no name of a network"},
		{network(func(n *Network) { n.Name = strings.Repeat("a", 33) }), "no name of a network"},
		{network(func(n *Network) { n.Name = "ib1" }), `there is no network "ib0"`},
		{network(func(n *Network) { n.Kind = "Infini Band" }), "no kind of network"},
		{network(func(n *Network) { n.Copies = -1 }), "copies is -1"},
		{network(func(n *Network) { n.Hosts = []string{""} }), "is no host"},
		{network(func(n *Network) { n.Peers = []Peer{{Address: "node2"}} }), "is no peer"},
		{func(f *File) { f.Networks = append(ib().Networks, ib().Networks...) }, "network ib0 is there twice"},
		{func(f *File) { f.Networks = make([]Network, 65) }, "65 of them"},
		{func(f *File) { *f = *ib(); f.Cells[0].Variant = Name("ib0") }, "no parameter of a network"},
	} {
		f := machine(2, numa.Local)
		tt.spoil(f)
		contains.Error(t, f.Validate(), tt.says)
		check.Error(t, f.Write(&bytes.Buffer{}), "%s: written nevertheless", tt.says)
	}
}

// After an error the old file is unchanged, and no other file is left.
func TestWriteFileReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "host.json")
	f := machine(2, numa.Local)
	must.Do(f.WriteFile(path))
	was := must.Get(os.ReadFile(path))
	f.Cells[0].Time.Center = -1
	check.Error(t, f.WriteFile(path), "an invalid file was written")
	f.Cells[0].Time.Center, f.Warnings = 1, []string{strings.Repeat("w", maxFile)}
	want := path + " was not written: taulop reads no parameter file of more than 64 MiB, and this would be one: put what is new into another file"
	err := f.WriteFile(path)
	check.True(t, errors.As(err, new(LimitError)) && err.Error() == want, "%v, want %s", err, want)
	check.Slices(t, must.Get(os.ReadFile(path)), was, "the file")
	check.Equal(t, len(must.Get(os.ReadDir(dir))), 1, "left behind")
	check.ErrorIs(t, must.Err(ReadFile(filepath.Join(dir, "missing.json"))), fs.ErrNotExist, "missing file")
}

func TestRound(t *testing.T) {
	for _, tt := range []struct {
		v      float64
		digits int
		want   string
	}{
		{2188.4567, 5, "2188.5"}, {33135268, 5, "33135000"}, {0.002, 5, "0.002"}, {99999.6, 5, "100000"}, {0, 5, "0"},
		{425.762, 17, "425.762"}, {1e18, 6, "1e+18"}, {5e-324, 5, "5e-324"}, {123456.78, 6, "123457"}, {math.Inf(1), 6, "null"},
	} {
		check.Equal(t, string(appendNumber(nil, tt.v, tt.digits)), tt.want, "%g with %d digits", tt.v, tt.digits)
	}
}

// A file of a machine with 256 cores, all τ and three placements has less than 20 MB.
func TestLargeFile(t *testing.T) {
	f := machine(256, numa.Local, numa.Spread, numa.Remote)
	text := written(t, f)
	check.AtMost(t, len(text), 20_000_000, "bytes of %d cells", len(f.Cells))
	reread(t, text)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(nil))
	few := machine(2, numa.Local)
	few.Cells = append(few.Cells[:2:2], few.Cells[len(few.Cells)-1])
	few.Plan.Sizes = few.Plan.Sizes[:2]
	few.Cells[1].Samples[0].Workers = Workers{Fastest: 0.5, Typical: 0.75, Last: 3}
	f.Add(written(f, few))
	f.Add(written(f, FromText(must.Get(ReadText(strings.NewReader(small), "f")), nil)))
	f.Add(written(f, ib()))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(bytes.NewReader(data), "f")
		if err != nil {
			named := strings.HasPrefix(err.Error(), "f:") || strings.HasPrefix(err.Error(), "f is empty")
			check.True(t, file == nil && named && !strings.Contains(err.Error(), "\n"), "error without file and line: %q", err)
			return
		}
		first := written(t, file)
		check.Slices(t, first, written(t, reread(t, first)), "written twice")
		if table, err := file.Table(Selection{}); err == nil {
			fillAndWrite(table)
		}
		if gamma, err := file.Gamma(""); err == nil {
			fitted, _ := gamma.Fit(customarySizes)
			must.Do(WriteGammaText(io.Discard, fitted))
		}
		file.Y(Selection{})
		file.C("", false)
		for _, n := range file.Networks {
			if _, table, err := file.Network(n.Name); err == nil {
				fillAndWrite(table)
			}
		}
	})
}

// fillAndWrite writes a table that can be filled.
func fillAndWrite(table *Table) {
	if full, _, err := table.Fill(); err == nil {
		must.Do(WriteText(io.Discard, full))
	}
}
