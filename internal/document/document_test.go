package document

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

// sample has prose, and a table with prose below it.
func sample() *Document {
	t := view.Table{Title: "costs", Columns: view.Numbers("m", "cost"), Notes: []string{"* the cheapest"}}
	t.Columns[1].Unit = "µs"
	t.Add("1K", "2.5*")
	t.Add("2K", "a|b")
	return New("taulop sample", map[string]int{"m": 1024}, &t, func(d *Document) {
		io.WriteString(d, "the answer\n")
		d.Tables(t)
		io.WriteString(d, "\nhow it was measured, x_1 < 2\nin two lines\n")
	})
}

// Every output has the same numbers.
func TestOutputs(t *testing.T) {
	const text = "the answer\n\ncosts\n   m  cost\n        µs\n  1K  2.5*\n  2K   a|b\n* the cheapest\n\nhow it was measured, x_1 < 2\nin two lines\n"
	d := sample()
	check.Equal(t, must.Text(d.WriteText), text, "text")
	want := map[string]string{
		"json": "{\n  \"format\": \"taulop sample\",\n  \"version\": 1,\n  \"answer\": \"the answer\",\n  \"m\": 1024\n}\n",
		"csv":  "m,cost\n1K,2.5*\n2K,a|b\n",
		"tsv":  "m\tcost\n1K\t2.5*\n2K\ta|b\n",
		"md":   "the answer\n\ncosts\n\n| m | cost, µs |\n| --: | --: |\n| 1K | 2.5\\* |\n| 2K | a\\|b |\n\n\\* the cheapest\n\nhow it was measured, x\\_1 \\< 2\\\nin two lines\n\n",
	}
	for _, f := range Formats {
		check.Equal(t, must.Text(func(w io.Writer) error { return f.Write(d, w) }), want[f.Name], "-%s", f.Name)
	}
}

// HTML has the same prose and tables, with escaped characters.
func TestHTML(t *testing.T) {
	var b strings.Builder
	must.Get(sample().WriteHTML(&b))
	contains.All(t, b.String(),
		"<p>the answer</p>\n<div class=\"table\">\n<p class=\"title\">costs</p>\n", "<th scope=\"col\" class=\"n\" data-sort>cost, µs</th>",
		"<tr><th scope=\"row\">1K</th><td>2.5*</td></tr>", "<p class=\"note\">* the cheapest</p>", "<p>how it was measured, x_1 &lt; 2</p>",
	)
}

// Every row of a table has as many cells as the head.
func FuzzMarkdown(f *testing.F) {
	f.Add("m", "a|b\nc")
	f.Add("", `\|`)
	f.Fuzz(func(t *testing.T, head, cell string) {
		table := view.Table{Columns: view.Words(head, "x")}
		table.Add(cell)
		d := New("", nil, nil, func(d *Document) { d.Table(table) })
		text := must.Text(func(w io.Writer) error { return Markdown.Write(d, w) })
		for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			check.Equal(t, strings.Count(strings.NewReplacer(`\\`, "", `\|`, "").Replace(line), "|"), 3, "bars in %q", line)
		}
	})
}

// An answer ends at the first empty line, and has the tables before it.
func TestAnswer(t *testing.T) {
	table := view.Table{Title: "states:", Columns: view.Numbers("ns")}
	table.Add("60")
	for want, say := range map[string]func(*Document){
		"first\nline":            func(d *Document) { fmt.Fprint(d, "first\nline\n\nmore\n") },
		"states:\n  ns\n  60":    func(d *Document) { d.Table(table); fmt.Fprint(d, "\nmore\n") },
		"states:\n  ns\n  60\n!": func(d *Document) { d.Table(table); fmt.Fprint(d, "!\n\nmore\n") },
		"":                       func(*Document) {},
	} {
		check.Equal(t, New("sample", nil, nil, say).Answer(), want, "Answer")
	}
}
