package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

const (
	tinySHM   = "#m\t2\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n1\t0.000000559250\t0.000000289400\t0.000000147725\n64\t0.000000543200\t0.000000499550\t0.000000335500\n"
	tinyGamma = "#m\t2\n#max_ops\t2\n#m\tSUM_I\tMAX_I\n4\t0.000000240000000\t0.000000187300000\n64\t0.000000163500000\t0.000000267400000\n"
)

// save writes a file, and says where.
func save(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t testing.TB, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func saveParams(t testing.TB, f *params.File, path string) {
	t.Helper()
	if err := f.WriteFile(path); err != nil {
		t.Fatal(err)
	}
}

func loadParams(t testing.TB, path string) *params.File {
	t.Helper()
	f, err := params.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What was imported is exported as it was.
func TestImportThenExport(t *testing.T) {
	dir := t.TempDir()
	shm, gamma := save(t, dir, "SHM.txt", tinySHM), save(t, dir, "gamma.txt", tinyGamma)
	native := filepath.Join(dir, "tiny.json")
	out, errOut, err := run(t, "import", "-o", native, "-name", "tiny", shm, gamma)
	if err != nil || out != "" || !strings.Contains(errOut, "warning: eq. (8) is broken (") || !strings.Contains(errOut, "and so in 1 more place") || !strings.Contains(errOut, "tiny.json has 10 cells") {
		t.Fatalf("%q, %q, %v", out, errOut, err)
	}
	out, errOut, err = run(t, "export", "-format", "libtaulop", filepath.Join(dir, "out", "here"), native)
	if err != nil || out != "" || errOut != "" {
		t.Fatalf("%q, %q, %v", out, errOut, err)
	}
	if got := load(t, dir, "out", "here", "SHM.txt"); got != tinySHM {
		t.Errorf("SHM.txt is\n%swant\n%s", got, tinySHM)
	}
	if got := load(t, dir, "out", "here", "gamma.txt"); got != tinyGamma {
		t.Errorf("gamma.txt is\n%swant\n%s", got, tinyGamma)
	}
	f, err := params.ReadFile(native)
	if err != nil || f.Provenance.Hostname != "tiny" || len(f.Warnings) != 0 {
		t.Errorf("%v, %v", f, err)
	}
	// To standard output, without γ, named after its directory.
	out, errOut, err = run(t, "import", shm)
	if err != nil || errOut != "" {
		t.Fatalf("%q, %v", errOut, err)
	}
	f, err = params.Read(strings.NewReader(out), "out")
	if err != nil || f.Provenance.Hostname != filepath.Base(dir) || len(f.Cells) != 6 {
		t.Errorf("%v, %v", f, err)
	}
	native = save(t, dir, "nogamma.json", out)
	_, errOut, err = run(t, "export", "-format", "libtaulop", filepath.Join(dir, "nogamma"), native)
	if err != nil || !strings.Contains(errOut, "gamma.txt is not written: no γ") {
		t.Errorf("%q, %v", errOut, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "nogamma", "gamma.txt")); !os.IsNotExist(err) {
		t.Errorf("gamma.txt: %v", err)
	}
}

// swept is a file with two placements, some τ, and messages from 64 bytes.
func swept(t *testing.T, dir string) string {
	t.Helper()
	f := &params.File{Format: params.Format, Version: params.Version, Plan: params.Plan{
		Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local, numa.Remote}, Sizes: []int{64, 8192}, Taus: []int{1, 4}, Caches: []bool{true}, SegmentBytes: 8192}}
	for i, policy := range f.Plan.Policies {
		for _, tau := range f.Plan.Taus {
			for _, m := range f.Plan.Sizes {
				ns := 2 * float64(m*tau*(i+1)) // l = 2L, L = m·τ, on remote memory twice as long
				f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: policy, OffCache: true, Tau: tau, Bytes: m},
					K: 1, Transfers: 2, Time: fit.Median([]float64{ns}), Samples: params.Samples(ns, ns, ns)})
			}
		}
	}
	path := filepath.Join(dir, "swept.json")
	saveParams(t, f, path)
	return path
}

