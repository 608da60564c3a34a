package view

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Numbers are aligned right, words left, units below the heads, and notes below the rows.
func TestTableText(t *testing.T) {
	table := Table{Title: "L(m,τ) in ns", Columns: append(Words("setup"), Numbers("m", "τ=1", "τ = 10")...)}
	table.Columns[3].Unit = "ns"
	table.Add("ring", "8K", "559", "1200.5")
	table.Add("isolated", "64", "7", "")
	table.Note("%d cells", 4)
	var b strings.Builder
	table.WriteText(&b)
	if want := "L(m,τ) in ns\nsetup      m  τ=1  τ = 10\n                       ns\nring      8K  559  1200.5\nisolated  64    7\n4 cells\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Each part of a table that is too wide for a line repeats the keys, also numbers.
func TestTableKeys(t *testing.T) {
	table := Table{Columns: Numbers("P", "m", strings.Repeat("a", 40), strings.Repeat("b", 40)), Keys: 2}
	table.Add(7, "8K", 1, 2)
	var b strings.Builder
	page := NewPage(&b, DefaultWidth)
	table.WriteText(page)
	page.Close()
	if n := strings.Count(b.String(), "  7  8K  "); n != 2 {
		t.Errorf("keys stand %d times in\n%s", n, &b)
	}
}

func TestTableAdd(t *testing.T) {
	var table Table
	table.Add("a", 3, true, nil, []string{"b", ""}, []any{1.23456789, math.NaN(), math.Inf(1)}, -1e-9)
	if want := []string{"a", "3", "true", "", "b", "", "1.23457", "", "", "-1e-09"}; !slices.Equal(table.Rows[0], want) {
		t.Errorf("got %q, want %q", table.Rows[0], want)
	}
}

func TestTableValues(t *testing.T) {
	table := Table{Columns: Words("name", "note", "p")}
	table.Add("a,b", "=1+1")
	var b strings.Builder
	must.Do(table.WriteValues(&b, ','))
	if want := "name,note,p\n\"a,b\",'=1+1,\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
