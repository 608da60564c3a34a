package page

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// published is a machine of a published table: L(8K,τ) in ns from τ = 1 on.
func published(name string, L ...float64) compare.Machine {
	m := exact(name, []int{1, 2, 3, 4}[:len(L)], L...)
	m.File.Plan.Setups, m.File.Warnings = []string{params.Published}, nil
	for i := range m.File.Cells {
		c := &m.File.Cells[i]
		c.Setup, c.Placement, c.Samples = params.Published, params.Published, nil
		c.Time = fit.Median([]float64{c.Time.Center})
	}
	return m
}

// States of one machine are not compared, and the page holds the file once.
func TestStates(t *testing.T) {
	m := must.Get(compare.Read(sweeptest.Moved(t)))
	page := &Page{Machines: m.Each(), Raw: os.ReadFile}
	x := page.describe()
	check.Equal(t, x.title(), m.Name, "title")
	if len(x.of) != 2 || !strings.HasPrefix(x.verdict(), "Of 2 transfers at once "+m.Name+" (flag 60 ns, ") || x.answer.tests != "" {
		t.Fatalf("%d machines: %+v", len(x.of), x.answer)
	}
	table := x.machines()
	if files := must.Get(page.raw(x.hosts())); len(table.Rows) != 1 || len(files) != 1 || files[0] == "" || table.Rows[0][1] != "moved.json" {
		t.Errorf("not once: %q, %d files", table.Rows, len(files))
	}
	for _, of := range x.of {
		row := table.Rows[0]
		contains.All(t, row[len(row)-1], compare.InWords(*of.File.State())+" of the time, for 0.0")
	}
}

// The page of one machine has y, copies and γ at the sizes of its transfers, for the least and the largest τ.
func TestBesideTransfers(t *testing.T) {
	m := exact("vm", []int{1, 2, 4}, 1000, 1600, 2000)
	for _, c := range []struct {
		key params.Key
		ns  float64
	}{
		{params.Key{Kind: params.NullCell, Setup: params.Ring, Tau: 4}, 41}, {params.Key{Kind: params.NullCell, Setup: params.Ring, Tau: 2}, 42}, {params.Key{Kind: params.NullCell, Setup: params.Ping, Tau: 4, Transport: params.CMA}, 43},
		{params.Key{Kind: params.CopyCell, Tau: 1, Bytes: 8192}, 51}, {params.Key{Kind: params.CopyCell, Tau: 1, Bytes: 64}, 52}, {params.Key{Kind: params.GammaCell, Operator: "SUM_I", Bytes: 8192}, 61},
	} {
		c.key.Placement = numa.Local
		m.File.Cells = append(m.File.Cells, params.Cell{Key: c.key, Time: fit.Estimate{Center: c.ns, Lo: 0.9 * c.ns, Hi: 1.1 * c.ns, N: 9}})
	}
	rows := beside([]compare.Machine{m}, 8192).Rows
	check.Deep(t, rows, [][]string{{"vm", "null of ring, placement local, in cache, τ = 4, m = 0", "41 ±10 %"},
		{"vm", "copy, placement local, in cache, τ = 1, m = 8192", "51 ±10 %"}, {"vm", "gamma of SUM_I, placement local, in cache, τ = 0, m = 8192", "61 ±10 %"}}, "rows")
	const title = "synchronisation y (null), copies (copy, own) and reductions γ (gamma)"
	contains.All(t, written(t, &Page{Machines: []compare.Machine{m}}), title, "null of ring")
	contains.None(t, written(t, &Page{Machines: []compare.Machine{exact("vm", []int{1, 2}, 1000, 1600)}}), title)
}

