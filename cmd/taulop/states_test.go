package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/params"
)

// inStates are the states of the file of a machine that was near and far, in words.
func inStates(t *testing.T, path string) (list, near, far string) {
	t.Helper()
	f := loadParams(t, path)
	states := f.States()
	if len(states) != 2 {
		t.Fatalf("%v", states)
	}
	return params.StateList(states), compare.InWords(states[0]), compare.InWords(states[1])
}

// Of a machine that was in several states what reads parameters says so, and -state takes one.
func TestState(t *testing.T) {
	t.Parallel()
	moved, still := sweeptest.Moved(t), docs+"/tasks/data/host.json"
	states, near, far := inStates(t, moved)
	means := "eans over 2 states by their shares: a flag takes " + states
	program := save(t, t.TempDir(), "p.toml", "ranks = 2\n[[phase]]\nmessage = \"ping-pong\"\nbytes = \"8K\"\ntimes = 100\n")
	for _, tt := range []struct {
		line string // of moved
		says []string
		not  string
	}{
		{"predict -P 2 -m 8K bcast:binomial", []string{"M" + means + "."}, far},
		{"predict -P 2 -m 8K -state most bcast:binomial", []string{"moved (" + near + "), from"}, "eans over"},
		{"predict -P 2 -m 8K -state 245ns bcast:binomial", []string{"moved (" + far + "), from"}, "eans over"},
		{"predict -P 2 -m 8K -state 245 -name here bcast:binomial", []string{"here (" + far + "), from"}, "moved ("},
		{"predict -P 2 -m 8K -csv bcast:binomial", []string{means}, ""},
		{"explain -P 2 -m 8K bcast:binomial", []string{"M" + means + ".", "\n  " + near + " of the time: 1.", "\n  " + far + " of the time: 4."}, ""},
		{"explain -P 2 -m 8K -state 60 bcast:binomial", []string{"m = 8K: 1."}, "of the time"},
		{"estimate " + program, []string{"m" + means}, ""},
		{"estimate -state 240ns " + program, []string{"in one state: " + far}, "eans over"},
	} {
		words := append(strings.Fields(tt.line), "-params", moved)
		out, errOut, err := run(t, words...)
		if err != nil || tt.not != "" && strings.Contains(out, tt.not) {
			t.Errorf("%s: %v\n%s", tt.line, err, out)
		}
		for _, want := range tt.says {
			if !strings.Contains(out+errOut, want) {
				t.Errorf("%s lacks %q\n%s%s", tt.line, want, out, errOut)
			}
		}
	}
	refuses(t, nil, "", []mistake{
		{"predict -P 2 bcast -state 120ns -params " + moved, "-state: " + moved + ": there is no state in which a flag takes 120 ns; there are " + states},
		{"predict -P 2 bcast -state 64ns -params " + still, "says of no sample which state the machine was in: leave the state out"},
		{"predict -P 2 bcast -state fast -params " + moved, `-state: "fast" is no state: give what a flag takes in it, like 64ns, or most`},
		{"plot l-m -state 120 -o " + t.TempDir() + "/l.svg " + moved, "there is no state in which a flag takes 120 ns"},
		{"export -format csv -state -1 " + moved, `"-1" is no state`},
		{"report -state 0 -o " + filepath.Join(t.TempDir(), "r.html") + " " + moved, `"0" is no state`},
		{"map -state most -P 2 ring", "-state is of parameters: name their file with -params"},
	})
	// Of several machines, those that stayed in one state are as they are.
	out, _, err := run(t, "predict", "-P", "2", "-m", "8K", "-state", "60", "-params", still+","+moved, "bcast")
	if err != nil || !strings.Contains(out, "moved ("+near+")") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err = run(t, "predict", "-P", "2", "-m", "8K", "-state", "60", "-params", still+","+docs+"/tasks/data/other.json", "bcast"); err == nil || exitStatus(err) != 2 {
		t.Errorf("two machines of one state: %v", err)
	}
}

// Figures, pages and exports have each state by itself, or the one that was asked for.
func TestEachState(t *testing.T) {
	t.Parallel()
	moved, dir := sweeptest.Moved(t), t.TempDir()
	states, near, far := inStates(t, moved)
	for _, tt := range []struct {
		line, file string
		says, not  string
	}{
		{"plot l-m -o %", "l.svg", near, ""},
		{"plot l-m -o %", "l2.svg", far, ""},
		{"plot l-m -state 240 -o %", "far.svg", far, near},
		{"plot ratio -o %", "r.svg", "as a ratio to moved (" + near + ")", ""},
		{"report -o %", "r.html", far + " of the time", ""},
		{"report -state most -o %", "most.html", near + " of the time", far},
		{"export -format csv -o %", "m.csv", ",state_ns,state_share\n", ""},
		{"export -format benchfmt -o %", "m.bench", "bytes=8192/state=240ns ", "cache=in/tau=2 "},
		{"export -format benchfmt -state 240 -o %", "far.bench", "bytes=8192 ", "state="},
	} {
		path := filepath.Join(dir, tt.file)
		if _, errOut, err := run(t, append(strings.Fields(strings.Replace(tt.line, "%", path, 1)), moved)...); err != nil {
			t.Errorf("%s: %v %s", tt.line, err, errOut)
			continue
		}
		if text := load(t, path); !strings.Contains(text, tt.says) || tt.not != "" && strings.Contains(text, tt.not) {
			t.Errorf("%s: lacks %q, or has %q", tt.line, tt.says, tt.not)
		}
	}
	if _, errOut, err := run(t, "export", "-format", "libtaulop", dir+"/text", moved); err != nil || !strings.Contains(errOut, "times are means over 2 states of the machine by their shares, "+states+": choose one with -state") {
		t.Errorf("%v %s", err, errOut)
	}
}