// What the format wants and was not measured is made up, and it says so.
func TestExportFillsIn(t *testing.T) {
	dir := t.TempDir()
	_, errOut := ran(t, "export", "-format", "libtaulop", "-placement", "remote", dir, swept(t, dir))
	for _, want := range []string{"m = 1 was not measured: its row is that of m = 64", "τ = 2, 3\n", "gamma.txt is not written"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("no %q in %q", want, errOut)
		}
	}
	table, err := params.ReadText(strings.NewReader(load(t, dir, "SHM.txt")), "SHM.txt")
	if err != nil {
		t.Fatal(err)
	}
	if L, beyond := table.L(8192, 3); beyond || L < 49.151e-6 || L > 49.153e-6 {
		t.Errorf("L(8192,3) = %g, want 2·3·8192 ns", L)
	}
}

func TestExportFormats(t *testing.T) {
	dir := t.TempDir()
	native := swept(t, dir)
	for _, tt := range []struct {
		format, begins, has string
		lines               int
	}{
		{"csv", "kind,setup,placement,", "\ntransfer,ring,remote,true,4,64,,,,,1,2,3,1024,,,512,,,512,,,,,,\n", 1 + 8},
		{"benchfmt", "segment-bytes: 8192\n", "\nBenchmarkTransfer/setup=ring/placement=local/cache=off/tau=4/bytes=64 1 256 ns/op\n", 2 + 8*3},
	} {
		out, errOut, err := run(t, "export", "-format", tt.format, native)
		if err != nil || errOut != "" || !strings.HasPrefix(out, tt.begins) || !strings.Contains(out, tt.has) || strings.Count(out, "\n") != tt.lines {
			t.Errorf("%s: %v, %q\n%s", tt.format, err, errOut, out)
		}
		file := filepath.Join(dir, tt.format)
		if same, _, err := run(t, "export", "-o", file, "-format", tt.format, native); err != nil || same != "" || load(t, file) != out {
			t.Errorf("%s -o: %v", tt.format, err)
		}
	}
}

