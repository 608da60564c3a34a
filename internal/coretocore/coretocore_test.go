package coretocore

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// three is a matrix of three CPUs in the tool's format.
const three = ",,\n10.5,,\n40,41.25,\n"

func TestRead(t *testing.T) {
	for name, text := range map[string]string{
		"as printed":       three,
		"CRLF":             strings.ReplaceAll(three, "\n", "\r\n"),
		"byte order mark":  "\ufeff" + three,
		"no line end":      strings.TrimSuffix(three, "\n"),
		"blank lines":      three + "\n\n",
		"blanks in cells":  strings.ReplaceAll(three, ",", " , "),
		"full":             "0,10,40\n11,0,41\n40,41.5,0\n",
		"upper half":       "nan,10.5,40\n,NaN,41.25\n,,nan\n",
		"upper and zeroes": "0,10.5,40\n0,0,41.25\n0,0,0\n",
	} {
		m, err := Read(strings.NewReader(text), "m.csv")
		check.True(t, err == nil && len(m) == 3 && m[1][0] == 10.5 && m[0][2] == 40 && m[2][1] == 41.25 && m[1][2] == 41.25 && math.IsNaN(m[1][1]),
			"%s: %v, %v", name, m, err)
		check.True(t, Looks(text), "%s does not look like a matrix", name)
	}
	for _, text := range []string{"", "\n", "0\n0\n", "1,2,3\n4,5,6\n", "0,10\n11,12\n", ",,\n10,\n", "m,us\n1,2\n"} {
		check.True(t, !Looks(text), "%q looks like a matrix", text)
	}
	m, err := Read(strings.NewReader(",,\n,,\n40,,\n"), "m.csv") // some CPUs were not measured
	check.True(t, err == nil && m[2][0] == 40 && math.IsNaN(m[2][1]), "%v, %v", m, err)
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "m.csv: 0 lines of a matrix",
		"\n":                       "m.csv: 1 line of a matrix",
		",,\n10,,\n":               "m.csv: 2 lines of a matrix, which has two lines or more and as many values in each: it was cut off",
		",0,1\n0,,10\n1,10,\n":     "m.csv: the first line and the first column number the CPUs: leave them out",
		"0,1,2\n1,0,10\n2,10,0\n":  "m.csv: the first line and the first column number the CPUs: leave them out",
		",,\n10,,\n40,41":          "m.csv:3: 2 values where the first line has 3",
		three + "1,2,3\n":          "m.csv:4: more lines than the 3 values",
		",,\n10,,\n40,4x1,\n":      "m.csv:3: value 2: \"4x1\" is no time in ns",
		",,\n10,,\n40,-1,\n":       "m.csv:3: value 2: \"-1\" is no time in ns",
		",,\n10,,\n40,1e300,\n":    "m.csv:3: value 2: \"1e300\" is no time in ns",
		",,\n,,\n,,\n":             "m.csv: a matrix without a time",
		"Num cores: 2\n,\n10,\n":   "m.csv:1: value 1: \"Num cores: 2\" is no time in ns",
		strings.Repeat(",", 1<<19): "m.csv:1: a line of more than 262144 bytes",
		strings.Repeat(",", 5000):  "m.csv:1: 5001 values; the most is 4096 CPUs",
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(text), "m.csv")), want)
	}
}

// A matrix of CPUs in two caches, with AMD's numbers of siblings, shows the caches and the siblings.
func TestFile(t *testing.T) {
	var b strings.Builder
	for i := range 16 {
		for j := range 16 {
			switch {
			case j >= i:
			case i-j == 8:
				fmt.Fprintf(&b, "%.2f", 9+0.01*float64(j))
			case i%8/4 == j%8/4:
				fmt.Fprintf(&b, "%.2f", 24+0.1*float64((i*3+j)%7))
			default:
				fmt.Fprintf(&b, "%.2f", 95+0.5*float64((i+j*5)%9))
			}
			b.WriteString(map[bool]string{false: ",", true: "\n"}[j == 15])
		}
	}
	m := must.Get(Read(strings.NewReader(b.String()), "m.csv"))
	f := must.Get(m.File(nil, nil))
	must.Do(f.Validate())
	p, err := f.Pairs()
	check.Need(t, err == nil && len(p.Pairs) == 120 && p.Levels[0].Name == Whole, "%d pairs, levels %+v: %v", len(p.Pairs), p.Levels, err)
	groups := pairs.FindGroups(p, f.Provenance.Levels)
	check.True(t, len(groups) == 2 && len(groups[0].Groups) == 8 && len(groups[1].Groups) == 2 && groups[1].Groups[0].String() == "0-3,8-11", "groups %+v", groups)
	f = must.Get(m.File([]int{0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15}, numa.Levels{{Name: "package", Groups: []numa.CPUSet{numa.SetOf(0, 1)}}}))
	p, err = f.Pairs()
	check.True(t, err == nil && p.Pairs[0].From == 0 && p.Pairs[0].To == 1 && p.Pairs[0].Times[0].Center == 9 && p.Levels[0].Name == "package",
		"%+v, %v", p.Pairs[0], err)
	check.Error(t, must.Err(m.File([]int{0, 1}, nil)), "a matrix of 16 CPUs is one of two")
}
