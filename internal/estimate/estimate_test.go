package estimate

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// examples are the program files of the documentation.
const examples = "../../docs/programs"

func read(t *testing.T, text string) *Program {
	t.Helper()
	return must.Get(parse([]byte(text)))
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "it has no phases"},
		{"rank = 3\n[[phase]]\n", `line 1: there is no key "rank"; did you mean "ranks"? Known are name, ranks, phase`},
		{"[[phase]]\npass = \"read\"\nstrid = 7\n", `line 3: there is no key "strid"; did you mean "stride"?`},
		{"[[phase]]\n", "line 1, phase 1: it has 0 of the keys pass, message and disk"},
		{"[[phase]]\npass = \"read\"\ndisk = \"read\"\n", "it has 2 of the keys"},
		{"\n[[phase]]\nname = \"sum\"\npass = \"raed\"\n", `line 2, phase 1 (sum): there is no operation "raed"; did you mean "read"?`},
		{"[[phase]]\npass = \"read\"\ntype = \"float6\"\n", `did you mean "float64"?`},
		{"[[phase]]\npass = \"read\"\nn = 1\n", "needs the type"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\n", "needs the number of its elements"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = \"1G\"\nstride = 8\n", "an array has at most"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = 0\n", "n is 0: give a number from 1"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = 1.5\n", "n is no whole number"},
		{"[phase]\npass = \"read\"\ntype = \"int32\"\nn = 1\ntimes = -3\n", "phase 1: times is -3: give a number from 1"},
		{"\ufeff[[phase]]\npass = 3\n", "line 2: cannot decode TOML integer; docs/"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = 1\nbytes = 1\n", "a pass has no bytes: leave it out"},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = 1\ncache = \"out\"\n", `cache is "out": write "in" or "off"`},
		{"[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = \"1Q\"\n", "line 4: size \"1Q\" is not a size"},
		{"ranks = -1\n[[phase]]\n", "ranks is -1: give a number from 1"},
		{"ranks = 100_000_000\n[[phase]]\n", "ranks is 100000000: give a number from 1 to"},
		{"[[phase]]\nmessage = \"bcast\"\n", "a message needs ranks"},
		{"ranks = 2\n[[phase]]\nmessage = \"permutations\"\n", `did you mean "permutation"?`},
		{"ranks = 2\n[[phase]]\nmessage = \"bcast:binominal\"\n", `did you mean "bcast:binomial"?`},
		{"ranks = 2\n[[phase]]\nmessage = \"permutation\"\ndistance = 2\n", "a distance from 1 to 1"},
		{"ranks = 2\n[[phase]]\nmessage = \"bcast\"\nroot = 2\n", "a root from 0 to 1"},
		{"ranks = 2\n[[phase]]\nmessage = \"bcast\"\n", "a message needs its size"},
		{"ranks = 2\n[[phase]]\nmessage = \"allreduce\"\nbytes = 8\nroot = 1\n", "allreduce has no root: leave it out"},
		{"ranks = 3\n[[phase]]\nmessage = \"bcast:linear\"\nbytes = 8\ndistance = 2\n", "bcast has no distance: leave it out"},
		{"ranks = 2\n[[phase]]\nmessage = \"barrier\"\nbytes = 8\n", "barrier has no bytes: leave it out"},
		{"ranks = 3\n[[phase]]\nmessage = \"allgather:recursive-doubling\"\n", "a power of two"},
		{"ranks = 2\n[[phase]]\nmessage = \"bcast\"\nbytes = 9000000000000000000\n", "bytes in all"},
		{"[[phase]]\ndisk = \"wriet\"\nbytes = 1\n", `did you mean "write"?`},
		{"[[phase]]\ndisk = \"read\"\n", "needs its size"},
		{"[[phase]]\ndisk = \"read\"\nbytes = 1\ncache = \"off\"\n", `cache is "off": write "in" or "out"`},
		{"[[phase]]\ndisk = \"read\"\nbytes = 1\ntimes = 2_000_000_000_000_000_000\n", "is the most"},
		{"[[phase]]\n[phase.pass]\n", "line"},
		{"name = \"a\n", "line 1"},
		{strings.Repeat("[[phase]]\n", maxPhases+1), "10001 phases"},
		{strings.Repeat("#", maxFile+1), "more than 1048576 bytes"},
	} {
		contains.Error(t, must.Err(parse([]byte(tt.text))), tt.want)
	}
}

