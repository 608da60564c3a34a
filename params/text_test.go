package params

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

const small = "#m\t2\n#tau\t2\n#m\to(m)\tL(m, 1)\tL(m, 2)\n1\t0.1\t0.2\t0.3\n64\t0.4\t0.5\t0.6\n"
const smallGamma = "#m:\t2\n#tau_op:\t2\n#m\tmax\tsum\n4\t0.1\t0.2\n64\t0.3\t0.4\t\n"

// published returns the parameter files in $TAULOP_SHARED with the given base names, by path.
func published(t testing.TB, names ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	shared := os.Getenv("TAULOP_SHARED")
	if shared == "" {
		return files
	}
	for _, name := range names {
		paths, err := filepath.Glob(filepath.Join(shared, "params", "*", name))
		check.Need(t, err == nil && len(paths) != 0, "no %s in TAULOP_SHARED: %v", name, err)
		for _, path := range paths {
			files[path] = must.Get(os.ReadFile(path))
		}
	}
	return files
}

func TestReadText(t *testing.T) {
	for _, form := range []struct{ name, text string }{
		{"as written", small},
		{"blank lines and comments", strings.Replace(small, "64", "\n# by hand\n64", 1) + "\n"},
		{"no line end", strings.TrimSuffix(small, "\n")},
		{"blank lines and comments at the top", "\n# metropolis, measured in 2014\n\t\n#\n" + strings.Replace(small, "#tau", "# m and tau\n\n#tau", 1)},
		{"comments behind the names", strings.Replace(small, "\n1\t", "\n# in seconds\n1\t", 1)},
		{"spaces for tabs", strings.ReplaceAll(small, "\t", " ")},
		{"indented", "  " + strings.ReplaceAll(small, "\n", "\n  ")},
		{"colons", strings.NewReplacer("#m\t2", "#m:\t2", "#tau", "# tau:").Replace(small)},
		{"Ctrl-Z at the end of the last line", strings.TrimSuffix(small, "\n") + "\x1a"},
		{"all of it", "\xef\xbb\xbf\r\n" + strings.ReplaceAll(small, "\n", " \t\r\n") + "\x1a"},
	} {
		table, err := ReadText(strings.NewReader(form.text), "SHM.txt")
		check.Need(t, err == nil, "%s: %v", form.name, err)
		l, _ := table.L(64, 2)
		o, _ := table.O(64)
		check.True(t, l == 0.6 && o == 0.4 && len(table.Transfers.Sizes) == 2 && len(table.Transfers.Taus) == 2, "%s: read as %+v", form.name, table)
	}
}

func TestReadTextRefuses(t *testing.T) {
	with := func(old, new string) string {
		check.Need(t, strings.Contains(small, old), "%q is not in the sample", old)
		return strings.Replace(small, old, new, 1)
	}
	for _, tt := range []struct{ name, text, says string }{
		{"empty", "", `f:1: the file ends here; a line "#m<TAB>number" is missing`},
		{"another file", "MPI benchmark results\n", `f:1: "MPI benchmark results": this is no parameter file, name one that taulop sweep`},
		{"gamma file", smallGamma, `f:2: "#tau_op:\t2", want "#tau<TAB>number"`},
		{"truncated between lines", small[:strings.Index(small, "64")], "f:4: ends after 1 of the 2 sizes"},
		{"truncated in a line", small[:len(small)-5], "f:5: the file ends in the middle"},
		{"too many sizes", small + "65\t1\t1\t1\n", "f:6: more sizes than the 2"},
		{"a τ missing in all", with("L(m, 2)", "L(m, 3)"), `f:4: column "L(m, 3)" where τ = 2 is due`},
		{"NaN", with("0.5", "NaN"), `f:5: column 3: "NaN" is no time`},
		{"absurd", with("0.5", "1e300"), `f:5: column 3`},
		{"unsorted sizes", strings.Replace(with("\n1\t", "\n128\t"), "#m\t2", "#m\t2", 1), "f:5: size 64 comes after 128; they must rise"},
		{"huge size", with("64", "99999999999999999"), `is no message size`},
		{"huge table", strings.Replace(with("#m\t2", "#m\t1000000"), "#tau\t2", "#tau\t1000000", 1), "f:2: 1000000 sizes by 1000000 columns declared"},
		{"no sizes", with("#m\t2", "#m\t0"), "f:1: "},
		{"no count of sizes", strings.TrimPrefix(small, "#m\t2\n"), `f:1: "#tau\t2", want "#m<TAB>number"`},
		{"no count of τ", strings.Replace(small, "#tau\t2\n", "", 1), `f:2: "#m\to(m)`},
		{"digits in groups", with("0.5", "1_000"), `f:5: column 3: "1_000" is no time`},
		{"cut within the last number, behind an exponent", strings.NewReplacer("0.3\n", "0.3e-06\n", "0.6\n", "0.6e-0").Replace(small), "f:5: the file ends in the middle"},
		{"cut to a whole number", strings.NewReplacer("0.3\n", "31.54\n", "0.6\n", "35").Replace(small), "f:5: the file ends in the middle of this line, after \"35\""},
		{"Ctrl-Z within", with("0.5", "0.5\x1a"), `f:5: column 3`},
		{"UTF-16", utf16(small), "f:1: the file is UTF-16"},
		{"UTF-16 without mark", utf16(small)[2:], "f:1: a zero byte"},
		{"megabyte line", with("64", strings.Repeat("6", 3<<20)), "f:5: a line of more than 1048576 bytes"},
		{"megabyte of tabs", with("64", "64"+strings.Repeat("\t", 1<<20-100)), "f:5: 1048"},
	} {
		table, err := ReadText(strings.NewReader(tt.text), "f")
		contains.Error(t, err, tt.says)
		check.True(t, table == nil && len(fmt.Sprint(err)) <= 300, "%s: a table beside the error, or one of %d bytes", tt.name, len(fmt.Sprint(err)))
	}
}

