package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/params"
)

// planted are texts to plant into files. There are several because commands reject some names and repeat others.
var planted = []string{
	"\x1b]0;owned\x07\x1b[2J\x1b[31ma\u009b2J\u0085b\x7f\u202egpj\u202c\u2066x\u2069\r\bτ",
	"\x9b2J\xff\xfe",
	"=cmd|' /C calc'!A0\tx\ny",
	strings.Repeat("Q", 50_000),
	strings.Repeat("QQ QQ, ", 10_000),
}

// A screen holds the output of a stream.
type screen struct{ bytes.Buffer }

func (*screen) Fd() uintptr { return ^uintptr(0) }

// show runs a command line with main's escaped streams, which have its error, too.
func show(line ...string) (out, errOut string, err error) {
	var o, e screen
	text, errText := escape(&o), escape(&e)
	defer func(args []string) { os.Args = args }(os.Args)
	os.Args = append([]string{"taulop"}, line...)
	if err = bounded(text, errText, line); err != nil && !errors.Is(err, flag.ErrHelp) {
		tell(errText, "%v", err)
	}
	text.Close()
	errText.Close()
	return o.String(), e.String(), err
}

// unsafe finds the first character that must not reach a terminal.
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

// checkShown runs a command on a file with a planted text, checks its output and text files, and returns its error.
func checkShown(t *testing.T, where string, line []string, written ...string) (err error) {
	t.Helper()
	out, errOut, err := show(line...)
	check.Need(t, !errors.Is(err, errUnbounded), "%s: %q: %v", where, line, err)
	texts := map[string]string{"standard error": errOut}
	if slices.Contains(line, "-json") || line[0] == "import" {
		check.True(t, out == "" || json.Valid([]byte(out)), "%s: %q: no JSON: %.80q", where, line, out)
	} else {
		texts["standard output"] = out
	}
	for _, path := range written {
		if text, err := os.ReadFile(path); err == nil {
			texts[path] = string(text)
		}
	}
	for name, text := range texts {
		at, found := unsafe(text)
		check.True(t, !found, "%s: %q: %s has %q", where, line, name, text[max(0, at-20):min(len(text), at+20)])
		for printed := range strings.Lines(text) {
			check.True(t, len(printed) <= 4000 || line[0] == "tune", // a tree for MPICH keeps the names of the given one
				"%s: %q: a line of %d bytes: %.80q", where, line, len(printed), printed)
		}
	}
	for printed := range strings.Lines(errOut) {
		n := strings.Count(printed, "Q")
		check.True(t, (n <= 200 || strings.Contains(printed, "warning: ")) && len(printed) <= 1100,
			"%s: %q: an error repeats %d letters of %d: %.300q", where, line, n, len(printed), printed)
	}
	if slices.Contains(line, "csv") || slices.Contains(line, "-csv") || slices.Contains(line, "-tsv") {
		r := csv.NewReader(strings.NewReader(out)) // rows are as long as each other
		if slices.Contains(line, "-tsv") {
			r.Comma = '\t'
		}
		rows, err := r.ReadAll()
		check.NoError(t, err, "%s: %q", where, line)
		for _, cell := range slices.Concat(rows...) {
			check.True(t, !strings.HasPrefix(cell, "="), "%s: %q: a spreadsheet runs %q", where, line, cell)
		}
	}
	return err
}