// simple is a machine with passes of 2 ns per element, 10 ns at stride 64, disk transfers of 1 ms plus 1 ns per
// byte, and permutations of two ranks of 1 µs plus 1 ns per byte.
func simple() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version}
	for _, n := range []int{1 << 10, 1 << 14} {
		for stride, ns := range map[int]float64{1: 2, 64: 10} {
			p := access.Pass{Operation: "read", Type: "float64", N: n, Stride: stride}
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.AccessCell, Tau: 1, Bytes: p.Bytes(), Variant: p.Variant()},
				Time: fit.Estimate{Center: ns * float64(n), Lo: 0.9 * ns * float64(n), Hi: 1.1 * ns * float64(n), N: 10}})
		}
	}
	for m := 1 << 10; m <= 1<<20; m *= 4 {
		f.Cells = append(f.Cells,
			params.Cell{Key: params.Key{Kind: params.PatternCell, Tau: 2, Bytes: m}.Named("permutation-1"), Time: exactly(1e3 + float64(m))},
			params.Cell{Key: params.Key{Kind: params.DiskCell, Tau: 1, Bytes: m}.Named("read-direct"), Time: exactly(1e6 + float64(m))})
	}
	return f
}

func exactly(ns float64) fit.Estimate {
	return fit.Estimate{Center: ns, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

func TestEstimate(t *testing.T) {
	e := must.Get(NewMachine("host", []*params.File{{}, simple()}, model.Choice{}).Estimate(must.Get(ReadFile("testdata/kinds.toml"))))
	want := []float64{10 * 2 * 4096, math.Sqrt(20) * 4096, 2 * (1000 + 3000), 1e6 + 2000, 1e6 + 4<<20}
	sum := 0.
	for i, p := range e.Phases {
		check.Near(t, p.Total.Center/want[i], 1, 1e-6, "%s: share of the time wanted", p.Phase)
		check.Equal(t, p.Extrapolated, (i == 4), "%s: extrapolated", p.Phase)
		sum += want[i]
	}
	check.True(t, math.Abs(e.Total.Center/sum-1) <= 1e-6 && !e.Total.Known() && e.Phases[0].Total.Known() && e.Extrapolated,
		"total %+v, want %g; an interval only of the passes", e.Total, sum)
	p := e.Phases[1]
	check.True(t, p.Phase == "read 4K float64, stride 8" && math.Abs(p.Total.Lo/(0.9*want[1])-1) <= 1e-6, "%+v", p)
}

// Cells of several files of one host are merged; files of other hosts add kinds of cells that are missing.
func TestSeveralFiles(t *testing.T) {
	of := func(host, variant string, bytes int, ns float64) *params.File {
		f := &params.File{Cells: []params.Cell{{Key: params.Key{Kind: params.AccessCell, Tau: 1, Bytes: bytes}.Named(variant), Time: exactly(ns)}}}
		f.Provenance.Hostname = host
		return f
	}
	columns, rows := of("a", "read-float64-4", 32*1000, 4000), of("a", "read-float64-1", 8*1000, 1000)
	others, writes := of("b", "read-float64-2", 16*1000, 9000), of("b", "write-float64-1", 8*1000, 7000)
	same := of("a", "read-float64-4", 32*1000, 1)
	same.Cells[0].Placement = "spread"
	e := must.Get(NewMachine("", []*params.File{columns, others, same, rows, writes}, model.Choice{}).Estimate(must.Get(ReadFile("testdata/strides.toml"))))
	for i, want := range []float64{2000, 7000, 4000} {
		check.Near(t, e.Phases[i].Total.Center, want, 1e-6, "%s", e.Phases[i].Phase)
	}
}

// A time of 0 counts as unknown: shares of it would be NaN.
func TestZero(t *testing.T) {
	pass := access.Pass{Operation: "read", Type: "int32", N: 1000, Stride: 1}
	f := &params.File{Cells: []params.Cell{{Key: params.Key{Kind: params.AccessCell, Tau: 1, Bytes: pass.Bytes(), Variant: pass.Variant()}, Time: exactly(0)}}}
	p := read(t, "[[phase]]\npass = \"read\"\ntype = \"int32\"\nn = 1000\n")
	contains.Error(t, must.Err(NewMachine("m", []*params.File{f}, model.Choice{}).Estimate(p)), "a time of 0 for it")
}

// Advice names the alternative that saves most, and the saving; TestSection6 has passes at stride 1, and TestTable7
// pairs at once.
func TestAdvice(t *testing.T) {
	for _, tt := range []struct{ phases, want string }{
		{"[[phase]]\nname = \"rows\"\npass = \"read\"\ntype = \"float64\"\nn = 1024\n",
			"Worth improving first: rows, 100 % of the time; these parameters know no cheaper way to do it."},
		{"[[phase]]\nname = \"rows\"\npass = \"read\"\ntype = \"float64\"\nn = 16384\ntimes = 50\n[[phase]]\nmessage = \"permutation\"\nbytes = 1024\ntimes = 1000\n",
			"Worth improving first: permutation of 1K, 55 % of the time; as one message of 1000K it would take 1.02 ms instead of 2.02 ms, and all of it 2.66 ms."},
		{"[[phase]]\nname = \"log\"\ndisk = \"read\"\nbytes = 1024\ntimes = 1000\n",
			"Worth improving first: log, 100 % of the time; as one transfer of 1000K it would take 2.02 ms instead of 1.00 s, and all of it 2.02 ms."},
	} {
		e, err := NewMachine("host", []*params.File{simple()}, model.Choice{}).Estimate(read(t, "ranks = 2\n"+tt.phases))
		check.True(t, err == nil && e.Advice == tt.want, "%v\n%s\nwant\n%s", err, e.Advice, tt.want)
	}
}

func TestLacking(t *testing.T) {
	try := func(phase, law string, kind params.Kind) {
		t.Helper()
		var lacks *LackingError
		_, err := NewMachine("host", []*params.File{simple()}, model.Choice{Model: law}).Estimate(read(t, "ranks = 2\n[[phase]]\n"+phase))
		check.True(t, errors.As(err, &lacks) && lacks.Kind == kind, "%s: %v, want one of %s", phase, err, kind)
	}
	try("pass = \"write\"\ntype = \"float64\"\nn = 10\n", "", params.AccessCell)
	try("pass = \"read\"\ntype = \"float64\"\nn = 10\ncache = \"off\"\n", "", params.AccessCell)
	try("message = \"bcast\"\nbytes = 10\n", "", params.TransferCell)
	try("message = \"permutation\"\nbytes = 10\n", "", params.TransferCell) // below the measured sizes
	try("message = \"permutation\"\nbytes = 10\ncache = \"off\"\n", IMH, params.PatternCell)
	try("message = \"reduce\"\nbytes = 1024\nroot = 1\n", "", params.TransferCell)
	try("disk = \"write\"\nbytes = 10\n", "", params.DiskCell)
	try("disk = \"read\"\nbytes = 10\ncache = \"in\"\n", IMH, params.DiskCell)
}

// Messages of a published table: broadcasts, and a reduction, for which γ is missing.
func TestMessages(t *testing.T) {
	table := must.Get(params.ReadText(strings.NewReader("#m\t2\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n"+
		"1\t0.0000005\t0.000000001\t0.000000001\n65536\t0.0000005\t0.000065536\t0.000065536\n"), "SHM.txt"))
	m := NewMachine("host", []*params.File{simple(), params.FromText(table, nil)}, model.Choice{})
	e := must.Get(m.Estimate(read(t, "ranks = 2\n[[phase]]\nmessage = \"bcast:linear\"\nbytes = \"8K\"\n[[phase]]\nmessage = \"bcast\"\nbytes = \"8K\"\ntimes = 2\n")))
	check.Near(t, e.Phases[0].Total.Center, 16_884, 1, "0.5 + 2·8.192 µs")
	check.Near(t, e.Phases[1].Total.Center, 2*16_384, 1, "the cheapest, twice 2·8.192 µs")
	check.Equal(t, e.Phases[0].From, "τ-Lop, bcast:linear", "from")
	var lacks *LackingError
	_, err := m.Estimate(read(t, "ranks = 2\n[[phase]]\nmessage = \"allreduce\"\nbytes = 1024\n"))
	check.True(t, errors.As(err, &lacks) && lacks.Kind == params.GammaCell, "%v, want γ to be missing", err)
}

// A platform of the report: its parameters in µs, ns and MB/s.
type platform struct {
	name                          string
	startup, bandwidth            float64 // Table 4
	tn, tc                        float64 // Table 3; the IBM SP's alone
	read, readMBs, write, diskMBs float64 // Table 6: startup in ms
}

var (
	sp     = platform{"IBM SP", 54, 50, 120, 135, 1.0, 255, 1.0, 155}
	t3e    = platform{"Cray T3E", 29, 100, 0, 0, 1.0, 266, 3.5, 149}
	origin = platform{"Origin 2000", 85, 15, 0, 0, 1.5, 90, 2.0, 70}
)

// file has a platform's times at some sizes, to which fits find its parameters.
//
// Table 3 has a third cost, T_e = 100 ns for each element of the stride, "to compensate the difference in the
// slopes" of Fig. 45. The report's prediction of section 6 leaves it out, see TestSection6, and so does file.
func (p platform) file() *params.File {
	f := &params.File{Format: params.Format, Version: params.Version}
	f.Provenance.Hostname = p.name
	add := func(kind params.Kind, variant string, tau, bytes int, ns float64) {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: kind, Placement: params.Published, Tau: tau, Bytes: bytes}.Named(variant), Time: exactly(ns)})
	}
	if p.tn > 0 {
		for _, operation := range []string{"read", "write", access.Dot} {
			for _, n := range []int{512, 2048} {
				for _, stride := range []int{1, 4, 512} {
					a := access.Pass{Operation: operation, Type: "float64", N: n, Stride: stride}
					add(params.AccessCell, a.Variant().String(), 1, a.Bytes(), p.tn*float64(n)+p.tc*float64(a.Lines(lineBytes)))
				}
			}
		}
	}
	for m := 1 << 10; m <= 16<<20; m *= 16 {
		add(params.PatternCell, "permutation-1", 8, m, 1e3*p.startup+1e3*float64(m)/p.bandwidth)
		add(params.DiskCell, "read-direct", 1, m, 1e6*p.read+1e3*float64(m)/p.readMBs)
		add(params.DiskCell, "write-direct", 1, m, 1e6*p.write+1e3*float64(m)/p.diskMBs)
	}
	return f
}

