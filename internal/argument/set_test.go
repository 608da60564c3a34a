package argument

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// example is a set with one flag of each kind, and what goes together.
func example() *Set {
	s := NewSet("prog do")
	s.Bool("patterns", false, "")
	s.Int("degree", 2, "`children` of a rank")
	s.Int("variants", 3, "")
	s.Float64("margin", 5, "`percent`")
	s.Duration("time", time.Second, "")
	s.String("o", "", "a new `file`")
	s.Bool("csv", false, "")
	s.Bool("json", false, "")
	s.Bool("gamma", true, "")
	s.String("operators", "", "")
	s.Int("root", 0, "")
	s.Int("tau", 1, "")
	var way string
	Word(s, &way, "way", "whole", "`transport` of messages", []string{"whole", "single-copy"})
	s.Rules(
		Rule{Flags: "variants", Needs: "patterns", Why: "is of patterns"},
		Rule{Flags: "degree", Not: "patterns", Why: "is of collectives"},
		Rule{Flags: "operators", Not: "gamma=false", Why: "chooses reductions"},
		Rule{Flags: "root", Why: "is not for this"},
		Rule{Flags: "tau", Needs: "way=single-copy", Why: "is of single copies", Do: "take another way"},
	)
	s.OneOf("csv", "json")
	s.Within("margin", 0, 100, "give a percentage from 0 to 100")
	s.Elsewhere = func(name string) string {
		if name == "against" {
			return "goes with another"
		}
		return ""
	}
	return s
}

func TestSet(t *testing.T) {
	for line, want := range map[string]string{
		"":                            "[]",
		"a -csv b":                    "[a b]",
		"a -csv -- -b":                "[a -b]",
		"-patterns -variants 4":       "[]",
		"-degree 3 -patterns=false":   "[]",
		"-tau 2 -way single-copy":     "[]",
		"-operators x -gamma":         "[]",
		"-margin 100":                 "[]",
		"-variants 4":                 "-variants is of patterns: add -patterns, or leave it out",
		"-variants 4 -patterns=false": "-variants is of patterns: add -patterns, or leave it out",
		"-patterns -degree 3":         "-degree is of collectives: leave out -degree or -patterns",
		"-operators x -gamma=false":   "-operators chooses reductions: leave out -operators or -gamma=false",
		"-root 1":                     "-root is not for this: leave it out",
		"-tau 2":                      "-tau is of single copies: take another way",
		"-csv -json":                  "-csv and -json cannot be used together: choose one",
		"-margin 101":                 "-margin is 101: give a percentage from 0 to 100",
		"-margin NaN":                 "-margin is NaN: give a percentage from 0 to 100",
		"-margin x":                   `-margin is "x": give one number, like 0.05`,
		"-time 0s":                    "-time is 0s: give a time above zero, like 60s",
		"-time 5":                     `-time is "5": give a time with its unit, like 60s or 5m`,
		"-degree":                     "-degree is the last word and needs its children after it: prog do -h shows what there is",
		"-degre 2":                    "there is no flag -degre; did you mean -degree? prog do -h shows what there is",
		"-xyzzy":                      "there is no flag -xyzzy: prog do -h shows what there is",
		"-against x":                  "-against goes with another",
		"-csv -csv":                   "-csv is given twice: give it once (a list has commas)",
		"-csv=maybe":                  `-csv is "maybe": it is true or false, or stands alone`,
		"-o -degree 2 x":              "-o has no value: the next word, -degree, is a flag; give -o a value, or leave it out",
		"-variants --margin 2":        "-variants has no value: the next word, --margin, is a flag; give -variants a value, or leave it out",
		"-o=":                         "-o has an empty name: name a file, or leave -o out",
		"-way hole":                   `-way: there is no "hole"; did you mean "whole"? Known are whole, single-copy`,
		"-way=":                       `-way: there is no ""; known are whole, single-copy`,
	} {
		s := example()
		words, err := s.Parse(strings.Fields(line))
		if err == nil {
			err = s.Checked()
		}
		got := fmt.Sprint(words)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", line, got, want)
		}
	}
	if _, err := example().Parse([]string{"x", "-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	if got := Words(example().Lookup("way")); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// An error names all required flags that are missing. A time has bounds as numbers have.
func TestRequired(t *testing.T) {
	for line, want := range map[string]string{
		"-params x -P 2":  "<nil>",
		"-list":           "<nil>",
		"-P 2":            "-params is missing: name a file",
		"-params x -P=":   "-P is missing: say how many",
		"":                "-params, -P are missing: name a file; say how many",
		"-list -time 11s": "-time is 11s: give a time up to 10s",
	} {
		s := NewSet("prog do")
		s.String("params", "", "")
		s.String("P", "", "")
		s.Bool("list", false, "")
		s.Duration("time", time.Second, "")
		s.Within("time", 0, float64(10*time.Second), "give a time up to 10s")
		s.Required("params", "name a file", "list")
		s.Required("P", "say how many", "list")
		_, err := s.Parse(strings.Fields(line))
		if err = cmp.Or(err, s.Checked()); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
