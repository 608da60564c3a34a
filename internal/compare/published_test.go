package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// publishedMachine is one of those in TAULOP_SHARED.
func publishedMachine(t *testing.T, name string) Machine {
	t.Helper()
	path := snapshot.Shared(t, "params", name, "SHM.txt")
	in := must.Get(os.Open(path))
	defer in.Close()
	table := must.Get(params.ReadText(in, path))
	return Machine{Name: name, Path: path, File: params.FromText(table, nil)}
}

// By hand, from the rows of m = 8192 in params/metropolis/SHM.txt and
// params/lusitania/SHM.txt, in ns:
//
//	            L(8K,1)   L(8K,3)   L(8K,4)   L(8K,8)   L(8K,16)  L(8K,17)  L(8K,19)
//	metropolis  3046.600  5012.675  5278.775  6548.225
//	lusitania   1892.055  3157.704  2701.787  3025.264  3905.017  3929.212  4221.770
func TestPublishedMachines(t *testing.T) {
	c := must.Get(New([]Machine{publishedMachine(t, "metropolis"), publishedMachine(t, "lusitania")}, Choice{}))
	check.Equal(t, len(c.Tables), 1, "tables")
	table := c.Tables[0]
	check.Equal(t, table.Channel, Channel{params.Published, params.Published, false, 8192}, "channel")
	check.Equal(t, len(table.Taus), 20, "numbers of transfers")
	metropolis, lusitania := &table.Rows[0].Curve, &table.Rows[1].Curve
	try := func(what string, got, want float64) {
		t.Helper()
		check.Near(t, got, want, 1e-4*want, "%s", what)
	}
	try("L(8K,1) of metropolis", table.Rows[0].Alone().Center, 3046.600)
	try("L(8K,1) of lusitania", table.Rows[1].Alone().Center, 1892.055)
	try("A(8) of metropolis", at(metropolis, 8).A.Center, 3.7220)               // 8·3046.600/6548.225
	try("A(8) of lusitania", at(lusitania, 8).A.Center, 5.0034)                 // 8·1892.055/3025.264
	try("A(3) of metropolis", at(metropolis, 3).A.Center, 1.8233)               // 3·3046.600/5012.675
	try("A(3) of lusitania", at(lusitania, 3).A.Center, 1.7976)                 // 3·1892.055/3157.704: less than metropolis
	try("A(4) of metropolis", at(metropolis, 4).A.Center, 2.3086)               // 4·3046.600/5278.775
	try("A(4) of lusitania", at(lusitania, 4).A.Center, 2.8012)                 // 4·1892.055/2701.787: more
	try("bandwidth of metropolis", at(metropolis, 8).Bandwidth.Center, 10.0082) // 8·8192/6548.225
	try("bandwidth of lusitania", at(lusitania, 8).Bandwidth.Center, 21.6629)   // 8·8192/3025.264
	try("ratio of L(8K,1)", at(lusitania, 1).Ratio.Value, 0.62104)              // 1892.055/3046.600
	try("ratio of L(8K,8)", at(lusitania, 8).Ratio.Value, 0.46200)              // 3025.264/6548.225
	r := at(lusitania, 8).Ratio
	check.True(t, !r.Tested && !r.Differs && at(metropolis, 8).Ratio == nil && at(lusitania, 9).Ratio == nil, "ratios: %+v", r)
	// From 7 to 8 metropolis still gains: 7·8192/6593.125 = 8.70 to 10.01 GB/s.
	check.Equal(t, table.Rows[0].Saturation, Saturation{Tau: 8}, "where metropolis saturates")
	// lusitania moves most at 19, 36.9 GB/s: 4 % more than at 17, 35.4 GB/s, but 10 % more than at 16, 33.6 GB/s.
	s := table.Rows[1].Saturation
	check.True(t, s.Reached && s.Tau == 17, "lusitania saturates at %+v", s)
	contains.All(t, table.Conclusion,
		"Which machine carries more transfers at once was not tested (A(8): lusitania 5.00, metropolis 3.72).",
		"Which machine moves more bytes a second was not tested (τ = 8: lusitania 21.7, metropolis 10.0 GB/s).",
	)
	// L(8K,6) of lusitania, 2803 ns, is below L(8K,3), 3158 ns.
	check.True(t, len(c.Warnings) == 2 && strings.Contains(c.Warnings[0].Error(), "metropolis, lusitania: no samples") && strings.Contains(c.Warnings[1].Error(), "lusitania: at a compared size L is outside its bounds"),
		"warnings %q", c.Warnings)
}