func (p platform) estimate(t *testing.T, file string, others ...platform) *Estimate {
	t.Helper()
	program := must.Get(ReadFile(filepath.Join(examples, file)))
	files := lists.Map(append([]platform{p}, others...), platform.file)
	return must.Get(NewMachine("host", files, model.Choice{Model: IMH}).Estimate(program))
}

// Section 6: 512 × 512 on each node of a T3E; predicted 68.5 s, measured 54.6 s. The report does not tell the
// number of nodes. The prediction fits two steps on 2 × 2 nodes with a cache line for every element of a column
// of C: 2·512³·(120 + 135) ns by Table 3 are 68.45 s, and the messages by Table 4 add 0.04 s.
func TestSection6(t *testing.T) {
	plain, transposed := t3e.estimate(t, "cannon-t3e.toml", sp), t3e.estimate(t, "cannon-t3e-transposed.toml", sp)
	check.Near(t, plain.Total.Center/1e9, 68.5, 0.05, "plain, s")
	// The transposition took 109 ms.
	check.Near(t, (transposed.Phases[0].Total.Center+transposed.Phases[1].Total.Center)/1e6, 109, 7, "transposition, ms")
	// The transposed variant took 8.6 s. By Table 3, which has the SP's costs, it takes 36.8 s: 120 ns are
	// too long for neighbouring elements.
	check.Near(t, transposed.Total.Center/1e9, 36.9, 0.05, "transposed, s")
	check.Equal(t, plain.Advice, "Worth improving first: rows of B by columns of C, 100 % of the time; at stride 1 it would take 36.7 s instead of 68.5 s, and all of it 36.8 s.", "Advice")
}

