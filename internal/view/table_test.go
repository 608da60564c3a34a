package view

import (
	"strings"
	"testing"
)

func TestTableText(t *testing.T) {
	table := Table{Title: "L(m,τ) in ns", Columns: append(Words("setup"), Numbers("m", "τ=1", "τ = 10")...)}
	table.Add("ring", "8K", "559", "1200.5")
	table.Add("isolated", "64", "7", "")
	table.Note("%d cells", 4)
	var b strings.Builder
	table.WriteText(&b)
	want := strings.Join([]string{
		"L(m,τ) in ns",
		"setup      m  τ=1  τ = 10",
		"ring      8K  559  1200.5",
		"isolated  64    7",
		"4 cells",
		"",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTableValues(t *testing.T) {
	table := Table{Columns: Words("name", "note")}
	table.Add("a,b", "=1+1")
	var b strings.Builder
	if err := table.WriteValues(&b, ','); err != nil {
		t.Fatal(err)
	}
	if want := "name,note\n\"a,b\",'=1+1\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
