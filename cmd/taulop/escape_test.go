package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// planted is what files say where they should say something else. A name that is
// refused is one thing, one that is repeated another, so there are several.
var planted = []string{
	"\x1b]0;owned\x07\x1b[2J\x1b[31ma\u009b2J\u0085b\x7f\u202egpj\u202c\u2066x\u2069\r\bτ",
	"\x9b2J\xff\xfe",
	"=cmd|' /C calc'!A0\tx\ny",
	strings.Repeat("Q", 50_000),
	strings.Repeat("QQ QQ, ", 10_000),
}

// A screen is what a stream shows.
type screen struct{ bytes.Buffer }

func (*screen) Fd() uintptr { return ^uintptr(0) }

// show runs a command line as main does, with what main prints it to.
func show(line ...string) (out, errOut string) {
	var o, e screen
	text, errText := escape(&o), escape(&e)
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = append([]string{"taulop"}, line...)
	cmd, args := find(line)
	if err := cmd.run(context.Background(), text, errText, args); err != nil && !errors.Is(err, flag.ErrHelp) {
		tell(errText, "%v", err)
	}
	text.Close()
	errText.Close()
	return o.String(), e.String()
}

// unsafe finds what must not reach a terminal.
func unsafe(text string) (at int, found bool) {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\n' && r != '\t' ||
			r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return i, true
		}
	}
	return 0, false
}

// checkShown runs a command on a file in which something is planted, and looks at all
// that it prints, and at the text files it wrote.
func checkShown(t *testing.T, where string, line []string, written ...string) {
	t.Helper()
	out, errOut := show(line...)
	texts := map[string]string{"standard error": errOut}
	if slices.Contains(line, "-json") || line[0] == "import" {
		if out != "" && !json.Valid([]byte(out)) {
			t.Errorf("%s: %q: no JSON: %.80q", where, line, out)
		}
	} else {
		texts["standard output"] = out
	}
	for _, path := range written {
		if text, err := os.ReadFile(path); err == nil {
			texts[path] = string(text)
		}
	}
	for name, text := range texts {
		if at, found := unsafe(text); found {
			t.Errorf("%s: %q: %s has %q", where, line, name, text[max(0, at-20):min(len(text), at+20)])
		}
		for printed := range strings.Lines(text) {
			if len(printed) > 4000 {
				t.Errorf("%s: %q: a line of %d bytes: %.80q", where, line, len(printed), printed)
			}
		}
	}
	for printed := range strings.Lines(errOut) {
		if n := strings.Count(printed, "Q"); n > 200 && !strings.Contains(printed, "warning: ") || len(printed) > 1100 {
			t.Errorf("%s: %q: an error repeats %d letters of %d: %.300q", where, line, n, len(printed), printed)
		}
	}
	if slices.Contains(line, "csv") || slices.Contains(line, "-csv") || slices.Contains(line, "-tsv") {
		r := csv.NewReader(strings.NewReader(out)) // rows are as long as each other
		if slices.Contains(line, "-tsv") {
			r.Comma = '\t'
		}
		rows, err := r.ReadAll()
		if err != nil {
			t.Errorf("%s: %q: %v", where, line, err)
		}
		for _, cell := range slices.Concat(rows...) {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("%s: %q: a spreadsheet runs %q", where, line, cell)
			}
		}
	}
}

// places are where strings and names stand in a JSON document, as functions that
// replace them. Of cells that are alike the first stands for all.
func places(document any, path string, visit func(path string, replace func(string))) {
	switch value := document.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			was := value[name]
			if _, is := was.(string); is {
				visit(path+"."+name, func(s string) { value[name] = cmpOr(s, was) })
			} else {
				places(was, path+"."+name, visit)
			}
		}
		if len(value) > 0 {
			first := slices.Min(slices.Collect(maps.Keys(value)))
			was := value[first]
			visit(path+" (name)", func(s string) {
				if delete(value, mark); s != "" {
					value[s] = was
				}
			})
		}
	case []any:
		seen := make(map[string]bool)
		for i, item := range value {
			if _, is := item.(string); is {
				visit(fmt.Sprintf("%s[%d]", path, i), func(s string) { value[i] = cmpOr(s, item) })
				continue
			}
			if cell, is := item.(map[string]any); is {
				if kind := fmt.Sprint(cell["kind"], cell["name"]); seen[kind] {
					continue
				} else {
					seen[kind] = true
				}
			}
			places(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

// mark stands for what is planted until the document is written, for JSON's encoder
// would mend it.
const mark = "PLANTED-HERE"

func cmpOr(s string, was any) any {
	if s == "" {
		return was
	}
	return s
}

// mutants writes the document with something planted in each place, one at a time.
func mutants(t *testing.T, document string, use func(where, text string)) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(document))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	places(value, "", func(path string, replace func(string)) {
		replace(mark)
		text, err := json.Marshal(value)
		replace("")
		if err != nil {
			t.Fatal(err)
		}
		for _, plant := range planted {
			use(fmt.Sprintf("%s %.12q", path, plant), strings.ReplaceAll(string(text), mark, quoted(plant)))
		}
	})
}

