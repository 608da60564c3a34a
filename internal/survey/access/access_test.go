package access

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// naive is a pass as in Fig. 7, element by element.
func naive[E element](operation string, a []E, n, stride int, x E) (sum float64) {
	for k := range n {
		e := &a[k*stride]
		switch operation {
		case "read":
			sum += float64(*e)
		case "write":
			*e = x
		case "multiply":
			*e *= x
		case "divide":
			*e = x / *e
		}
	}
	return sum
}

func testLoops[E element](t *testing.T, typ string) {
	for _, operation := range Operations {
		for _, stride := range []int{1, 2, 3, 7, 64} {
			for n := 1; n < 200; n++ {
				got, want := make([]E, n*stride), make([]E, n*stride)
				for i := range got {
					got[i] = E(i%1000) + 1
				}
				copy(want, got)
				loop := loopOf[E](operation, typ, stride)
				sum, wanted := loop(got, n, stride, 840), naive(operation, want, n, stride, 840)
				check.Need(t, sum == wanted && slices.Equal(got, want),
					"%s %s, n = %d, stride %d: %g and %v, want %g and %v", operation, typ, n, stride, sum, got, wanted, want)
			}
		}
	}
}

func testDot[E element](t *testing.T, typ string) {
	vector := make([]E, 32)
	for i := range vector {
		vector[i] = E(i%7) + 1
	}
	for _, stride := range []int{1, 2, 3, 7, 64} {
		multiply := dotOf[E](typ, stride)
		for n := 1; n < 200; n++ {
			a, want := make([]E, n*stride), 0.
			for i := range a {
				a[i] = E(i%100) + 1
			}
			for k := range n {
				want += float64(a[k*stride] * vector[k%len(vector)])
			}
			got := inner(multiply, a, vector, n, stride)
			check.Need(t, got == want, "dot %s, n = %d, stride %d: found %g, want %g", typ, n, stride, got, want)
		}
	}
	long := make([]E, 500) // several rounds, no repetition
	for i := range long {
		long[i] = E(i%10) + 1
	}
	for n := 1; n <= len(long); n++ {
		want := 0.
		for k := range n {
			want += float64(long[k] * long[k])
		}
		got := dotOf[E](typ, 1)(long, long, n, 1)
		check.Need(t, got == want, "dot %s of %d elements: found %g, want %g", typ, n, got, want)
	}
}

func TestLoops(t *testing.T) {
	t.Log(loopsName())
	testLoops[int32](t, "int32")
	testLoops[float32](t, "float32")
	testLoops[float64](t, "float64")
	testDot[int32](t, "int32")
	testDot[float32](t, "float32")
	testDot[float64](t, "float64")
}

// Checks detect missing passes and changes of other elements.
func TestChecksCatch(t *testing.T) {
	for _, operation := range Operations[1:] {
		for _, typ := range Types {
			p := Pass{operation, typ, 100, 3}
			w, mem := p.work(), make([]byte, p.Bytes())
			w.Lay(mem, 0)
			check.Error(t, w.Check(mem, 1), "%s: a missing pass is not detected", p.Variant())
			w.Lay(mem, 0)
			w.Pass(mem, 1)
			check.NoError(t, w.Check(mem, 1), "%s", p.Variant())
			check.NoError(t, w.Check(mem, 0), "%s: the check does not restore the array", p.Variant())
			w.Pass(mem, 1)
			*(*byte)(unsafe.Pointer(&mem[ElementBytes[typ]])) ^= 1
			check.Error(t, w.Check(mem, 1), "%s: a change between the elements is not detected", p.Variant())
		}
	}
	for _, operation := range []string{"read", Dot} {
		for _, typ := range Types {
			for _, stride := range []int{1, 3} {
				p := Pass{operation, typ, 100_003, stride} // float32 rounds
				w, mem := p.work(), make([]byte, p.Bytes())
				w.Lay(mem, 0)
				got := w.Pass(mem, 1)
				check.True(t, got == w.Want && got != 0, "%s: found %g, want %g", p.Variant(), got, w.Want)
				p.N--
				check.True(t, p.work().Want != w.Want, "%s: the sum without an element is the same", p.Variant())
			}
		}
	}
}

