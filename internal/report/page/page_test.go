package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestNamesAreEscaped(t *testing.T) {
	p := few()
	p.Skipped = []error{errors.New(evil)}
	text := must.Text(p.Write)
	contains.None(t, text, "<script>alert", "<img", "</script>\",", "&</script>")
	// in HTML, and in charts
	contains.All(t, text, "&lt;script&gt;alert(1)&lt;/script&gt;", `data-of="&lt;script&gt;alert(1)&lt;/script&gt;"`)
	check.True(t, strings.Contains(text[:1<<10], Mark), "the mark is not in the first KB")
}

// A fleet whose machines have no setup in common has a page.
func TestFleetWithoutCommonSetup(t *testing.T) {
	p := many(compare.Fleet)
	for n, m := range p.Machines {
		for i := range m.File.Cells {
			m.File.Cells[i].Setup = fmt.Sprintf("setup%d", n)
		}
	}
	x := p.describe()
	check.True(t, strings.HasPrefix(x.verdict(), "Nothing is compared: no two machines") && slices.Equal(x.names(), []string{p.Machines[0].Name, p.Machines[1].Name, p.Machines[2].Name}),
		"%q, %q", x.verdict(), x.names())
	for _, m := range p.Machines {
		addSurveys(m, 1)
	}
	x = p.describe()
	x.surveys()
	check.True(t, !strings.HasPrefix(x.verdict(), "Nothing") && len(x.answer.warnings) != 0 && strings.HasPrefix(x.answer.warnings[0].Error(), "no two machines") && len(x.kinds) != 0,
		"with some survey: %q, %+v", x.verdict(), x.answer.warnings)
}

// A fleet has a page in the state that is compared, also if a machine was in that state all the time.
func TestFleetInStates(t *testing.T) {
	p := many(compare.Fleet + 1)
	for n, m := range p.Machines {
		states := []params.State{{NS: 60, Share: 0.6}, {NS: 240, Above: 120, Share: 0.4}}
		if n == 3 {
			states = []params.State{{NS: 60, Share: 1}}
		}
		m.File.Watches = []params.Watch{{CPUs: []int{0, 1}, States: states}}
	}
	x := p.describe()
	check.True(t, strings.HasPrefix(x.verdict(), "In the state that most machines have been in, ") && len(x.curves[3]) != 0,
		"%q, %d curves", x.verdict(), len(x.curves[3]))
}

// Findings of a survey of pairs, here groups of CPUs that the topology does not know, stand beside the maps
// and among the tables of surveys.
func TestNotesOfPairs(t *testing.T) {
	m := exact("hidden", []int{1, 2}, 1000, 1600)
	m.File.Provenance.Levels = numa.Levels{{Name: "same package", Groups: []numa.CPUSet{{0, 1, 2, 3, 4, 5, 6, 7}}}}
	surveytest.Pairs(m.File, 8, []int{0}, 0.01, func(a, b, _ int) float64 {
		ns := 50 + float64((3*a+b)%5)/10
		if a/4 != b/4 {
			return 4 * ns
		}
		return ns
	})
	want := `<p class="note">The 8 CPUs 0-7 of one level (same package) fall into 2 groups by their times, 0-3 and 4-7: a null transfer`
	check.True(t, strings.Count(must.Text((&Page{Machines: []compare.Machine{m}}).Write), want) == 2, "no %q in the page", want)
}