// quoted is a JSON string without its quotation marks, bytes that are no UTF-8 as they
// are.
func quoted(plant string) string {
	var b strings.Builder
	for i := range len(plant) {
		if c := plant[i]; c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// talkative is a parameter file in which every kind of cell is, and every string that
// there may be.
func talkative(t *testing.T, dir string) string {
	t.Helper()
	path, _, _ := plottable(t, dir)
	f, err := params.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Provenance = provenance.Provenance{Levels: numa.Levels{{Name: "shared cache", Groups: []numa.CPUSet{{0, 1}}}},
		CoreKinds: []params.CoreKind{{Kind: "core", CPUs: numa.CPUSet{0}}, {Kind: "atom", CPUs: numa.CPUSet{1}}}, Allowed: numa.CPUSet{0, 1}}
	for value, i := reflect.ValueOf(&f.Provenance).Elem(), 0; i < value.NumField(); i++ {
		switch field := value.Field(i).Addr().Interface().(type) {
		case *string:
			*field = "said"
		case *[]string:
			*field = []string{"said"}
		}
	}
	f.Plan.Copy, f.Plan.With, f.Plan.Operators, f.Plan.Segments = "memmove", []string{"pairs"}, []string{"SUM_I"}, 2
	f.Warnings = []string{"the load of the last minute is 3"}
	f.Placements = []numa.Placement{{Policy: numa.Local, Workers: []numa.Worker{{}, {CPU: numa.CPU{ID: 1, Core: 1}}}}}
	for _, m := range f.Plan.Sizes {
		key := params.Key{Placement: numa.Local, Tau: 1, Bytes: m}
		add := func(kind params.Kind, set func(k *params.Key)) {
			k := key
			k.Kind = kind
			set(&k)
			f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Median([]float64{float64(m + 10*k.N)})})
		}
		add(params.OverheadCell, func(*params.Key) {})
		add(params.GammaCell, func(k *params.Key) { k.Operator = "SUM_I" })
		add(params.PRTTCell, func(k *params.Key) { k.N = 1 })
		add(params.PRTTCell, func(k *params.Key) { k.N = 8 })
		add(params.LevelCell, func(k *params.Key) { k.Variant = "L1-L2" })
	}
	f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NullCell, Setup: "ring", Placement: numa.Local, Tau: 1}, Time: fit.Median([]float64{50})})
	path = filepath.Join(dir, "talkative.json")
	if err := f.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// readers are the command lines that read a parameter file; clean is another one, and
// fresh the name of a file that is not there.
func readers(file, clean, imb, fresh string) [][]string {
	lines := [][]string{
		{"compare", file, clean}, {"compare", "-csv", clean, file}, {"compare", "-json", file, clean}, {"compare", "-o", fresh + ".txt", clean, file},
		{"compare", "-setup", "none", file, clean},
		{"predict", "-params", file, "-P", "2", "-m", "8K", "bcast"}, {"predict", "-params", file, "-P", "2", "-m", "8K", "-tsv", "allreduce"},
		{"predict", "-params", file, "-P", "2", "-m", "8K", "-json", "bcast"}, {"predict", "-params", file, "-P", "2", "-op", "none", "reduce"},
		{"predict", "-params", file, "-P", "2", "-m", "8K", "-model", "mlognp", "bcast:linear"}, {"predict", "-params", file, "-P", "2", "-m", "8K", "-model", "loggp", "bcast:linear"},
		{"explain", "-params", file, "-P", "2", "-m", "8K", "bcast:linear"}, {"explain", "-params", file, "-P", "2", "-m", "8K", "-json", "bcast:linear"},
		{"export", "-format", "csv", file}, {"export", "-format", "benchfmt", file}, {"export", "-format", "taulop", fresh, file},
		{"report", "-bare", "-o", fresh + ".html", file, clean},
		{"verify", "-against", imb, "-params", file}, {"verify", "-against", imb, "-params", file, "-json"}, {"verify", "-against", imb, "-params", file, "-o", fresh + ".txt"},
	}
	for _, kind := range plotKinds {
		if kind.command != "verify" && kind.command != "map" && kind.name != "ratio" && kind.name != "concurrency" {
			lines = append(lines, []string{"plot", kind.name, "-o", fresh + ".svg", file})
		}
	}
	return lines
}