// The wrong word costs nothing: a sentence, exit 2, and all files as they were.
func TestExportAndImportRefuse(t *testing.T) {
	dir := t.TempDir()
	native, shm := swept(t, dir), save(t, dir, "SHM.txt", tinySHM)
	text, broken := save(t, dir, "notes.txt", "by hand\n"), save(t, dir, "broken.json", `{"format": "taulop parameters", "version": 9}`)
	was, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, nil, "", []mistake{
		{"export " + native, "-format is missing: use libtaulop, csv, benchfmt"},
		{"export -format xml " + native, `-format: there is no "xml"`},
		{"export -format csv", "got 0 arguments, want 1, like taulop export -format csv host.json"},
		{"export -format csv " + native + " " + native, "got 2 arguments, want 1"},
		{"export -format libtaulop " + native, "got 1 argument, want 2, like taulop export -format libtaulop DIR host.json"},
		{"export -format csv " + native + " -oo x", "there is no flag -oo; did you mean -o?"},
		{"export -format libtaulop -o x " + dir + " " + native, "-o is for one file"},
		{"export -format csv -setup ring " + native, "-setup chooses a table of format libtaulop"},
		{"export -format csv -o " + shm + " " + native, "SHM.txt is there already"},
		{"export -format csv -o " + dir + "/no/such/x.csv " + native, "cannot be written"},
		{"export -format libtaulop " + dir + " " + native, "SHM.txt is there already"},
		{"export -format libtaulop " + shm + " " + native, "cannot be made"},
		{"export -format libtaulop " + dir + "/d " + dir + "/missing.json", "missing.json is not there"},
		{"export -format csv " + text, `notes.txt:1: this is no parameter file: name one that taulop sweep or import wrote`},
		{"export -format csv " + broken, "broken.json:1: version 9 of the format is newer"},
		{"export -format csv " + dir, "is a directory: name the files in it"},
		{"export -format libtaulop -setup bcast " + dir + "/d " + native, "no transfers of bcast, placement local, off cache: the file has ring"},
		{"export -format libtaulop -placement spread " + dir + "/d " + native, "no transfers of ring, placement spread"},
		{"export -format libtaulop -cache in " + dir + "/d " + native, "no transfers of ring, placement local, in cache"},
		{"export -frob", "-frob"},
		{"import", "it needs files: SHM.txt, what IMB-MPI1"},
		{"import a b c", "got 3 arguments"},
		{"import " + shm + " -oo x", "there is no flag -oo; did you mean -o?"},
		{"import " + dir + "/missing.txt", "missing.txt is not there: check its name"},
		{"import " + native, "swept.json is a parameter file of taulop already"},
		{"import " + shm + " " + shm, `SHM.txt:2: "#tau\t2", want "#max_ops<TAB>number"`},
		{"import -o " + native + " " + shm, "swept.json is there already"},
		{"import -o " + dir + "/no/such/x.json " + shm, "cannot be written"},
		{"import -overheads " + text, "-overheads takes a file of ping-pongs and one of parameters"},
		{"import -overheads " + text + " -params " + native + " " + shm, "takes no arguments"},
		{"import -as mpich4 " + shm, "-as goes with -overheads"},
		{"import -params " + native + " " + shm, "-params is of what MPI benchmarks printed"},
		{"import -pairs 2 " + shm, "-pairs is of what MPI benchmarks printed"},
		{"import -net ib0 " + shm, "-net is of what MPI benchmarks printed"},
		{"import -cache off " + shm, "-cache is of what MPI benchmarks printed"},
		{"import -overheads " + text + " -params " + native, "notes.txt holds no table"},
		{"import -overheads " + dir + "/missing.txt -params " + native, "missing.txt is not there"},
		{"import -overheads " + text + " -params " + native + " -as openmpi3", `-as: unknown MPI library "openmpi3"; did you mean "openmpi4"?`},
		{"import -overheads " + text + " -params " + shm, "turn it into a native one"},
	})
	is, err := os.ReadDir(dir)
	if err != nil || len(is) != len(was) || load(t, shm) != tinySHM || !bytes.Contains([]byte(load(t, native)), []byte("ring")) {
		t.Errorf("the directory has %v, had %v (%v)", is, was, err)
	}
}