// The verdict, how it was tested, and the transfers that it is about.
func TestVerdict(t *testing.T) {
	vm := exact("vm", []int{1, 2}, 1000, 1600) // A(2) = 2·1000/1600 = 1.25, and 2·8192/1600 = 10.24 GB/s
	other := exact("other", []int{1, 2}, 1000, 3200)
	ping := exact("ping", []int{1, 2}, 1000, 1600)
	for i := range ping.File.Cells {
		ping.File.Cells[i].Setup = "ping"
	}
	alone := only(addSurveys(exact("alone", nil), 1), params.PairCell)
	disk := only(addSurveys(exact("disk", nil), 1), params.DiskCell)
	far := exact("far", []int{1, 2}, 1000, 1600)
	for _, c := range far.File.Cells {
		c.Placement = numa.Remote
		far.File.Cells = append([]params.Cell{c}, far.File.Cells...)
	}
	noisy := exact("noisy", []int{1, 2}, 1000, 1600)
	for i := range noisy.File.Cells {
		c := &noisy.File.Cells[i]
		c.Samples, c.Time = nil, fit.Estimate{Center: c.Time.Center, Lo: c.Time.Center / 9, Hi: 9 * c.Time.Center, N: 7}
	}
	for _, tt := range []struct {
		what               string
		of                 []compare.Machine
		text, tests, group string
	}{
		{"one", []compare.Machine{vm}, "Of 2 transfers at once vm carries 1.25 ±4 %; together they move 10.2 GB/s (ring, placement local, in cache, m = 8K).", "", "ring, placement local, in cache"},
		{"one that differs from launch to launch", []compare.Machine{noisy}, "How many of 2 transfers at once noisy carries cannot be told, for its times differ too much or have too few samples; together they move about 10", "", "ring, placement local, in cache"},
		{"one with several placements", []compare.Machine{far}, "Of 2 transfers at once far carries", "", "ring, placement local, in cache"},
		{"two", []compare.Machine{vm, other}, "Of 2 transfers at once vm carries 1.25", "Which machine carries more transfers at once was not tested", "ring, placement local, in cache"},
		{"nothing in common", []compare.Machine{vm, ping}, "Of 2 transfers at once vm carries 1.25 ±4 %; together they move 10.2 GB/s (ring, placement local, in cache, m = 8K). Of 2 transfers at once ping carries", "Nothing is compared: no two machines", "ring, placement local, in cache"},
		{"measured and published", []compare.Machine{published("paper", 1000, 1500, 2000), vm}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K). Of 2 transfers at once vm carries", "Nothing is compared", "ring, placement local, in cache"},
		{"published alone", []compare.Machine{published("paper", 1000, 1500, 2000)}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K).", "", "published parameters"},
		{"times of 0", []compare.Machine{published("zero", 0, 0)}, "What zero carries is unknown: its transfers have times of 0 (published parameters, m = 8K).", "", "published parameters"},
		{"pairs alone", []compare.Machine{alone}, "One way at shared L2 (medians of 2 pairs): a null transfer 50.0 ns, a transfer of 8K 562 ns. One way at same package (medians of 4 pairs): a null transfer 200 ns, a transfer of 8K 712 ns. Of alone surveys alone were measured: pairs of CPUs.", "", ""},
		{"nothing that has a chart", []compare.Machine{only(exact("levels", nil), params.ChannelCell)}, "Of levels there is nothing to draw: neither transfers nor a survey that has a chart.", "", ""},
		{"surveys alone", []compare.Machine{alone, disk}, "Of these machines surveys alone were measured: disks, pairs of CPUs.", "", ""},
	} {
		x := (&Page{Machines: tt.of}).describe()
		x.surveys()
		if got := x.verdict(); !strings.HasPrefix(got, tt.text) || !strings.HasPrefix(x.answer.tests, tt.tests) {
			t.Errorf("%s: %q, %q; want %q, %q", tt.what, got, x.answer.tests, tt.text, tt.tests)
		}
		main := ""
		if x.main >= 0 {
			main = groupLabel(x.groups[x.main].channel)
		}
		check.Equal(t, main, tt.group, "%s: the chart is of", tt.what)
	}
	fleet := many(compare.Fleet)
	x := fleet.describe()
	check.Equal(t, x.verdict(), must.Get(compare.NewOverview(lists.Map(fleet.Machines, compare.Reduce), compare.Choice{})).Conclusion(), "a fleet")
}

