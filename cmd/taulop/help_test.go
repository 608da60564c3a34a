package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The manual and completion have every flag of every command. Shells accept the completion scripts, and
// troff the manual.
func TestManualAndCompletion(t *testing.T) {
	manual, _ := ran(t, "man")
	if n := strings.Count(manual, "\n"); n > 900 {
		t.Errorf("the manual has %d lines, more than 900", n)
	}
	for _, c := range commands {
		if len(c.settings()) == 0 && !slices.Contains([]string{"help", "version", "man", "completion"}, c.name) {
			t.Errorf("%q has nothing to say of itself", c.name)
		}
		for _, m := range c.all() {
			if !strings.Contains(manual, `.SH "`+roff(strings.ToUpper(m.called()))+`"`) {
				t.Errorf("the manual has no %s", m.called())
			}
			line := append(strings.Fields(m.name), "-")
			offered := strings.Join(complete(line), "\n")
			for _, s := range m.settings() {
				if !strings.Contains(offered, "-"+s.name+"\t") {
					t.Errorf("%q: completion has no -%s", line, s.name)
				}
				if !strings.Contains(manual, `\fB\-`+roff(s.name)+`\fR`) {
					t.Errorf("the manual has no -%s of %q", s.name, m.name)
				}
			}
		}
	}
	texts := map[string]string{"groff -man -Kutf8 -Tutf8 -ww -z": manual}
	for _, shell := range shells {
		texts[shell+" -n"], _ = ran(t, "completion", shell)
	}
	for line, text := range texts {
		words := strings.Fields(line)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%v", err)
			continue
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin = strings.NewReader(text)
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v, %s", line, err, said)
		}
	}
}

// Completion in bash.
func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	script, _ := ran(t, "completion", "bash")
	script = fmt.Sprintf("taulop() { %q \"$@\"; }\n%s", build(t), script)
	for line, want := range map[string]string{
		"taulop pre":                      "predict",
		"taulop predict -mod":             "-model",
		"taulop predict -model li":        "libtaulop",
		"taulop predict bcast:bino":       "binomial",
		"taulop tune -as openmpi5":        "openmpi5-none",
		"taulop compare -as ri":           "ring",
		"taulop explain -P 8 allga":       "allgather",
		"taulop sweep -cache ":            "in off",
		"taulop completion f":             "fish",
		"taulop -off":                     "-off_cache",
		"taulop -cpus ":                   "",
		"taulop plot conc":                "concurrency",
		"taulop help swe":                 "sweep",
		"taulop verify permu":             "permutation",
		"taulop export -format b":         "benchfmt",
		"taulop predict -params /dev/nul": "/dev/null",
	} {
		cmd := exec.Command("bash", "-c", script+fmt.Sprintf("\nCOMP_LINE=%q COMP_POINT=%d; _taulop; echo \"${COMPREPLY[*]}\"", line, len(line)))
		said, err := cmd.CombinedOutput()
		if got := strings.Fields(string(said)); err != nil || want == "" && len(got) > 0 || want != "" && !slices.Contains(got, strings.Fields(want)[0]) {
			t.Errorf("%q: %v, %q; want %q", line, err, said, want)
		}
	}
}

// fits fails if a line of a text is longer than 80 columns.
func fits(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%s: %d letters: %s", name, n, line)
		}
	}
}