// Of a library o(m) is half of its round trip less the file's transfers; predictions and
// exported files have it.
func TestImportOverheads(t *testing.T) {
	dir := t.TempDir()
	f := &params.File{Format: params.Format, Version: params.Version, Complete: true, Plan: params.Plan{Setups: []string{"ring"},
		Policies: []numa.Policy{numa.Local}, Sizes: []int{1, 4096}, Taus: []int{1, 2}, Segments: 2, SegmentBytes: 8192, Caches: []bool{false}}}
	at := func(ns float64) fit.Estimate { return fit.Estimate{Center: ns, Lo: ns, Hi: ns, N: 6} }
	for m, ns := range map[int]float64{1: 200, 4096: 800} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: params.Isolated, Placement: numa.Local, Tau: 1, Bytes: m}, K: 1, Transfers: 2, Time: at(ns)})
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: 2, Bytes: m}, K: 1, Transfers: 2, Time: at(ns)})
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.OverheadCell, Placement: numa.Local, Tau: 1}, Time: at(1)})
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	native, output := save(t, dir, "host.json", b.String()), filepath.Join(dir, "mpi.json")
	imb := save(t, dir, "imb.txt", "# Benchmarking PingPong\n# #processes = 2\n #bytes #repetitions t[usec] Mbytes/sec\n 0 1000 0.20 0.00\n 1 1000 0.45 2.0\n 4096 1000 0.75 1.0\n 8192 1000 9.00 1.0\n")
	_, errOut, err := run(t, "import", "-overheads", imb, "-params", native, "-o", output)
	if err != nil || !strings.Contains(errOut, "o(m) seems to be below zero (placement local, in cache) at m = 4K, with too few samples to tell") {
		t.Fatalf("%q, %v", errOut, err)
	}
	ran(t, "export", "-format", "libtaulop", filepath.Join(dir, "shm"), output)
	if text := load(t, dir, "shm", "SHM.txt"); !strings.Contains(text, "\n1\t0.000000250000\t") || !strings.Contains(text, "\n4096\t0.000000000000\t") {
		t.Errorf("SHM.txt is\n%s", text)
	}
	if out, _, err := run(t, "explain", "-params", output, "-P", "2", "-m", "1", "bcast:linear"); err != nil || !strings.Contains(out, "o(m)  0.2500 ") {
		t.Errorf("%s, %v", out, err)
	}
	// With Reduce_local γ is the library's, too, and the file says whose o(m) it has.
	sums := save(t, dir, "sums.txt", load(t, imb)+"# MPI_Datatype for reductions : MPI_INT\n# Benchmarking Reduce_local\n# #processes = 2\n #bytes #repetitions t_max[usec]\n 1024 1000 0.50\n 4096 1000 1.70\n")
	reducing := filepath.Join(dir, "reducing.json")
	_, errOut, err = run(t, "import", "-overheads", sums, "-params", output, "-o", reducing)
	if err != nil || !strings.Contains(errOut, "γ of SUM_I is what MPI_Reduce_local took in "+sums) {
		t.Fatalf("%q, %v", errOut, err)
	}
	if out, _, err := run(t, "explain", "-params", reducing, "-P", "2", "-m", "4096", "allreduce:recursive-doubling"); err != nil || !strings.Contains(out, "γ(m,2)   1.700 ") {
		t.Errorf("%s, %v", out, err)
	}
	want := []string{"o(m) is that of sums.txt: predictions are of that library", "γ of SUM_I is that of sums.txt: predictions are of that library"}
	if f, err := params.ReadFile(reducing); err != nil || !slices.Equal(f.Warnings, want) {
		t.Errorf("%q, %v; want %q", f.Warnings, err, want)
	}
	out, errOut, err := run(t, "verify", "-against", sums, "-params", reducing)
	if err != nil || !strings.Contains(out+errOut, "Reduce_local") || !strings.Contains(out+errOut, "it times reductions, and no message") {
		t.Errorf("%s%s, %v", out, errOut, err)
	}
	_, _, err = run(t, "import", "-overheads", imb, "-params", native, "-cache", "off")
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "no time of PingPong") {
		t.Errorf("off cache, which the file has not: %v", err)
	}
}

// largest is the most that came at once.
type largest struct{ most, all int }

func (w *largest) Write(p []byte) (int, error) {
	w.most, w.all = max(w.most, len(p)), w.all+len(p)
	return len(p), nil
}

// What is exported is not gathered in memory first.
func TestExportStreams(t *testing.T) {
	f := &params.File{Format: params.Format, Version: params.Version}
	for m := range 20000 {
		ns := float64(m + 1)
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.CopyCell, Placement: numa.Local, Tau: 1, Bytes: m + 1},
			Time: fit.Median([]float64{ns}), Samples: params.Samples(ns)})
	}
	file := filepath.Join(t.TempDir(), "large.json")
	saveParams(t, f, file)
	for _, format := range []string{"csv", "benchfmt"} {
		var out largest
		if err := named("export").run(context.Background(), &out, io.Discard, []string{"-format", format, file}); err != nil {
			t.Fatal(err)
		}
		if out.all < 1<<19 || out.most > 1<<16 {
			t.Errorf("%s: %d bytes, up to %d at once", format, out.all, out.most)
		}
	}
}