// The page has a chart of each kind of survey that any machine has.
func TestChartsOfSurveys(t *testing.T) {
	spread := params.Cell{Key: params.Key{Kind: params.DiskCell, Placement: numa.Spread, Tau: 1, Bytes: 64}.Named("read"), Time: fit.Median([]float64{5})}
	odd := params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1}.Named("core"), Time: fit.Median([]float64{5})} // of a newer version
	with, newer := addSurveys(exact("with", []int{1, 2}, 1000, 1600), 1), exact("newer", []int{1, 2}, 1000, 1600)
	with.File.Cells = append(with.File.Cells, spread)
	newer.File.Cells = append(newer.File.Cells, odd)
	text := must.Text((&Page{Machines: []compare.Machine{with, exact("without", []int{1, 2}, 1000, 1600), newer}}).Write)
	n := strings.Count(text, `class="map"`)
	check.True(t, n == 1 && strings.Contains(text, "Pairs of CPUs</h3>"), "%d machines with maps", n)
	var got []string
	for _, k := range strings.Split(text, `<div class="kind">`)[1:] {
		k, _, _ = strings.Cut(k, `<div class="plot">`)
		of := regexp.MustCompile(`<h3>(.*?)</h3>`).FindStringSubmatch(k)[1]
		for _, menu := range regexp.MustCompile(`<select name="(.*?)">(.*?)</select>`).FindAllStringSubmatch(k, -1) {
			of += "; " + menu[1] + ": " + strings.TrimSuffix(strings.NewReplacer("<option>", "", "</option>", ", ").Replace(menu[2]), ", ")
		}
		got = append(got, of)
	}
	want := []string{
		"Copies between levels of the memory; panel: τ = 1, τ = 2; line: each to itself, all",
		"Accesses; cache: in cache, off cache",
		"Strided messages; cache: in cache, off cache",
		"Message patterns",
		"Disks",
	}
	check.Slices(t, got, want, "addresses")
	// The null transfer and the largest one, with medians by level.
	contains.All(t, text, `shared L2</th><td>2</td><td>50.0 ns</td><td>562 ns</td>`, `same package</th><td>4</td><td>200 ns</td><td>712 ns</td>`)
	cells := cells(&newMeasured(with.File).maps[0])
	check.True(t, len(cells) == 6 && cells[0] == "CPUs 0 and 1: 50.0 ns; 95 % interval 45.0 ns to 55.0 ns; shared L2: median 50.0 ns", "cells %q", cells)
}

// The page has the files' warnings, and breaches of eq. (8) in their cells.
func TestWarnings(t *testing.T) {
	one, more := exact("a", []int{1, 2, 4}, 1000, 2100, 4100), exact("b", []int{1, 2, 4}, 1000, 900, 800)
	one.File.Warnings, more.File.Warnings = []string{"turbo is on", "the load is 1.36"}, []string{"turbo is on"}
	text := must.Text((&Page{Machines: []compare.Machine{one, more}}).Write)
	contains.All(t, text, "<li>turbo is on (all machines)</li>", "<li>the load is 1.36 (a)</li>",
		"eq. (8), is broken on 2 machines", "<li>b, 6 places, the first: eq. (8) is broken (", "<li>a, 2 places, the first: eq. (8) is broken (")
}

// A fact that is unknown for all machines has no column.
func TestEmptyColumnsAreLeftOut(t *testing.T) {
	table := many(compare.Fleet).describe().machines()
	check.Equal(t, strings.Join(lists.Map(table.Columns, view.Column.Head), ", "), "machine, file, processor, memory, measured, cells", "columns")
}

// The page has its first charts without its script.
func TestWithoutScript(t *testing.T) {
	p := few()
	addSurveys(p.Machines[0], 1)
	body, _, _ := strings.Cut(must.Text(p.Write), `<script type`)
	n := strings.Count(body, "<figure")
	check.True(t, n >= 9 && strings.Count(body, "<svg") >= n-1, "%d figures, %d drawings", n, strings.Count(body, "<svg")) // one is packed
	contains.All(t, body, ">CPU<", "null transfer, one way", "<td>50.0 ns</td>", "<h3>Disks</h3>")
}

// Files without transfers have a page of their surveys, also a fleet, and files of different surveys.
func TestSurveysAlone(t *testing.T) {
	pages := map[string]*Page{"different": {Machines: []compare.Machine{
		only(addSurveys(exact("pairs", nil), 1), params.PairCell), only(addSurveys(exact("disk", nil), 1), params.DiskCell), only(addSurveys(exact("access", nil), 1), params.AccessCell),
	}}}
	for _, n := range []int{1, 2, compare.Fleet} {
		node := func(i int) compare.Machine {
			return addSurveys(exact(fmt.Sprintf("node%d", i), nil), 1+0.01*float64(i))
		}
		pages[fmt.Sprint(n)] = &Page{Machines: lists.Map(lists.Indices(n), node)}
	}
	for name, p := range pages {
		text := must.Text(p.Write)
		check.True(t, strings.Count(text, ">Surveys</h2>") == 1 && !strings.Contains(text, "What each carries") && !strings.Contains(text, "<footer>") && !strings.Contains(text, `<select name="m">`),
			"%s: sections of transfers", name)
		contains.All(t, text, `data-chart="disk"`, `data-chart="access"`, `data-chart="map"`)
	}
}