// Table 7: the boundary exchange of six ranks took 323.54 µs on the SP and 323.03 µs on the T3E. Eq. (7), with
// three startups and 7,440 or 14,880 bytes, gives 310.80 and 235.80 µs. The report's 364.80 µs for the SP has
// one startup more than its equation.
func TestTable7(t *testing.T) {
	try := func(on platform, file string, predicted float64) {
		t.Helper()
		check.Near(t, on.estimate(t, file).Total.Center/1e3, predicted, 0.01, "%s", on.name)
	}
	try(sp, "boundary.toml", 310.80)
	try(sp, "boundary-serial.toml", 3*310.80) // a pair at a time
	try(t3e, "boundary-8.toml", 235.80)
	try(origin, "boundary.toml", 3*85+7440./15)
	want := "Worth improving first: left neighbour, 41 % of the time; with all pairs at once it would take 129 µs instead of 387 µs, and all of it 675 µs."
	check.Equal(t, sp.estimate(t, "boundary-serial.toml").Advice, want, "estimate")
}

// Tables 4 to 6 in one program: the permutation and scatter of Table 5, and the lines of Table 6.
func TestTables5And6(t *testing.T) {
	p := must.Get(ReadFile("testdata/patterns.toml"))
	e := must.Get(NewMachine("host", []*params.File{sp.file()}, model.Choice{Model: IMH}).Estimate(p))
	for i, ms := range []float64{320, 140, 11, 11} {
		check.Near(t, e.Phases[i].Total.Center/1e6, ms, 0.1, "%s", e.Phases[i].Phase)
	}
}