// A(τ) beyond its bounds is marked, as in the text of a sweep.
func TestMarksBeyondBounds(t *testing.T) {
	var curves [][]compare.Curve
	for _, A := range []fit.Estimate{{Center: 1.5, Lo: 1.4, Hi: 1.6, N: 9}, {Center: 3, Lo: 2.5, Hi: 3.5, N: 9}, {Center: 2.5, Lo: 1.5, Hi: 3.5, N: 9}} {
		curves = append(curves, []compare.Curve{{Machine: "vm", Channel: compare.Channel{Bytes: 8192}, Points: []compare.Point{{Tau: 2, A: A}}}})
	}
	var d document.Document
	d.Table(carried(curves, 8192))
	var b bytes.Buffer
	must.Do(d.WriteMarkdown(&b, nil))
	contains.All(t, b.String(), "| 1.5 ±7 % |", "| 3.0 ±17 % ↑ |", "| 2.5 ±40 % ? |", "↑ more than τ", "? outside 1 … τ by chance")
}

// A state with times of τ = 1 alone does not tell how many transfers are carried at once.
func TestAloneTellsNothing(t *testing.T) {
	for tau, want := range map[int]bool{1: false, 2: true} {
		c := &compare.Curve{Points: []compare.Point{{Tau: tau, L: fit.Estimate{N: 9}, A: fit.Estimate{Center: 1, Lo: 1, Hi: 1, N: 9}}}}
		check.Equal(t, told(c), want, "τ = %d", tau)
	}
}

// A page in Markdown has a heading, tables, and links to existing figures, each once. It has no hosts and no
// paths, and texts of files are escaped.
func TestMarkdown(t *testing.T) {
	m := addSurveys(exact("secret-host", []int{1, 2, 4, 8}, 1000, 1600, 2500, 5000), 1)
	m.File.Provenance.Hostname, m.File.Provenance.CPUModel, m.File.Warnings = "secret-host", "An *invented* <CPU>", []string{"the clock | varies"}
	m.File.Provenance.Allowed = numa.SetOf(0, 1)
	printed := exact("y", nil) // by benchmarks
	printed.File.Provenance.CPUModel, printed.File.Seconds = "", 0
	named := exact("x", nil)
	named.File.Provenance.Name = "blue one"
	figures := make(map[string]string)
	var text strings.Builder
	err := WriteMarkdown(&text, []compare.Machine{m, named, named, printed}, func(name string, write func(io.Writer) error) (string, error) {
		var svg strings.Builder
		err := write(&svg)
		_, twice := figures[name]
		check.True(t, !twice, "%s twice", name)
		figures[name] = svg.String()
		return "p-" + name + ".svg", err
	})
	must.Do(err)
	contains.All(t, text.String(), `# An \*invented\* \<CPU\>, 2 CPUs`, "\n# blue one (1)\n", "\n# blue one (2)\n", "\n# unnamed processor\n", "\n| imported | 2026", "\n## What it carries\n\n| transfers |", "| ring, placement local, in cache | 1000", "\n## Warnings\n\n- the clock \\| varies\n", "](p-concurrency.svg)\n", "](p-access.svg)", "](p-map-2.svg)")
	contains.None(t, text.String(), "secret-host", "/somewhere", "<CPU>", "\n\n\n\n")
	links := regexp.MustCompile(`\]\(p-(.*?)\.svg\)`).FindAllStringSubmatch(text.String(), -1)
	for _, link := range links {
		if !strings.HasPrefix(figures[link[1]], "<svg") && !strings.HasPrefix(figures[link[1]], "<?xml") {
			t.Errorf("%s is %.40q", link[1], figures[link[1]])
		}
	}
	check.True(t, len(links) == len(figures) && len(links) >= 6, "%d links to %d figures", len(links), len(figures))
}

// A bandwidth that is hardly known has its interval in the verdict.
func TestVerdictOfWideBandwidth(t *testing.T) {
	last := compare.Point{Tau: 2, L: fit.Estimate{Center: 2490, Lo: 1, Hi: 9e6, N: 2}, A: fit.Estimate{Center: 1.5, Lo: 1.4, Hi: 1.6, N: 9},
		Bandwidth: fit.Estimate{Center: 6.6, Lo: 0.1, Hi: 900, N: 2}}
	got := carries(&compare.Curve{Machine: "vm", Points: []compare.Point{last}})
	contains.All(t, got, "Of 2 transfers at once vm carries 1.5 ±7 %; together they move 7 ±>100 % GB/s")
}