// Fig. 6: N·S elements; a line of 64 bytes holds 16 int32.
func TestLines(t *testing.T) {
	try := func(pass Pass, bytes, lines int) {
		t.Helper()
		b, l := pass.Bytes(), pass.Lines(64)
		check.True(t, b == bytes && l == lines, "%+v: %d bytes, %d lines; want %d, %d", pass, b, l, bytes, lines)
	}
	try(Pass{"read", "int32", 512, 1}, 2048, 32)
	try(Pass{"read", "int32", 512, 8}, 16384, 256)
	try(Pass{"read", "int32", 512, 16}, 32768, 512)
	try(Pass{"read", "int32", 512, 32}, 65536, 512)
	try(Pass{"read", "float64", 512, 1}, 4096, 64)
	try(Pass{"read", "float64", 1, 1}, 8, 1)
	try(Pass{"read", "float64", 9, 1}, 72, 2)
}

func TestSized(t *testing.T) {
	for of, want := range map[[2]int]string{{7, 1}: "smaller than one float64", {64, 9}: "stride 9 is beyond", {64, 8}: ""} { // size and stride
		passes, err := Sized([]string{"read"}, []string{"float64"}, []int{of[0]}, []int{of[1]})
		contains.Error(t, err, want)
		check.True(t, err != nil || len(passes) == 1 && passes[0].N == 1, "%v: %v", of, passes)
	}
}

// Passes at several strides over arrays of given sizes, which hold whole strides, share tables and panels by
// size; passes over given numbers of elements share them by number.
func TestLengths(t *testing.T) {
	try := func(passes []Pass, want []string) { // want: titles and panels
		t.Helper()
		f := &params.File{Cells: lists.Map(passes, func(p Pass) params.Cell {
			return params.Cell{Key: params.Key{Kind: params.AccessCell, Bytes: p.Bytes(), Variant: p.Variant()}, Time: fit.Unbounded(float64(p.N))}
		})}
		got := lists.Map(Tables(f), func(t view.Table) string {
			words, _, _ := strings.Cut(strings.TrimPrefix(t.Title, "Passes over "), ",")
			return words
		})
		for _, p := range profiles(f.Cells) {
			got = append(got, p.Panel)
			check.Equal(t, len(p.Points), 3, "strides of %s", p.Panel)
		}
		check.Slices(t, got, want, "panels")
	}
	try(must.Get(Sized([]string{"read"}, []string{"float64"}, []int{64 << 10, 1 << 20}, []int{1, 3, 16})), []string{"arrays of 64K", "arrays of 1M", "float64, 64K", "float64, 1M"})
	try(Grid([]string{"read"}, []string{"float64"}, []int{1024}, []int{1, 3, 16}), []string{"1024 elements", "float64, N = 1K"})
}

// The arena of a machine with 32 MB of cache, and little memory.
func TestArena(t *testing.T) {
	m := &numa.Machine{Caches: []numa.Cache{{Level: 3, Type: "Unified", Bytes: 32 << 20, CPUs: numa.CPUSet{0}}}}
	place := numa.Placement{Workers: []numa.Worker{{CPU: numa.CPU{ID: 0}}}}
	passes := Grid(Operations, Types, []int{1 << 20}, []int{1, 2}) // 16 MB at most
	try := func(free int64, bytes, warned int, says string) {
		t.Helper()
		got, warnings, err := arena(setups.ArenaOf(m, place, setups.ArenaCaches), m, place, passes, []bool{false, true}, free)
		contains.Error(t, err, says)
		check.Equal(t, got, bytes, "%d bytes are free: bytes", free)
		check.Equal(t, len(warnings), warned, "%d bytes are free: warnings", free)
	}
	try(1<<30, 129<<20, 0, "")
	try(128<<20, 32<<20, 1, "")
	try(60<<20, 0, 0, "may take 15 MB")
}

// More elements take longer on any machine.
func TestMeasure(t *testing.T) {
	m := surveytest.Machine(t, 1)
	place := must.Get(m.Place(numa.Local, 1))
	passes := append(Grid([]string{"read", "divide"}, []string{"float64"}, []int{64, 1 << 14}, []int{1, 16}), Grid([]string{"multiply"}, Types, []int{64, 1 << 14}, []int{1})...)
	cells := surveytest.Run(t, m, Survey, Request{Passes: passes, Caches: []bool{false, true}, Placement: place, ArenaBytes: 4 << 20}).Cells
	check.Need(t, len(cells) == 2*len(passes), "%d cells, want %d", len(cells), 2*len(passes))
	times := lists.ToMap(cells, func(c params.Cell) (params.Key, float64) { return c.Key, c.Time.Center })
	for k, few := range times {
		if p, _ := PassOf(k); p.N == 64 {
			p.N = 1 << 14
			k.Bytes = p.Bytes()
			check.AtLeast(t, times[k], 2*few, "%v: ns of 16384 elements (with 64 of them the compiler removed the loop)", k)
		}
	}
	check.Equal(t, len(Fits(cells, 64)), 4, "fits")
}