const twoSuites = "# Benchmarking Bcast\n# #processes = 2\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n1024 1000 0.5 0.6 0.55\n\n" +
	"# Benchmarking Uniband\n# #processes = 2\n#bytes #repetitions Mbytes/sec Msg/sec\n0 1000 0.00 5\n\n" +
	"# OSU MPI Broadcast Latency Test v5.3\n# Size       Avg Latency(us)\n1024   0.5\n# OSU MPI Multiple Bandwidth Test\n# Size  MB/s\n8  5\n"

func TestParameterFilesDoNotSteerTerminals(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	clean := talkative(t, dir)
	document := load(t, clean)
	imb := save(t, dir, "imb.txt", strings.SplitAfter(twoSuites, "\n\n")[0])
	n := 0
	mutants(t, document, func(where, text string) {
		n++
		file, made := save(t, dir, "planted.json", text), filepath.Join(dir, "made")
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(made)
		fresh := filepath.Join(made, "fresh")
		for i, line := range readers(file, clean, imb, fresh) {
			each := 4 // commands of a file take turns, the slow ones less often
			if line[0] == "plot" {
				each = 12
			}
			if !long() && (n+n/len(planted)+i)%each != 0 {
				continue
			}
			checkShown(t, where, line, fresh+".txt")
			os.Remove(fresh + ".txt")
		}
	})
	t.Logf("%d files", n)
}

func TestVerificationsDoNotSteerTerminals(t *testing.T) {
	dir := scratch(t)
	_, _, verification := plottable(t, dir)
	mutants(t, load(t, verification), func(where, text string) {
		file := save(t, dir, "planted.json", text)
		for _, kind := range []string{"predicted", "accuracy"} {
			checkShown(t, where, []string{"plot", kind, "-o", filepath.Join(dir, "x.svg"), file})
			checkShown(t, where, []string{"plot", kind, "-algorithm", "none", "-o", filepath.Join(dir, "x.svg"), file})
		}
	})
}

// eachWord plants in every word of a text, one at a time.
func eachWord(text string, use func(where, text string)) {
	for i, begin := 0, 0; i <= len(text); i++ {
		if i < len(text) && text[i] != ' ' && text[i] != '\t' && text[i] != '\n' {
			continue
		}
		if i > begin {
			for _, plant := range planted {
				use(fmt.Sprintf("%q %.12q", text[begin:i], plant), text[:begin]+plant+text[i:])
				use(fmt.Sprintf("%q and %.12q", text[begin:i], plant), text[:i]+plant+text[i:])
			}
		}
		begin = i + 1
	}
}

func TestPublishedFilesDoNotSteerTerminals(t *testing.T) {
	dir := scratch(t)
	clean := save(t, dir, "clean.txt", tinySHM)
	eachWord(tinySHM, func(where, text string) {
		file := save(t, dir, "planted.txt", text)
		for _, line := range [][]string{
			{"import", file}, {"compare", file, clean}, {"compare", "-csv", clean, file}, {"predict", "-params", file, "-P", "2", "-tsv", "bcast"},
			{"explain", "-params", file, "-P", "2", "bcast:linear"}, {"report", "-bare", "-o", filepath.Join(dir, "x.html"), file}, {"plot", "l-m", "-o", filepath.Join(dir, "x.svg"), file},
		} {
			checkShown(t, where, line)
		}
	})
	shm := save(t, dir, "SHM.txt", tinySHM)
	eachWord(tinyGamma, func(where, text string) {
		file := save(t, dir, "planted.txt", text)
		checkShown(t, where, []string{"import", shm, file})
		checkShown(t, where, []string{"predict", "-params", shm, "-gamma", file, "-P", "2", "-m", "64", "reduce"})
		checkShown(t, where, []string{"predict", "-params", shm, "-gamma", file, "-P", "2", "-op", "none", "reduce"})
	})
}