func TestReadGammaText(t *testing.T) {
	for _, text := range []string{smallGamma, strings.NewReplacer("\n", "\r\n", "#m:", "#m", "#tau_op:", "#max_ops", "#m\tmax", "#size\tmax").Replace(smallGamma)} {
		g := must.Get(ReadGammaText(strings.NewReader(text), "gamma.txt"))
		got, beyond := must.Get(g.Operator("sum")).At(34, 7)
		check.True(t, !beyond && near(got, 0.3, 1e-9), "γ(34) of sum = %v, %v; want 0.3, half way between 4 and 64", got, beyond)
	}
	for _, tt := range []struct{ old, new, says string }{
		{"#tau_op:", "#tau", `g:2: "#tau\t2", want "#max_ops<TAB>number"`},
		{"max\tsum", "max", "g:4: line 3 names 1 operators, line 2 declares 2"},
		{"max\tsum", "max\tMAX", `g:4: operator "MAX" of line 3 is empty or there twice`},
		{"max\tsum", "\tmax", `g:4: operator "" of line 3`},
		{"0.4", "1e400", "g:5: column 3"},
	} {
		contains.Error(t, must.Err(ReadGammaText(strings.NewReader(strings.Replace(smallGamma, tt.old, tt.new, 1)), "g")), tt.says)
	}
}

// Truncated files are refused, unless only white space is missing.
func TestReadTextRefusesEveryTruncation(t *testing.T) {
	for text, gamma := range map[string]bool{small: false, smallGamma: true} {
		for i := range len(text) - 1 {
			_, err := ReadText(strings.NewReader(text[:i]), "f")
			if gamma {
				_, err = ReadGammaText(strings.NewReader(text[:i]), "f")
			}
			check.True(t, strings.TrimSpace(text[i:]) == "" || err != nil, "%q was read", text[:i])
		}
	}
}

// A last row without a line end counts if it has all its columns. Doubt says whether digits may be missing.
func TestReadTextWithoutLineEnd(t *testing.T) {
	for _, tt := range []struct{ last, doubt string }{
		{"0.6\n", ""},
		{"0.6\n\n# measured in 2014", ""},
		{"0.6", "f:5: the last row has no line end: its last number, 0.6, is taken as it stands"},
		{"0.25", "f:5: the last row has no line end: its last number, 0.25, is taken as it stands"},
	} {
		table := must.Get(ReadText(strings.NewReader(strings.Replace(small, "0.6\n", tt.last, 1)), "f"))
		check.Equal(t, fmt.Sprint(table.Doubt), cmp.Or(tt.doubt, "<nil>"), "%q: doubt %v", tt.last, table.Doubt)
		check.Equal(t, len(FromText(table, nil).Warnings) > 0, tt.doubt != "", "%q: the file has a warning", tt.last)
	}
	for path, data := range published(t, "SHM.txt", "TCP.txt", "IB.txt") {
		cut := bytes.TrimRight(data, "\t\n")
		for lost, word := range []string{"stands", "digits", "digits"} {
			table := must.Get(ReadText(bytes.NewReader(cut[:len(cut)-lost]), path))
			check.True(t, table.Doubt != nil && strings.HasSuffix(table.Doubt.Error(), word), "%s without its last %d digits: doubt %v", path, lost, table.Doubt)
		}
	}
	for path, data := range published(t, "gamma.txt") {
		g := must.Get(ReadGammaText(bytes.NewReader(bytes.TrimRight(data, "\t\n")), path))
		check.True(t, g.Doubt != nil, "%s without its last line end has no doubt", path)
	}
}