// literal is a string of a JSON document, with the name before it.
var literal = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*": ?)?"((?:[^"\\]|\\.)*)"`)

// spots are the parts of a text that a planted one may replace: names and strings of a JSON document, equal
// ones once; else words and their ends.
func spots(text string) (all [][2]int) {
	if !strings.HasPrefix(text, "{") {
		for _, word := range regexp.MustCompile(`[^ \t\n]+`).FindAllStringIndex(text, -1) {
			all = append(all, [2]int{word[0], word[1]}, [2]int{word[1], word[1]})
		}
		return all
	}
	seen := make(map[string]bool)
	for _, at := range literal.FindAllStringSubmatchIndex(text, -1) {
		if whole := text[at[0]:at[1]]; !seen[whole] {
			seen[whole] = true
			all = append(all, [2]int{at[2], at[3]})
		}
	}
	return all
}

// plantIn replaces a random spot of a text, and shows the text before it.
func plantIn(random *rand.Rand, text string) (where, mutant string) {
	all, plant := spots(text), planted[random.IntN(len(planted))]
	if strings.HasPrefix(text, "{") {
		plant = quoted(plant)
	}
	at := all[random.IntN(len(all))]
	return fmt.Sprintf("%q %.12q", text[max(0, at[0]-30):at[0]], plant), text[:at[0]] + plant + text[at[1]:]
}

// talkative is a parameter file with every kind of cell and every string.
const talkative = "testdata/files/talkative.json"

// quoted is a JSON string without its quotation marks; bytes that are not UTF-8 stay unchanged.
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

// Nothing that a machine says of itself makes topo control a terminal.
func TestMachinesDoNotSteerTerminals(t *testing.T) {
	random, root := randtest.New(t), filepath.Join(scratch(t), "root")
	another := os.DirFS("testdata/files/another") // as much of another machine's sys and proc as topo reads
	must.Do(os.CopyFS(root, another))
	out, errOut, _ := show("topo", "-root", root)
	check.Need(t, errOut == "" && strings.Contains(out, "node17") && strings.Contains(out, "hpet"), "%q, %q", out, errOut)
	must.Do(fs.WalkDir(another, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		was := load(t, root, name)
		text := strings.TrimSuffix(was, "\n")
		for range 10 {
			plant := planted[random.IntN(len(planted))]
			with := []string{plant, text + plant, plant + text, strings.ReplaceAll(text, ": ", ": "+plant)}
			save(t, root, name, with[random.IntN(len(with))])
			checkShown(t, fmt.Sprintf("%s: %.12q", name, plant), slices.Concat([]string{"topo", "-root", root}, [][]string{nil, {"-json"}, {"-tau", "2"}}[random.IntN(3)]))
		}
		save(t, root, name, was)
		return nil
	}))
}

// Errors repeat words of the command line as harmlessly as words of files.
func TestWordsDoNotSteerTerminals(t *testing.T) {
	const native = "testdata/files/native.json"
	dir := scratch(t)
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

// JSON has the same bytes on standard output and in a file.
func TestJSONIsVerbatim(t *testing.T) {
	dir := t.TempDir()
	file := hostile(t, dir)
	out, _, _ := show("compare", "-json", file, talkative)
	show("compare", "-json", "-o", filepath.Join(dir, "compared.json"), file, talkative)
	written := load(t, dir, "compared.json")
	check.True(t, out == written && strings.Contains(out, "\u009b"), "%.80q and %.80q", out, written)
}

// hostile writes a parameter file full of control sequences.
func hostile(t *testing.T, dir string) string {
	t.Helper()
	f := loadParams(t, talkative)
	f.Provenance.Hostname, f.Provenance.Taulop, f.Plan.Copy, f.Warnings = planted[0], planted[0], planted[0], planted[:1]
	f.Provenance.Levels[0].Name = planted[0]
	return saveParams(t, f, dir, "hostile.json")
}

// hangs is longer than any command may take, or continue after a signal, on slow and busy machines; commands without
// a signal run longer.
const hangs = time.Minute

// No damaged or planted file makes a command panic, hang, take 1 GB of memory, control a terminal, repeat
// long texts, or write a spreadsheet formula. Files and commands are a random choice.
func TestBadFiles(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("TAULOP_MUTATIONS"))
	tries = cmp.Or(tries, 3000)
	skip.Short(t, "writes and reads thousands of files")
	originals, dir := mutable(t)
	random := randtest.New(t)
	for i := range tries {
		o := originals[random.IntN(len(originals))]
		where, text := "damaged", mutate(random, o.text)
		if i%3 == 0 {
			where, text = plantIn(random, o.text)
		}
		file := save(t, dir, "mutant"+filepath.Ext(o.name), text)
		line := strings.Fields(strings.ReplaceAll(o.command, "MUTANT", file))
		err := checkShown(t, o.name+" "+where, line, filepath.Join(dir, "made.txt"))
		said := fmt.Sprint(err)
		check.True(t, err == nil || where != "damaged" || said != "" && !strings.Contains(said, "\n") && (exitStatus(err) == 1 || exitStatus(err) == 2 || line[0] == "sweep"),
			"%q: %q; want a sentence", line, said)
		check.Need(t, !t.Failed(), "file %d is %.65536q", i, text)
		for _, made := range []string{"made.txt", "made.svg", "made.html", "SHM.txt", "gamma.txt"} {
			os.Remove(filepath.Join(dir, made))
		}
	}
}

// errUnbounded is the error of a command that panics, hangs or takes too much memory.
var errUnbounded = errors.New("out of bounds")

// bounded runs a command in this process.
func bounded(out, errOut io.Writer, line []string) (err error) {
	const most = 1 << 30
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	var before runtime.MemStats // with what other tests left
	runtime.ReadMemStats(&before)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				stack := make([]byte, 1<<12)
				done <- fmt.Errorf("%w: panic: %v\n%s", errUnbounded, r, stack[:runtime.Stack(stack, false)])
			}
		}()
		cmd, args := find(line)
		done <- cmd.run(ctx, out, errOut, args)
	}()
	if line[0] == "sweep" { // which measures as long as its plan says
		defer time.AfterFunc(250*time.Millisecond, cancel).Stop()
	}
	limit := time.NewTimer(hangs)
	defer limit.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-limit.C:
			return fmt.Errorf("%w: no end within %v", errUnbounded, hangs)
		case <-look.C:
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapInuse > before.HeapInuse+most {
				return fmt.Errorf("%w: %d MB of memory", errUnbounded, (m.HeapInuse-before.HeapInuse)>>20)
			}
		}
	}
}

// An original is a file to damage, with a command that reads its kind.
type original struct {
	name, text string
	command    string // MUTANT is the file
}

// mutable are originals of every kind of input file. dir has the other files that commands name.
func mutable(t *testing.T) (all []original, dir string) {
	t.Helper()
	dir = fixtures(t)
	tables := []string{
		"compare MUTANT GOOD", "predict -params MUTANT -P 2,5 -m 1:4G bcast", "explain -params MUTANT -P 8 -m 64K bcast:binomial allgather:ring",
		"plot l-tau -o DIR/made.svg MUTANT", "report -o DIR/made.html MUTANT GOOD",
	}
	native := append(tables, "export -format csv MUTANT", "export -format benchfmt MUTANT", "export -format libtaulop DIR MUTANT",
		"predict -params MUTANT -model loggp -P 4 bcast", "predict -params MUTANT -model mlognp -P 2 bcast", "plot copy -o DIR/made.svg MUTANT",
		"plot pairs -o DIR/made.svg MUTANT", "explain -compare -params MUTANT -P 4 bcast:linear bcast:binomial",
		"predict -params MUTANT -P 4 -m 1:1G allreduce", "plot l-m -o DIR/made.svg MUTANT", "predict -params MUTANT -P 2 -op none reduce",
		"compare -setup none MUTANT GOOD", "compare -csv GOOD MUTANT", "compare -json MUTANT GOOD", "compare -o DIR/made.txt GOOD MUTANT",
		"predict -params MUTANT -P 2 -m 8K -tsv allreduce", "predict -params MUTANT -P 2 -m 8K -json bcast", "explain -params MUTANT -P 2 -m 8K -json bcast:linear",
		"verify -params MUTANT -against DIR/imb-2021.11.txt -o DIR/made.txt", "verify -params MUTANT -against DIR/imb-2021.11.txt -json")
	for _, kind := range plotKinds {
		if kind.command == "" {
			native = append(native, "plot "+kind.name+" -o DIR/made.svg MUTANT")
		}
	}
	predicted, _ := ran(t, "predict", "-json", "-params", dir+"/wide.txt", "-P", "2", "-m", "1K,2K", "bcast")
	save(t, dir, "predicted.json", predicted)
	ran(t, "import", "-format", "tidy", "-o", dir+"/m.json", dir+"/p2p.tsv")
	save(t, dir, "tiny.txt", tinySHM)
	save(t, dir, "tiny-gamma.txt", tinyGamma)
	save(t, dir, "plan.json", load(t, resumable(t, func(*params.Plan) {})))
	save(t, dir, "against.json", againstDocument)
	for _, output := range []string{"imb-2021.11.txt", "osu-5.3.txt"} {
		save(t, dir, output, load(t, "../../internal/mpibench/testdata", output))
	}
	benchmarks := []string{"verify -against MUTANT -params GOOD -P 4", "verify -json -against MUTANT -params GOOD", "import MUTANT"}
	for _, of := range []struct {
		file, good string
		commands   []string // GOOD is a parameter file beside it, DIR where others are
	}{
		{"talkative.json", "tiny.txt", native},
		{"tiny.txt", "swept.json", append(tables, "import MUTANT", "import MUTANT DIR/tiny-gamma.txt", "compare -as ring MUTANT GOOD", "compare -csv GOOD MUTANT")},
		{"tiny-gamma.txt", "tiny.txt", []string{"import GOOD MUTANT", "predict -params GOOD -gamma MUTANT -P 4 allreduce"}},
		{"imb-2021.11.txt", "tiny.txt", benchmarks},
		{"osu-5.3.txt", "tiny.txt", benchmarks},
		{"plan.json", "swept.json", append(native, "sweep -quiet -resume MUTANT")},
		{"verify.json", "", []string{"plot predicted -o DIR/made.svg MUTANT", "plot accuracy -o DIR/made.svg MUTANT", "plot accuracy -algorithm none -o DIR/made.svg MUTANT"}},
		{"predicted.json", "", []string{"plot predict -o DIR/made.svg MUTANT"}},
		{"against.json", "", []string{"plot published -o DIR/made.svg MUTANT"}},
		{"p2p.tsv", "", []string{"import MUTANT"}},
		{"coll.tsv", "m.json", []string{"verify -against MUTANT -params GOOD", "verify -json -against MUTANT -params GOOD"}},
		{"matrix.csv", "", []string{"import MUTANT"}},
		{"few.csv", "", []string{"map -nodes 2 MUTANT", "map -json MUTANT"}},
		{"messages.0.prof", "", []string{"map -nodes 2 MUTANT DIR/messages.1.prof"}},
		{"cannon.toml", "access.json", []string{"estimate -params GOOD MUTANT"}},
		{"messages.toml", "small/SHM.txt", []string{"estimate -params GOOD MUTANT"}},
		{"small/generic.json", "small/SHM.txt", []string{"tune -for mpich4 -params GOOD -base MUTANT -P 2 -m 16K bcast"}},
	} {
		named := strings.NewReplacer("GOOD", filepath.Join(dir, of.good), "DIR", dir)
		text := load(t, dir, of.file)
		all = append(all, lists.Map(of.commands, func(command string) original { return original{of.file, text, named.Replace(command)} })...)
	}
	return all, dir
}

var numeral = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

// odd are replacements for a number.
var odd = []string{"0", "-1", "1", "1e308", "1e-320", "-0", "9223372036854775807", "18446744073709551616", "1125899906842624", "100000000",
	"1073741824", "65536", "16384", "8191", "NaN", "null", `"x"`, "[]", "{}", "1_000", "0x1p4", "0.5", "1e999", ""}

// mutate changes a text in a few places as editors, transfers and attackers do.
func mutate(random *rand.Rand, text string) string {
	for range 1 + random.IntN(3) {
		if len(text) == 0 {
			return text
		}
		at := random.IntN(len(text))
		end := min(len(text), at+1+random.IntN(40))
		switch random.IntN(12) {
		case 0: // cut
			text = text[:at]
		case 1: // a piece is missing
			text = text[:at] + text[end:]
		case 2: // a piece is there twice
			text = text[:end] + text[at:]
		case 3: // a byte is another
			text = text[:at] + string([]byte{byte(random.IntN(256))}) + text[at+1:]
		case 4: // lines change places
			lines := strings.SplitAfter(text, "\n")
			i, j := random.IntN(len(lines)), random.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
			text = strings.Join(lines, "")
		case 5: // long
			text = text[:at] + strings.Repeat(text[at:end], 1+random.IntN(1000)) + text[end:]
		default: // another number
			places := numeral.FindAllStringIndex(text, -1)
			if len(places) == 0 {
				continue
			}
			place := places[random.IntN(len(places))]
			text = text[:place[0]] + odd[random.IntN(len(odd))] + text[place[1]:]
		}
	}
	return text
}