// The report's parameters are files beside the examples.
func TestPublishedFiles(t *testing.T) {
	for name, p := range map[string]platform{"ibm-sp.json": sp, "cray-t3e.json": t3e} {
		path, file := filepath.Join(examples, name), p.file()
		if os.Getenv("TAULOP_UPDATE") != "" {
			must.Do(file.WriteFile(path))
		}
		got := must.Get(params.ReadFile(path))
		var written bytes.Buffer
		must.Do(file.Write(&written))
		want := must.Get(params.Read(&written, name))
		check.True(t, slices.EqualFunc(got.Cells, want.Cells, func(a, b params.Cell) bool { return a.Key == b.Key && a.Time.Center == b.Time.Center }),
			"%s is not what the tables say: TAULOP_UPDATE=1 writes it", path)
	}
}

// Both variants run on one rank and on four, which are oversubscribed on fewer CPUs.
func TestRun(t *testing.T) {
	m := surveytest.Machine(t, 1)
	for _, c := range []Cannon{{N: 40, P: 1}, {N: 37, P: 4}} {
		f := surveytest.Run(t, m, Survey, c)
		check.Need(t, len(f.Cells) == 2, "%d cells, want 2", len(f.Cells))
		// simple has no products, so there is no estimate.
		check.Error(t, must.Err(c.Runs(f, NewMachine("host", []*params.File{simple()}, model.Choice{}))), "an estimate without parameters")
		for i := range f.Cells {
			f.Cells[i].Time = exactly(1e6)
		}
		runs := must.Get(c.Runs(f, NewMachine("host", []*params.File{sp.file(), multiplying()}, model.Choice{})))
		for _, r := range runs {
			want := r.Total.Center/1e6 - 1
			check.True(t, r.Error == want && r.Ranks == c.P, "%+v: error %g of %s, want %g", c, r.Error, r.Variant, want)
		}
	}
}

// multiplying has the parameters of Cannon's multiplication that the SP's tables lack.
func multiplying() *params.File {
	f := &params.File{}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.AccessCell, Tau: 1, Bytes: 8 << 10}.Named("multiply-float64-1"), Time: exactly(1e3)})
	for _, m := range []int{1 << 10, 1 << 20} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.PatternCell, Tau: 4, Bytes: m}.Named("permutation-1"), Time: exactly(float64(m))})
	}
	return f
}

// One wrong element of a product is found.
func TestChecksProducts(t *testing.T) {
	run := must.Get(Cannon{N: 24, P: 4}.lay(must.Get(surveytest.Machine(t, 1).Place(numa.Local, 4)), true, false))
	defer run.close()
	must.Get(run.once(context.Background()))
	for at := range run.ranks[3].a {
		a := &run.ranks[3].a[at]
		*a++
		contains.Error(t, run.check(run.ranks[3]), "cannot be trusted")
		*a--
	}
}

func TestCannonCheck(t *testing.T) {
	for c, want := range map[Cannon]string{
		{512, 1}: "", {8, 4}: "", {2048, 1024}: "", {7, 1}: "from 8 to 2048", {2049, 1}: "from 8 to 2048",
		{512, 2}: "no square", {512, 0}: "no square", {512, -4}: "no square", {512, 1025}: "no square",
	} {
		contains.Error(t, c.Check(), want)
		if want == "" {
			c.Program(Plain)
			c.Program(Transposed)
		}
	}
}

// The examples are the programs of Cannon.Program.
func TestExamplesAreRun(t *testing.T) {
	for file, variant := range map[string]string{"cannon.toml": Plain, "cannon-transposed.toml": Transposed} {
		p, want := must.Get(ReadFile(filepath.Join(examples, file))), (Cannon{512, 1}).Program(variant)
		check.True(t, p.Name == want.Name && p.Ranks == want.Ranks && slices.Equal(p.Phases, want.Phases), "%s is\n%+v, Cannon.Program\n%+v", file, *p, *want)
	}
}