// A read error is not mistaken for the end of the file.
func TestReadTextReportsReadErrors(t *testing.T) {
	r := io.MultiReader(strings.NewReader(small), iotest.ErrReader(errors.New("disk on fire")))
	contains.Error(t, must.Err(ReadText(r, "f")), "f:6: disk on fire")
}

// numbers are the numbers outside comments, without trailing zeros.
func numbers(text string) []string {
	text = regexp.MustCompile("(?m)^#.*").ReplaceAllString(text, "")
	return strings.Fields(regexp.MustCompile(`(\.\S*?)0+(\s|$)`).ReplaceAllString(text, "$1$2"))
}

func TestWriteTextRefuses(t *testing.T) {
	good := func() *Table {
		return &Table{Transfers: Curve{Sizes: []int{1, 2}, Taus: []int{1, 2}, Times: [][]float64{{1, 2}, {3, 4}}}, Overheads: []float64{0, 0}}
	}
	table := func(spoil func(*Table)) error { t := good(); spoil(t); return WriteText(io.Discard, t) }
	a := Operator{"a", Curve{Sizes: []int{1}, Times: [][]float64{{1}}}}
	b := Operator{"b", Curve{Sizes: []int{2}, Times: [][]float64{{1}}}}
	c := Operator{"c", Curve{Sizes: []int{1}, Taus: []int{2}, Times: [][]float64{{1}}}}
	gamma := func(operators ...Operator) error { return WriteGammaText(io.Discard, &Gamma{Operators: operators}) }
	for says, err := range map[string]error{
		"τ = 2 is missing":                       table(func(t *Table) { t.Transfers.Taus[1] = 4 }),
		"a first size of 1 byte":                 table(func(t *Table) { t.Transfers.Sizes[0] = 2; t.Transfers.Sizes[1] = 4 }),
		"size 1 is there twice":                  table(func(t *Table) { t.Transfers.Sizes[1] = 1 }),
		`column 3: "-1.000000000000" is no time`: table(func(t *Table) { t.Transfers.Times[1][0] = -1 }),
		`column 2: "-1.000000000000" is no time`: table(func(t *Table) { t.Overheads[1] = -1 }),
		"its readers want":                       table(func(t *Table) { t.Transfers = Curve{} }),
		"no operators":                           gamma(),
		"operators a and b have different sizes": gamma(a, b),
		"no γ for τ = 1":                         gamma(c),
		"line 3 names 2 operators":               gamma(Operator{"a\tb", a.Curve}),
	} {
		contains.Error(t, err, says)
	}
	must.Do(WriteText(io.Discard, good()))
}

// FuzzReadText writes and reads again what it read in either format.
func FuzzReadText(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(smallGamma))
	f.Add([]byte("\ufeff# by hand\r\n\r\n" + strings.ReplaceAll(small, "\t", "  ") + "\x1a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadText(bytes.NewReader(data), "f")
		g, failed := ReadGammaText(bytes.NewReader(data), "f")
		for _, err := range []error{err, failed} {
			check.True(t, err == nil || strings.HasPrefix(err.Error(), "f:"), "error without file and line: %v", err)
		}
		var first, second bytes.Buffer
		if err == nil && table.Transfers.Sizes[0] == 1 {
			must.Do(WriteText(&first, table))
			must.Do(WriteText(&second, must.Get(ReadText(bytes.NewReader(first.Bytes()), "again"))))
			check.Slices(t, first.Bytes(), second.Bytes(), "written twice")
		}
		if first.Reset(); failed == nil {
			must.Do(WriteGammaText(&first, g))
			must.Get(ReadGammaText(&first, "again"))
		}
	})
}
