package argument

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		text       string
		bytes      int
		label, err string
	}{
		{"8", 8192, "8KB", ""}, // the paper's commands: KB
		{"8K", 8192, "8KB", ""}, {"8kb", 8192, "8KB", ""}, {"8KiB", 8192, "8KB", ""}, {"64B", 64, "64B", ""},
		{"1M", 1 << 20, "1MB", ""}, {"1024K", 1 << 20, "1024KB", ""}, {"2G", 2 << 30, "2GB", ""}, {"0", 0, "0B", ""},
		{"", 0, "", "not a size"}, {"K", 0, "", "not a size"}, {"-8", 0, "", "not a size"},
		{"1.5K", 0, "", "not a size"}, {"8X", 0, "", "not a size"}, {"8KK", 0, "", "not a size"},
		{"99999999999999999999", 0, "", "too large"},
		{"9007199254740993K", 0, "", "too large"},
	} {
		bytes, label, err := Size(tt.text, 1<<10)
		contains.Error(t, err, tt.err)
		check.True(t, err != nil || bytes == tt.bytes && label == tt.label, "Size(%q) = %d, %q; want %d, %q", tt.text, bytes, label, tt.bytes, tt.label)
	}
}

// said is the text of a result, or of the error instead.
func said(result any, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(result)
}

// A share is read with its sign or below 1, and never as more than is said.
func TestShare(t *testing.T) {
	for text, want := range map[string]string{
		"10%": "0.1", "10 %": "0.1", "10": "0.1", "0.1": "0.1", "1%": "0.01", "100%": "1", "0": "0", "0.5%": "0.005", "150": "1.5",
		"1": `"1" may be 1 % or all: give 1% or 100%`, "-1": `"-1" is no percentage: give one like 10%`, "x": `"x" is no percentage: give one like 10%`,
		"NaN": `"NaN" is no percentage: give one like 10%`, "300": `"300" is too much: give a percentage from 0 to 200, like 10%`,
	} {
		got, err := Share(2)(text)
		check.Equal(t, said(got, err), want, "%s", text)
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		text   string
		dashes bool
		want   []int // nil: refused
	}{
		{"4", true, []int{4}}, {"2, 4,8,4", true, []int{2, 4, 8}}, {"2-5,3-6", true, []int{2, 3, 4, 5, 6}},
		{"7-7", true, []int{7}}, {"2:16", true, []int{2, 4, 8, 16}}, {"3:20", true, []int{3, 6, 12, 20}},
		{"0:5", false, []int{0, 1, 2, 4, 5}}, {"5:5", false, []int{5}},
		{"9223372036854775806:9223372036854775807", false, []int{9223372036854775806, 9223372036854775807}},
		{"2-5", false, nil}, {"5-2", true, nil}, {"8:4", true, nil}, {"2-", true, nil}, {":4", true, nil}, {"", true, nil},
		{"1,,2", true, nil}, {"1-20000", true, nil},
	} {
		got, err := List(tt.text, tt.dashes, strconv.Atoi)
		check.True(t, slices.Equal(got, tt.want) && (err == nil) == (tt.want != nil), "%q: %v, %v, want %v", tt.text, got, err, tt.want)
	}
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"8", "64B", "8K", "1M", "2GiB", "0", "9223372036854775807B", "-1", "8KK"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, label, err := Size(text, 1<<10)
		if err != nil {
			return
		}
		again, same, err := Size(label, 1<<10)
		check.True(t, err == nil && bytes >= 0 && again == bytes && same == label,
			"Size(%q) = %d %q, and that label is %d %q %v", text, bytes, label, again, same, err)
	})
}

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
		"-2 -csv a -4K8S -tau -1":     "-tau is of single copies: take another way",
		"-2 -csv a -4K8S":             "[-2 a -4K8S]",
		"-2 -degree -x":               `-degree is "-x": give one whole number`,
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
		"-time 0s":                    "-time is 0s: give a time with its unit, above zero and 8760h at the most, like 60s or 5m",
		"-time 8761h":                 "-time is 8761h0m0s: give a time with its unit, above zero and 8760h at the most, like 60s or 5m",
		"-time 5":                     `-time is "5": give a time with its unit, above zero and 8760h at the most, like 60s or 5m`,
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
		check.Equal(t, said(words, err), want, "%s", line)
	}
	check.ErrorIs(t, must.Err(example().Parse([]string{"x", "-h"})), flag.ErrHelp, "-h")
	check.Equal(t, len(Words(example().Lookup("way"))), 2, "Words")
}

// An error names all required flags that are missing. A time has bounds as numbers have.
func TestRequired(t *testing.T) {
	for line, want := range map[string]string{
		"-params x -P 2": "<nil>", "-list": "<nil>", "-P 2": "-params is missing: name a file",
		"-params x -P=": "-P is missing: say how many", "": "-params, -P are missing: name a file; say how many",
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
		check.Equal(t, fmt.Sprint(cmp.Or(err, s.Checked())), want, "%s", line)
	}
}