func TestTake(t *testing.T) {
	m := publishedMachine(t, "metropolis")
	was := m.File
	m.Take("ring", numa.Local)
	curves, err := Curves("", m.File)
	check.True(t, err == nil && curves[0].Setup == "ring" && curves[0].Placement == numa.Local, "%+v, %v", curves[0].Channel, err)
	check.True(t, was.Cells[0].Setup == params.Published && !m.Published(), "the file had %+v", was.Cells[0].Key)
	must.Do(m.File.Validate())
}

// A file that has nothing in common with the others is left out. The warning says what would help: published
// tables can be taken for a setup, whether they are left out or compared.
func TestLeftOut(t *testing.T) {
	times := map[int]float64{1: 100, 2: 150}
	table := func(name string) Machine {
		return machine(name, times, func(f *params.File) {
			f.Plan.Setups = []string{params.Published}
		}, each(func(c *params.Cell) { c.Setup, c.Placement = params.Published, params.Published }))
	}
	ping := each(func(c *params.Cell) { c.Setup = "ping" })
	try := func(of []Machine, who string, help error) {
		t.Helper()
		c := must.Get(New(of, Choice{}))
		i := slices.IndexFunc(c.Warnings, func(w Warning) bool { return strings.Contains(w.Error(), "not compared") })
		check.True(t, i >= 0 && c.Warnings[i].Who() == who && errors.Is(c.Warnings[i], help), "%s: %q", who, c.Warnings)
		check.Equal(t, len(c.Machines), 2, "without %s: number of machines", who)
		check.Equal(t, c.Means, "", "without %s: means", who)
	}
	try([]Machine{machine("vm", times), table("a"), table("b")}, "vm", ErrPublished)
	try([]Machine{machine("vm", times), machine("vm2", times), table("a")}, "a", ErrPublished)
	try([]Machine{machine("vm", times), machine("vm2", times), machine("vm3", times, ping)}, "vm3", ErrChoice)
	try([]Machine{machine("empty", nil), machine("vm", times), machine("vm2", times)}, "empty", ErrChoice)
	try([]Machine{moved("vm", 1, stay{60, 0.5, 1}, stay{240, 0.5, 1}), table("a"), moved("vm2", 2, stay{60, 0.5, 1}, stay{240, 0.5, 1})}, "a", ErrPublished)
}

// A fleet that is reduced file by file compares as one that is read as a whole, and files that cannot
// be read are named in their order.
func TestReadReduced(t *testing.T) {
	dir := t.TempDir()
	paths := nodes.Write(t, dir, 24)
	copied := must.Get(os.ReadFile(paths[1]))
	for name, text := range map[string]string{"bad.json": "{", "same-host.json": string(copied)} {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	machines, skipped, err := ReadAll(paths)
	must.Do(err)
	want := must.Get(NewOverview(lists.Map(machines, Reduce), Choice{}))
	last := 0
	reduced, skippedToo, err := ReadReduced(t.Context(), paths, "", func(done, of int) {
		check.Equal(t, done, last+1, "files that are done")
		check.Equal(t, of, len(paths), "files in all")
		last = done
	})
	check.Need(t, err == nil && last == len(paths) && len(skippedToo) == 1 && fmt.Sprint(skippedToo) == fmt.Sprint(skipped),
		"%d of %d files, skipped %v, want %v: %v", last, len(paths), skippedToo, skipped, err)
	got, err := NewOverview(reduced, Choice{})
	check.True(t, err == nil && reflect.DeepEqual(got, want), "the fleet is %+v (%v), want %+v", got, err, want)
	check.True(t, len(got.Outliers) != 0 && got.Outliers[0].Machine == "node0003", "outliers %+v; node0003 is slow", got.Outliers)
	check.Equal(t, reduced[len(reduced)-1].Name, "node0001 (same-host.json)", "name of a second file of node0001")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, must.Err2(ReadReduced(ended, paths, "", func(int, int) {})), context.Canceled, "after the end of its context")
	contains.Error(t, must.Err2(ReadReduced(t.Context(), append(paths, paths[3]), "", func(int, int) {})), "is named twice")
}
