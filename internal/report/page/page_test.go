package page

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/chart"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// written is a page's text.
func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(p.Write(&b))
	return b.String()
}

func TestNamesAreEscaped(t *testing.T) {
	p := few()
	p.Skipped = []error{errors.New(evil)}
	text := written(t, p)
	for _, markup := range []string{"<script>alert", "<img", "</script>\",", "&</script>"} {
		check.True(t, !strings.Contains(text, markup), "%q is in the page", markup)
	}
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
	if !strings.HasPrefix(x.verdict(), "Nothing is compared: no two machines") || !slices.Equal(x.names(), []string{p.Machines[0].Name, p.Machines[1].Name, p.Machines[2].Name}) {
		t.Errorf("%q, %q", x.verdict(), x.names())
	}
	for _, m := range p.Machines {
		addSurveys(m, 1)
	}
	x = p.describe()
	if x.surveys(); strings.HasPrefix(x.verdict(), "Nothing") || len(x.answer.warnings) == 0 || !strings.HasPrefix(x.answer.warnings[0].Error(), "no two machines") || len(x.kinds) == 0 {
		t.Errorf("with some survey: %q, %+v", x.verdict(), x.answer.warnings)
	}
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
	if !strings.HasPrefix(x.verdict(), "In the state that most machines have been in, ") || len(x.curves[3]) == 0 {
		t.Errorf("%q, %d curves", x.verdict(), len(x.curves[3]))
	}
}

// Findings of a survey of pairs, here groups of CPUs that the topology does not know, stand beside the maps
// and among the tables of surveys.
func TestNotesOfPairs(t *testing.T) {
	m := exact("hidden", []int{1, 2}, 1000, 1600)
	m.File.Provenance.Levels = numa.Levels{{Name: "same package", Groups: []numa.CPUSet{{0, 1, 2, 3, 4, 5, 6, 7}}}}
	for a := range 8 {
		for b := a + 1; b < 8; b++ {
			ns := 50 + float64((3*a+b)%5)/10
			if a/4 != b/4 {
				ns *= 4
			}
			k := params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: params.PairOf(a, b, params.UnknownHome)}
			m.File.Cells = append(m.File.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 9}})
		}
	}
	if want := `<p class="note">The 8 CPUs 0-7 of one level (same package) fall into 2 groups by their times, 0-3 and 4-7: a null transfer`; strings.Count(written(t, &Page{Machines: []compare.Machine{m}}), want) != 2 {
		t.Errorf("no %q in the page", want)
	}
}

// The page has a chart of each kind of survey that any machine has.
func TestChartsOfSurveys(t *testing.T) {
	spread := params.Cell{Key: params.Key{Kind: params.DiskCell, Placement: numa.Spread, Tau: 1, Bytes: 64}.Named("read"), Time: fit.Median([]float64{5})}
	odd := params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1}.Named("core"), Time: fit.Median([]float64{5})} // of a newer version
	with, newer := addSurveys(exact("with", []int{1, 2}, 1000, 1600), 1), exact("newer", []int{1, 2}, 1000, 1600)
	with.File.Cells = append(with.File.Cells, spread)
	newer.File.Cells = append(newer.File.Cells, odd)
	text := written(t, &Page{Machines: []compare.Machine{with, exact("without", []int{1, 2}, 1000, 1600), newer}})
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
	if cells := cells(&newMeasured(with.File).maps[0]); len(cells) != 6 || cells[0] != "CPUs 0 and 1: 50.0 ns; 95 % interval 45.0 ns to 55.0 ns; shared L2: median 50.0 ns" {
		t.Errorf("cells %q", cells)
	}
}

// The page has the files' warnings, and breaches of eq. (8) in their cells.
func TestWarnings(t *testing.T) {
	one, more := exact("a", []int{1, 2, 4}, 1000, 2100, 4100), exact("b", []int{1, 2, 4}, 1000, 900, 800)
	one.File.Warnings, more.File.Warnings = []string{"turbo is on", "the load is 1.36"}, []string{"turbo is on"}
	text := written(t, &Page{Machines: []compare.Machine{one, more}})
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
	text := written(t, p)
	body, _, _ := strings.Cut(text, `<script type`)
	if n := strings.Count(body, "<figure"); n < 9 || strings.Count(body, "<svg") < n-1 { // one is packed
		t.Errorf("%d figures, %d drawings", n, strings.Count(body, "<svg"))
	}
	contains.All(t, body, ">CPU<", "null transfer, one way", "<td>50.0 ns</td>", "<h3>Disks</h3>")
}

// Files without transfers have a page of their surveys, also a fleet, and files of different surveys.
func TestSurveysAlone(t *testing.T) {
	pages := map[string]*Page{"different": {Machines: []compare.Machine{
		only(addSurveys(exact("pairs", nil), 1), params.PairCell), only(addSurveys(exact("disk", nil), 1), params.DiskCell), only(addSurveys(exact("access", nil), 1), params.AccessCell),
	}}}
	for _, n := range []int{1, 2, compare.Fleet} {
		p := &Page{}
		for i := range n {
			p.Machines = append(p.Machines, addSurveys(exact(fmt.Sprintf("node%d", i), nil), 1+0.01*float64(i)))
		}
		pages[fmt.Sprint(n)] = p
	}
	for name, p := range pages {
		text := written(t, p)
		if strings.Count(text, ">Surveys</h2>") != 1 || strings.Contains(text, "What each carries") || strings.Contains(text, "<footer>") || strings.Contains(text, `<select name="m">`) {
			t.Errorf("%s: sections of transfers", name)
		}
		for _, kind := range []string{"disk", "access", "map"} {
			check.True(t, strings.Contains(text, `data-chart="`+kind+`"`), "%s: no chart of %s", name, kind)
		}
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
	text := written(t, p)
	if got := regexp.MustCompile(`(?s)class="map">\s*<h4>(.*?)</h4>`).FindAllStringSubmatch(text, -1); len(got) != 3 || got[0][1] != chart.Median || got[1][1] != "node0003" || got[2][1] != "node0007" { // 3 has slow transfers
		t.Errorf("maps of %q", got)
	}
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
	p := &Page{}
	files := make(map[string]*params.File)
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
	for _, bytes := range []int{0, 1024, 8192} {
		for a := range 4 {
			for b := a + 1; b < 4; b++ {
				ns := 50.0
				if a/2 != b/2 {
					ns = 200
				}
				add(params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Bytes: bytes, Variant: params.PairOf(a, b, params.UnknownHome)}, ns+float64(bytes)/16)
			}
		}
	}
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