// Surveys of a fleet show the median and the outliers.
func TestFleetSurveys(t *testing.T) {
	p := many(compare.Fleet + 2)
	for i, m := range p.Machines {
		times := 1 + 0.001*float64(i)
		if i == 7 {
			times = 2
		}
		p.Machines[i] = addSurveys(m, times)
	}
	text := must.Text(p.Write)
	got := regexp.MustCompile(`(?s)class="map">\s*<h4>(.*?)</h4>`).FindAllStringSubmatch(text, -1)
	check.True(t, len(got) == 3 && got[0][1] == chart.Median && got[1][1] == "node0003" && got[2][1] == "node0007", "maps of %q", got) // 3 has slow transfers
	kinds := strings.Split(text, `<div class="kind">`)[1:]
	for _, k := range kinds {
		contains.All(t, k, `data-of="median of all"`, `data-of="node0007"`)
	}
	check.Equal(t, len(kinds), 5, "charts of surveys")
}

// exact is a machine with the given times of transfers of 8 KB, ±2 %.
func exact(name string, taus []int, L ...float64) compare.Machine {
	f := nodes.Machine(0)
	f.Warnings, f.Cells, f.Plan.Taus, f.Plan.Sizes = []string{"the clock of " + name + " varies"}, nil, taus, []int{4096, 8192}
	f.Provenance.Hostname = name
	for _, m := range f.Plan.Sizes {
		for i, tau := range taus {
			l := 2 * L[i] * float64(m) / 8192
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.TransferCell, Setup: "ring", Placement: numa.Local, Tau: tau, Bytes: m},
				K: 1, Transfers: 2, Time: fit.Estimate{Center: l, Lo: 0.98 * l, Hi: 1.02 * l, N: 7}, Samples: params.Samples(l)})
		}
	}
	return compare.Machine{Name: name, Path: "/somewhere/" + fmt.Sprint(len(name)) + ".json", File: f}
}

const (
	evil = `<script>alert(1)</script>`
	sly  = `"><img src=x onerror=alert(2)> & </script>` + "node.of.a.cluster.whose.names.have.no.place.to.break.example.org"
)

func few() *Page {
	return &Page{
		Machines: []compare.Machine{
			exact(evil, []int{1, 2, 4, 8}, 1000, 1600, 2500, 5000), // A = 1, 1.25, 1.6, 1.6
			exact(sly, []int{1, 2, 4, 8}, 500, 500, 1000, 1600),    // A = 1, 2, 2, 2.5
		},
		Raw: func(path string) ([]byte, error) { return []byte("raw " + path + " ≤ \x00\n"), nil },
	}
}

// only removes the cells of other kinds.
func only(m compare.Machine, k params.Kind) compare.Machine {
	m.File.Cells = slices.DeleteFunc(m.File.Cells, func(c params.Cell) bool { return c.Kind != k })
	return m
}

// many is a fleet of n machines with their files.
func many(n int) *Page {
	p, files := &Page{}, make(map[string]*params.File)
	for i := range n {
		f := nodes.Machine(i)
		path := f.Provenance.Hostname + ".json"
		p.Machines, files[path] = append(p.Machines, compare.Machine{Name: f.Provenance.Hostname, Path: path, File: f}), f
	}
	p.Raw = func(path string) ([]byte, error) {
		var text bytes.Buffer
		err := files[path].Write(&text)
		return text.Bytes(), err
	}
	return p
}