func TestBenchmarksDoNotSteerTerminals(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	native, _, _ := plottable(t, dir)
	eachWord(twoSuites, func(where, text string) {
		file := save(t, dir, "planted.txt", text)
		checkShown(t, where, []string{"verify", "-against", file, "-params", native, "-P", "2"})
		checkShown(t, where, []string{"verify", "-against", file, "-params", native, "-P", "2", "-json"})
	})
}

// anotherMachine is as much of another machine's sys and proc as topo reads.
var anotherMachine = map[string]string{
	"proc/cpuinfo":              "processor : 0\nvendor_id : GenuineIntel\nmodel name : A CPU\nmicrocode : 0x1\nflags : hypervisor\nmachine : PowerNV\n",
	"proc/meminfo":              "MemTotal: 1024 kB\nMemFree: 512 kB\nMemAvailable: 700 kB\n",
	"proc/version":              "Linux version 6.1",
	"proc/loadavg":              "5.0 1.0 1.0 1/2 3",
	"proc/stat":                 "cpu 1 2 3 4 5 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n",
	"proc/self/status":          "Cpus_allowed_list: 0-1\nMems_allowed_list: 0\n",
	"proc/sys/kernel/hostname":  "node17",
	"proc/sys/kernel/osrelease": "6.1", "proc/sys/kernel/arch": "x86_64", "proc/sys/kernel/numa_balancing": "1",
	"sys/hypervisor/type": "xen", "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet",
	"sys/devices/system/cpu/online":                                   "0-1",
	"sys/devices/system/cpu/smt/active":                               "1", "sys/devices/system/cpu/smt/control": "on",
	"sys/devices/system/cpu/intel_pstate/no_turbo":              "0",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":      "powersave",
	"sys/devices/system/cpu/cpu0/microcode/version":             "0x1",
	"sys/devices/system/cpu/cpu0/topology/physical_package_id":  "0",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0", "sys/devices/system/cpu/cpu0/topology/thread_siblings": "1",
	"sys/devices/system/cpu/cpu1/topology/thread_siblings": "2",
	"sys/devices/system/cpu/cpu0/cache/index0/level":       "1", "sys/devices/system/cpu/cpu0/cache/index0/type": "Data", "sys/devices/system/cpu/cpu0/cache/index0/size": "32K",
	"sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size": "64", "sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list": "0",
	"sys/devices/system/node/online": "0", "sys/devices/system/node/node0/cpulist": "0-1", "sys/devices/system/node/node0/distance": "10",
	"sys/devices/system/node/node0/meminfo": "Node 0 MemTotal: 1024 kB\nNode 0 MemFree: 512 kB\n",
	"sys/class/dmi/id/product_name":         "Server", "sys/class/dmi/id/sys_vendor": "Vendor", "sys/class/dmi/id/product_version": "1",
	"sys/class/dmi/id/board_name": "Board", "sys/class/dmi/id/board_vendor": "Vendor", "sys/class/dmi/id/bios_vendor": "BIOS", "sys/class/dmi/id/bios_version": "2", "sys/class/dmi/id/bios_date": "1/1/2020",
	"sys/devices/cpu_core/cpus": "0", "sys/devices/cpu_atom/cpus": "1",
}

func TestSysfsDoesNotSteerTerminals(t *testing.T) {
	t.Parallel()
	root := scratch(t)
	for name, text := range anotherMachine {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		save(t, root, name, text+"\n")
	}
	if out, errOut := show("topo", "-root", root); errOut != "" || !strings.Contains(out, "node17") || !strings.Contains(out, "hpet") {
		t.Fatalf("%q, %q", out, errOut)
	}
	for f, name := range slices.Sorted(maps.Keys(anotherMachine)) {
		text := anotherMachine[name]
		for p, plant := range planted {
			for i, text := range []string{plant, text + plant, plant + text, strings.ReplaceAll(text, ": ", ": "+plant)} {
				if !long() && (f+p+i)%2 != 0 {
					continue
				}
				save(t, root, name, text)
				where := fmt.Sprintf("%s: %.12q", name, plant)
				checkShown(t, where, []string{"topo", "-root", root})
				checkShown(t, where, []string{"topo", "-root", root, "-json"})
			}
			checkShown(t, name, []string{"topo", "-root", root, "-tau", "2"})
		}
		save(t, root, name, text+"\n")
	}
}

