package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
)

// A mistake is a command line that is refused, and what the sentence about it says.
type mistake struct{ line, want string }

// refuses runs command lines behind the words of a command and flags of a machine: each ends with
// status 2 and one sentence, and prints nothing.
func refuses(t *testing.T, machine []string, command string, all []mistake) {
	t.Helper()
	for _, m := range all {
		words := strings.Fields(command + " " + m.line)
		if command != "" {
			words = on(machine, words[0], strings.Join(words[1:], " "))
		}
		out, _, err := run(t, words...)
		if exitStatus(err) != 2 || !strings.Contains(err.Error(), m.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "open ") || out != "" {
			t.Errorf("%s %s: exit %d, %v, output %q; want exit 2 and one line with %q", command, m.line, exitStatus(err), err, out, m.want)
		}
	}
}

// A mistake is answered in one sentence that says what to do.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	host := node(t, dir, "host", 1000, 0.3, 0.02, 1, 2)
	verified, packed := filepath.Join(dir, "verify.json"), save(t, dir, "host.json.gz", "\x1f\x8b\x08")
	save(t, "", verified, `{"params":"swept","rows":[],"means":[]}`)
	refuses(t, nil, "", []mistake{
		{"plot " + host, "host.json is a file: say first which chart, like taulop plot "},
		{"predict -P 2 " + host, "host.json is a file: name it with -params, and beside it a collective"},
		{"explain -P 2 " + host, "host.json is a file: name it with -params"},
		{"import " + host, "host.json is a parameter file of taulop already"},
		{"import " + dir + "/none.txt", "none.txt is not there: check its name"},
		{"import " + host + "/SHM.txt", "SHM.txt cannot be read: not a directory"},
		{"predict -P 2 -params " + host + "/x bcast", "x cannot be read: not a directory"},
		{"compare " + host + " " + verified, "this is no parameter file but what taulop verify wrote"},
		{"predict -P 2 -params " + packed + " bcast", packed + " is compressed by gzip: unpack it"},
		{"predict -P 2 -params " + host + "," + host + " bcast", "host.json is there twice: name each file once"},
		{"predict -P 2 -params " + host + ", bcast", "a comma with no file beside it"},
		{"predict -P 2 -params , bcast", "a comma with no file beside it"},
		{"plot predict -o - " + packed, packed + " is compressed by gzip: unpack it"},
		{"sweep -resume", "-resume is the last word and needs its file after it"},
		{"sweep -resume " + dir + "/none.json", "none.json is not there"},
		{"topo -tau x", "give one whole number"},
		{"map -P 2,4 bt", "give one whole number"},
		{"topo -tau 99999999999999999999", "give one whole number"},
		{"sweep -time 5 -o x.json", "a time has a unit"},
		{"predict -json=2 bcast", "it is true or false"},
		{"version x", "version takes no arguments"},
	})
	if out, _, err := run(t, "version"); err != nil || !strings.HasPrefix(out, "taulop ") || !strings.Contains(out, " go1.") {
		t.Errorf("version: %v, %s", err, out)
	}
}

// A flag that names a file is refused without a name, by every command that has one.
func TestEmptyFileNames(t *testing.T) {
	tried := 0
	for _, c := range commands {
		for _, s := range c.settings() {
			if !slices.Contains([]string{"file", "table", "DIR"}, s.value) && s.name != "params" {
				continue
			}
			tried++
			args := []string{c.name, "-" + s.name, ""}
			if c.name == "" {
				args = args[1:]
			}
			out, _, err := run(t, args...)
			want := 2
			if c.plugin { // which prints its errors
				want = int(compare.Unknown)
			}
			if said := out + fmt.Sprint(err); c.status(err) != want || !strings.Contains(said, "-"+s.name) || !strings.Contains(said, "empty name") {
				t.Errorf("%s -%s '': status %d, %s", c.name, s.name, c.status(err), said)
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d flags that name files, of 20 and more", tried)
	}
}

// A flag that counts once is not taken twice.
func TestTwice(t *testing.T) {
	_, directory := smallMachine(t)
	file := filepath.Join(directory, "SHM.txt")
	refuses(t, nil, "", []mistake{
		{"predict -P 2 -P 4 -m 8K bcast -params " + file, "-P is there twice"},
		{"predict -P 2 -name a -name b -m 8K bcast -params " + file, "-name is there twice"},
		{"explain -P 2 bcast:linear -m 1 -m 2 -params " + file, "-m is there twice"},
	})
}