// addSurveys adds cells of every kind to a machine, with times multiplied by a factor. Of its four CPUs 0 and
// 1 share a cache, and 2 and 3.
func addSurveys(m compare.Machine, times float64) compare.Machine {
	add := func(k params.Key, ns float64) {
		ns *= times
		m.File.Cells = append(m.File.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: 0.9 * ns, Hi: 1.1 * ns, N: 9}})
	}
	m.File.Provenance.Levels = numa.Levels{
		{Name: "shared L2", Groups: []numa.CPUSet{{0, 1}, {2, 3}}}, {Name: "same package", Groups: []numa.CPUSet{{0, 1, 2, 3}}},
	}
	surveytest.Pairs(m.File, 4, []int{0, 1024, 8192}, 0.1, func(a, b, bytes int) float64 {
		if a/2 != b/2 {
			return times * (200 + float64(bytes)/16)
		}
		return times * (50 + float64(bytes)/16)
	})
	for _, tau := range []int{1, 2} {
		for _, bytes := range []int{64, 4096} {
			add(params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: tau, Bytes: bytes}.Named("L1-L1"), float64(tau*bytes)/64)
			add(params.Key{Kind: params.LevelCell, Placement: numa.Local, Tau: tau, Bytes: bytes}.Named("L1-memory"), float64(tau*bytes)/8)
		}
	}
	for _, off := range []bool{false, true} {
		for _, stride := range []int{1, 4} {
			k := params.Key{Kind: params.AccessCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: 1024 * 8 * stride}.Named(fmt.Sprintf("read-float64-%d", stride))
			add(k, float64(1024*stride))
		}
		add(params.Key{Kind: params.PackCell, Placement: numa.Local, OffCache: off, Tau: 1, Bytes: 4096}.Named("4K16S"), 900)
	}
	add(params.Key{Kind: params.PatternCell, Placement: numa.Local, Tau: 4, Bytes: 1024}.Named("permutation-1"), 3000)
	add(params.Key{Kind: params.DiskCell, Placement: numa.Local, Tau: 1, Bytes: 4096}.Named("read-direct"), 9e4)
	return m
}

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
	check.Need(t, len(x.of) == 2 && strings.HasPrefix(x.verdict(), "Of 2 transfers at once "+m.Name+" (flag 60 ns, ") && x.answer.tests == "",
		"%d machines: %+v", len(x.of), x.answer)
	table := x.machines()
	files := must.Get(page.raw(x.hosts()))
	check.True(t, len(table.Rows) == 1 && len(files) == 1 && files[0] != "" && table.Rows[0][1] == "moved.json", "not once: %q, %d files", table.Rows, len(files))
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
	contains.All(t, must.Text((&Page{Machines: []compare.Machine{m}}).Write), title, "null of ring")
	contains.None(t, must.Text((&Page{Machines: []compare.Machine{exact("vm", []int{1, 2}, 1000, 1600)}}).Write), title)
}