// What a user typed is repeated like what a file says.
func TestWordsDoNotSteerTerminals(t *testing.T) {
	dir := scratch(t)
	native, _, _ := plottable(t, dir)
	for _, plant := range planted {
		for _, line := range [][]string{
			{"a" + plant}, {plant, "2", "2"}, {"2", plant, "2"}, {"2", "2", plant}, {"-k", plant, "2", "2", "2"}, {"-cpus", plant, "2", "2", "2"}, {"-" + plant},
			{"predict", "-params", plant, "-P", "2", "bcast"}, {"predict", "-params", native, "-P", plant, "bcast"}, {"predict", "-params", native, "-P", "2", "-m", plant, "bcast"},
			{"predict", "-params", native, "-P", "2", plant}, {"predict", "-params", native, "-P", "2", "bcast:" + plant}, {"predict", "-params", native, "-P", "2", "-op", plant, "reduce"},
			{"predict", "-params", native, "-P", "2", "-setup", plant, "bcast"}, {"predict", "-params", native, "-P", "2", "-name", plant, "-tsv", "-m", "64", "bcast"},
			{"plot", plant}, {"plot", "l-m", "-o", plant, native}, {"plot", "l-m", "-o", "x.svg", "-setup", plant, native}, {"plot", "access", "-o", "x.svg", "-variant", plant, native},
			{"plot", "copy", "-o", "x.svg", "-levels", plant, native}, {"compare", plant, native}, {"compare", "-as", plant, native, native}, {"export", "-format", plant, native},
			{"topo", plant}, {"topo", "-root", plant}, {"sweep", "-setup", plant, "-o", filepath.Join(dir, "new.json")}, {"sweep", plant}, {"verify", "-P", plant}, {"verify", "-against", plant, "-params", native},
			{"verify", "-patterns", plant}, {"access", "-ops", plant}, {"disk", "-m", plant, dir}, {"copy", "-m", plant}, {"copy", "-tau", plant},
		} {
			checkShown(t, "", line)
		}
	}
}

// JSON is the same, byte by byte, on standard output and in a file.
func TestJSONIsVerbatim(t *testing.T) {
	dir := t.TempDir()
	f, err := params.ReadFile(talkative(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	f.Warnings = []string{planted[0]}
	clean, file := talkative(t, dir), filepath.Join(dir, "planted.json")
	if err := f.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	out, _ := show("compare", "-json", file, clean)
	show("compare", "-json", "-o", filepath.Join(dir, "compared.json"), file, clean)
	if written := load(t, dir, "compared.json"); out != written || !strings.Contains(out, "\u009b") {
		t.Errorf("%.80q and %.80q", out, written)
	}
}

// hostile writes a parameter file that says what it can to steer a terminal.
func hostile(t *testing.T, dir string) string {
	t.Helper()
	f, err := params.ReadFile(talkative(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	f.Provenance.Hostname, f.Provenance.Taulop, f.Plan.Copy, f.Warnings = planted[0], planted[0], planted[0], planted[:1]
	f.Provenance.Levels[0].Name = planted[0]
	path := filepath.Join(dir, "hostile.json")
	if err := f.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProgramDoesNotSteerTerminals(t *testing.T) {
	dir := t.TempDir()
	file, clean, imb := hostile(t, dir), talkative(t, dir), save(t, dir, "imb.txt", twoSuites)
	lines := readers(file, clean, imb, filepath.Join(dir, "fresh"))
	lines = append(lines, []string{"predict", "-params", "\x1b[2J", "-P", "2", "bcast"}, []string{"\x1b[2J"}, []string{"x\x1b[2J"})
	shown := false
	for _, line := range lines {
		var out, errOut bytes.Buffer
		cmd := program(t, line...)
		cmd.Stdout, cmd.Stderr = &out, &errOut
		cmd.Run()
		_, inOut := unsafe(out.String())
		_, inErr := unsafe(errOut.String())
		if inOut && !slices.Contains(line, "-json") || inErr {
			t.Errorf("%q: %q, %q", line, out.String(), errOut.String())
		}
		if slices.Contains(line, "-json") && out.Len() > 0 && !json.Valid(out.Bytes()) {
			t.Errorf("%q: no JSON: %.80q", line, out.String())
		}
		shown = shown || strings.Contains(out.String()+errOut.String(), `\x1b[2J`)
	}
	if !shown {
		t.Error("what was planted is nowhere to be seen")
	}
}
