package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
)

// planted are texts to plant into files. There are several because commands reject some names and
// repeat others.
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

// checkShown runs a command on a file with a planted text, checks its output and text files, and returns its
// error.
func checkShown(t *testing.T, where string, line []string, written ...string) (err error) {
	t.Helper()
	out, errOut, err := show(line...)
	check.Need(t, !errors.Is(err, errUnbounded), "%s: %q: %v", where, line, err)
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
		at, found := unsafe(text)
		check.True(t, !found, "%s: %q: %s has %q", where, line, name, text[max(0, at-20):min(len(text), at+20)])
		for printed := range strings.Lines(text) {
			if len(printed) > 4000 && line[0] != "tune" { // a tree for MPICH keeps the names of the given one
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
	random := randtest.New(t)
	root := filepath.Join(scratch(t), "root")
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