// The verdict, how it was tested, and the transfers that it is about.
func TestVerdict(t *testing.T) {
	vm, other := exact("vm", []int{1, 2}, 1000, 1600), exact("other", []int{1, 2}, 1000, 3200) // A(2) = 2·1000/1600 = 1.25, and 2·8192/1600 = 10.24 GB/s
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
	try := func(what string, of []compare.Machine, text, tests, group string) {
		t.Helper()
		x := (&Page{Machines: of}).describe()
		x.surveys()
		got := x.verdict()
		check.True(t, strings.HasPrefix(got, text) && strings.HasPrefix(x.answer.tests, tests), "%s: %q, %q; want %q, %q", what, got, x.answer.tests, text, tests)
		main := ""
		if x.main >= 0 {
			main = groupLabel(x.groups[x.main].channel)
		}
		check.Equal(t, main, group, "%s: the chart is of", what)
	}
	try("one", []compare.Machine{vm}, "Of 2 transfers at once vm carries 1.25 ±4 %; together they move 10.2 GB/s (ring, placement local, in cache, m = 8K).", "", "ring, placement local, in cache")
	try("one that differs from launch to launch", []compare.Machine{noisy}, "How many of 2 transfers at once noisy carries cannot be told, for its times differ too much or have too few samples; together they move about 10", "", "ring, placement local, in cache")
	try("one with several placements", []compare.Machine{far}, "Of 2 transfers at once far carries", "", "ring, placement local, in cache")
	try("two", []compare.Machine{vm, other}, "Of 2 transfers at once vm carries 1.25", "Which machine carries more transfers at once was not tested", "ring, placement local, in cache")
	try("nothing in common", []compare.Machine{vm, ping}, "Of 2 transfers at once vm carries 1.25 ±4 %; together they move 10.2 GB/s (ring, placement local, in cache, m = 8K). Of 2 transfers at once ping carries", "Nothing is compared: no two machines", "ring, placement local, in cache")
	try("measured and published", []compare.Machine{published("paper", 1000, 1500, 2000), vm}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K). Of 2 transfers at once vm carries", "Nothing is compared", "ring, placement local, in cache")
	try("published alone", []compare.Machine{published("paper", 1000, 1500, 2000)}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K).", "", "published parameters")
	try("times of 0", []compare.Machine{published("zero", 0, 0)}, "What zero carries is unknown: its transfers have times of 0 (published parameters, m = 8K).", "", "published parameters")
	try("pairs alone", []compare.Machine{alone}, "One way at shared L2 (medians of 2 pairs): a null transfer 50.0 ns, a transfer of 8K 562 ns. One way at same package (medians of 4 pairs): a null transfer 200 ns, a transfer of 8K 712 ns. Of alone surveys alone were measured: pairs of CPUs.", "", "")
	try("nothing that has a chart", []compare.Machine{only(exact("levels", nil), params.ChannelCell)}, "Of levels there is nothing to draw: neither transfers nor a survey that has a chart.", "", "")
	try("surveys alone", []compare.Machine{alone, disk}, "Of these machines surveys alone were measured: disks, pairs of CPUs.", "", "")
	fleet := many(compare.Fleet)
	x := fleet.describe()
	check.Equal(t, x.verdict(), must.Get(compare.NewOverview(lists.Map(fleet.Machines, compare.Reduce), compare.Choice{})).Conclusion(), "a fleet")
}

// A(τ) beyond its bounds is marked, as in the text of a sweep.
func TestMarksBeyondBounds(t *testing.T) {
	of := []fit.Estimate{{Center: 1.5, Lo: 1.4, Hi: 1.6, N: 9}, {Center: 3, Lo: 2.5, Hi: 3.5, N: 9}, {Center: 2.5, Lo: 1.5, Hi: 3.5, N: 9}}
	curves := lists.Map(of, func(A fit.Estimate) []compare.Curve {
		return []compare.Curve{{Machine: "vm", Channel: compare.Channel{Bytes: 8192}, Points: []compare.Point{{Tau: 2, A: A}}}}
	})
	var d document.Document
	d.Table(carried(curves, 8192))
	contains.All(t, must.Text(func(w io.Writer) error { return d.WriteMarkdown(w, nil) }), "| 1.5 ±7 % |", "| 3.0 ±17 % ↑ |", "| 2.5 ±40 % ? |", "↑ more than τ", "? outside 1 … τ by chance")
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
	must.Do(WriteMarkdown(&text, []compare.Machine{m, named, named, printed}, func(name string, write func(io.Writer) error) (string, error) {
		var svg strings.Builder
		err := write(&svg)
		_, twice := figures[name]
		check.True(t, !twice, "%s twice", name)
		figures[name] = svg.String()
		return "p-" + name + ".svg", err
	}))
	contains.All(t, text.String(), `# An \*invented\* \<CPU\>, 2 CPUs`, "\n# blue one (1)\n", "\n# blue one (2)\n", "\n# unnamed processor\n", "\n| imported | 2026", "\n## What it carries\n\n| transfers |", "| ring, placement local, in cache | 1000", "\n## Warnings\n\n- the clock \\| varies\n", "](p-concurrency.svg)\n", "](p-access.svg)", "](p-map-2.svg)")
	contains.None(t, text.String(), "secret-host", "/somewhere", "<CPU>", "\n\n\n\n")
	links := regexp.MustCompile(`\]\(p-(.*?)\.svg\)`).FindAllStringSubmatch(text.String(), -1)
	for _, link := range links {
		check.True(t, strings.HasPrefix(figures[link[1]], "<svg") || strings.HasPrefix(figures[link[1]], "<?xml"), "%s is %.40q", link[1], figures[link[1]])
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
