package view

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
)

// Each part of a table that is too wide for a line repeats the keys, also numbers.
func TestTableKeys(t *testing.T) {
	table := Table{Columns: Numbers("P", "m", strings.Repeat("a", 40), strings.Repeat("b", 40)), Keys: 2}
	table.Add(7, "8K", 1, 2)
	text := printed(&table, DefaultWidth)
	check.Equal(t, strings.Count(text, "  7  8K  "), 2, "keys in\n%s", text)
}

// printed is a table on a page.
func printed(table *Table, width int) string {
	return must.Text(func(w io.Writer) {
		page := NewPage(w, width)
		table.WriteText(page)
		page.Close()
	})
}

func TestTableAdd(t *testing.T) {
	var table Table
	table.Add("a", 3, true, nil, []string{"b", ""}, []any{1.23456789, math.NaN(), math.Inf(1)}, -1e-9)
	check.Slices(t, table.Rows[0], []string{"a", "3", "true", "", "b", "", "1.23457", "", "", "-1e-09"}, "Rows")
}

func TestTableValues(t *testing.T) {
	table := Table{Columns: Words("name", "note", "p")}
	table.Add("a,b", "=1+1")
	values := must.Text(func(w io.Writer) error { return table.WriteValues(w, ',') })
	check.Equal(t, values, "name,note,p\n\"a,b\",'=1+1,\n", "String")
}

// A wide table is split into parts, each with the first column. Columns marked Beside stay together. Words are
// wrapped in their column, sentences with an indent.
func TestPage(t *testing.T) {
	table := Table{Title: "a title that is longer than a line", Columns: append(Numbers("m", "first", "second", "", "third"), Words("remark")...)}
	table.Columns[3].Left = true
	table.Add("1K", "100", "200", "± 1", "300", "of one word")
	table.Add("2K", "1000", "2000", "± 10", "3000", "of several words that have no room beside it")
	table.Note("a note that is longer than a line as well")
	for _, width := range []int{24, 60} {
		text := printed(&table, width)
		check.Golden(t, text, fmt.Sprint(width, ".txt"))
		for line := range strings.Lines(text) {
			check.AtMost(t, utf8.RuneCountInString(line)-1, width, "letters of %s", line)
		}
	}
	check.Equal(t, strings.Count(must.Text(table.WriteText), "\n"), 5, "lines where no width is given")
}

// Lines are wrapped however they are split over writes, also a last line without an end.
func TestPageLines(t *testing.T) {
	var b strings.Builder
	page := NewPage(&b, 12)
	for _, part := range []string{"one two", " three four\n\nfi", "ve\nlast of", " all of them"} {
		n, err := page.Write([]byte(part))
		check.Need(t, n == len(part) && err == nil, "%v %v", n, err)
	}
	page.Close()
	check.Equal(t, b.String(), "one two\n  three four\n\nfive\nlast of all\n  of them", "text")
}

// The uncertainty decides the number of digits; 0 has no sign.
func TestDigits(t *testing.T) {
	for of, want := range map[[2]float64]string{
		{1234.567, 30}: "1235", {95923, 20000}: "96000", {2382, 150}: "2380", {-14999, 1000}: "-15000", {1234.567, 0.5}: "1234.6",
		{12.345, 0.04}: "12.35", {0.012345, 0.0001}: "0.0123", {0.00049, 0.00002}: "0.00049",
		{3793, 0}: "3793", {12.3456, math.Inf(1)}: "12.3", {math.NaN(), 1}: "?",
		{-0.3, 20}: "0", {-0.04, 0.3}: "0.0", {0, 1}: "0", {-3, 20}: "-3", {-0.4, 0.3}: "-0.4", {-10, 200}: "-10",
	} {
		check.Equal(t, Digits(of[0], of[1]), want, "Digits(%g, %g)", of[0], of[1])
	}
}

// An interval has its centre in print, too.
func TestIntervalAroundCenter(t *testing.T) {
	for of, want := range map[[3]float64]string{ // the center and the ends
		{4.72, 4.67, 7.27}: "4.7 [4.7, 7.3]", {4.31, 2.01, 4.37}: "4.3 [2.0, 4.4]", {28847, 28671, 58205}: "28800 [28700, 58200]",
		{5.1, 4.67, 7.27}: "5.1 [5, 7]",
	} {
		check.Equal(t, Known(fit.Estimate{Center: of[0], Lo: of[1], Hi: of[2], N: 9}, ""), want, "interval")
	}
}

// A number has two digits, unless its interval is twenty times as wide.
func TestRoughOfTheUnknown(t *testing.T) {
	for e, want := range map[fit.Estimate]string{
		{Center: 4.5e-5, Lo: 0, Hi: 6, N: 11}: "0", {Center: 1.7, Lo: 0, Hi: 3, N: 11}: "1.7",
		{Center: 183, Lo: 171, Hi: 223, N: 11}: "183", {Center: 2490, Lo: 0.0025, Hi: 2.5e9, N: 2}: "2500",
	} {
		check.Equal(t, Rough(e), want, "Rough(%v)", e)
	}
}

// Empty lists are [] at any depth, unless their type writes its own JSON or they may be left out.
func TestWriteJSON(t *testing.T) {
	type row struct {
		Samples []float64 `json:"samples"`
	}
	document := struct {
		row
		Rows     []row       `json:"rows"`
		Result   *row        `json:"result"`
		None     *row        `json:"none"`
		Allowed  numa.CPUSet `json:"allowed"`
		Warnings []string    `json:"warnings,omitempty"`
	}{Rows: []row{{}}, Result: &row{}}
	var b strings.Builder
	must.Do(WriteJSON(&b, "taulop x", 1, "so", &document))
	want := `{"format":"taulopx","version":1,"answer":"so","samples":[],"rows":[{"samples":[]}],"result":{"samples":[]},"none":null,"allowed":""}`
	check.Equal(t, strings.NewReplacer(" ", "", "\n", "").Replace(b.String()), want, "text")
	check.True(t, document.Warnings == nil, "a list that is left out is there")
	b.Reset()
	must.Do(WriteJSON(&b, "taulop x", 2, "", struct{}{}))
	check.Equal(t, b.String(), "{\n  \"format\": \"taulop x\",\n  \"version\": 2\n}\n", "an empty document")
}

// A larger unit is taken from some number of the one before on.
func TestByteUnit(t *testing.T) {
	for n, want := range map[float64]string{0: "B 1", 999: "B 1", 1000: "KiB 1024", 1023999: "KiB 1024", 1024e3: "MiB 1.048576e+06", 1e15: "MiB 1.048576e+06"} {
		unit, bytes := ByteUnit(n, 1000, 1024, "KiB", "MiB")
		check.Equal(t, fmt.Sprintf("%s %g", unit, bytes), want, "%g bytes", n)
	}
}
