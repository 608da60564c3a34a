package page

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/sweeptest"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// published is a machine whose file does not say how it was measured; L(8K,τ) in ns from
// τ = 1 on.
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

// A machine in each of its states is not compared with itself, and its file is there once.
func TestStates(t *testing.T) {
	m, err := compare.Read(sweeptest.Moved(t))
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Machines: m.Each(), Raw: os.ReadFile}
	v, err := p.view()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Machines) != 2 || !strings.HasPrefix(v.Verdict.Text, "The host moves the CPUs between states, and the machine is shown in each. Of 2 transfers at once "+unbroken.Replace(p.Machines[0].Name)+" carries ") || v.Verdict.Tests != "" {
		t.Fatalf("%d machines: %+v", len(v.Machines), v.Verdict)
	}
	for i, of := range v.Machines {
		at := slices.IndexFunc(of.Facts, func(f fact) bool { return f.Name == "state" })
		if at < 0 || !strings.Contains(of.Facts[at].Value, compare.InWords(*p.Machines[i].File.State())+" of the time, for 0.0") || of.File != "moved.json" || (of.Raw != "") != (i == 0) {
			t.Errorf("%s in %s: %v", of.Name, of.File, of.Facts)
		}
	}
}

// What a page comes to, and of which transfers its chart is.
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
		{"two", []compare.Machine{vm, other}, "Who carries more transfers at once was not tested", "That is of ring, placement local, in cache, m = 8K. Nothing could be tested", "ring, placement local, in cache"},
		{"nothing in common", []compare.Machine{vm, ping}, "Of 2 transfers at once vm carries 1.25 ±4 %; together they move 10.2 GB/s (ring, placement local, in cache, m = 8K). Of 2 transfers at once ping carries", "Nothing is compared: no two machines", "ring, placement local, in cache"},
		{"measured and published", []compare.Machine{published("paper", 1000, 1500, 2000), vm}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K). Of 2 transfers at once vm carries", "Nothing is compared", "ring, placement local, in cache"},
		{"published alone", []compare.Machine{published("paper", 1000, 1500, 2000)}, "Of 3 transfers at once paper carries 1.50; together they move 12.3 GB/s (published parameters, m = 8K).", "", "published parameters"},
		{"pairs alone", []compare.Machine{alone}, "Null transfer, one way between two CPUs: 50.0 ns (shared L2) to 200 ns (same package), median. Of alone surveys alone were measured: pairs of CPUs.", "", ""},
		{"nothing that has a chart", []compare.Machine{only(exact("levels", nil), params.ChannelCell)}, "Of levels there is nothing to draw: neither transfers nor a survey that has a chart.", "", ""},
		{"surveys alone", []compare.Machine{alone, disk}, "Of these machines surveys alone were measured: disks, pairs of CPUs.", "", ""},
	} {
		v, err := (&Page{Machines: tt.of}).view()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(v.Verdict.Text, "\u00a0", " "); !strings.HasPrefix(got, tt.text) || !strings.HasPrefix(v.Verdict.Tests, tt.tests) {
			t.Errorf("%s: %q, %q; want %q, %q", tt.what, got, v.Verdict.Tests, tt.text, tt.tests)
		}
		main := ""
		for i, g := range v.Groups {
			if strings.Contains(string(v.Index), `"main":`+string(rune('0'+i))+`,`) {
				main = g.Label
			}
		}
		if main != tt.group {
			t.Errorf("%s: the chart is of %q, want %q", tt.what, main, tt.group)
		}
	}
	fleet := many(compare.Fleet)
	v, err := fleet.view()
	if err != nil || v.Verdict.Text == "" || strings.ReplaceAll(v.Verdict.Text, "\u00a0", " ") != v.Fleet.Conclusion {
		t.Errorf("a fleet: %q, %v", v.Verdict.Text, err)
	}
}

// The verdict and its chart come first, and warnings are a count that opens. What was
// published is drawn beside what was measured.
func TestVerdictInBrowser(t *testing.T) {
	vm := exact("vm", []int{1, 2}, 1000, 1600)
	b := open(t, &Page{Machines: []compare.Machine{vm, published("paper", 1000, 1500, 2000)}})
	defer b.clean()
	b.until(`document.querySelector("#verdict svg") !== null`)
	if got := b.texts("#verdict .legend li"); got != "vm|paper (published)" {
		t.Errorf("the chart has %q", got)
	}
	if got := b.texts("#verdict figcaption span:first-child"); got != "A(τ) against τ, m = 8K" {
		t.Errorf("the chart is of %q", got)
	}
	if got := b.texts("#verdict svg .note"); got != "ideal|serial" {
		t.Errorf("the bounds are called %q", got)
	}
	if eval[bool](b, `document.querySelector("#warnings li").checkVisibility()`) {
		t.Error("warnings are not folded")
	}
	b.click(`document.querySelector("#warnings summary")`)
	if !eval[bool](b, `document.querySelector("#warnings li").checkVisibility()`) {
		t.Error("warnings do not open")
	}
	eval[bool](b, `(document.querySelector("#warnings > details").open = false, dispatchEvent(new Event("beforeprint")))`)
	if !eval[bool](b, `document.querySelector("#warnings > details").open`) {
		t.Error("warnings are not on paper")
	}

	few := open(t, &Page{Machines: []compare.Machine{vm}})
	few.until(`document.querySelector("#verdict svg") !== null`)
	if got := few.texts("#verdict .legend li"); got != "τ = 1|τ = 2" {
		t.Errorf("of two τ the chart has %q", got)
	}
	few.clean()
}

// An interval that goes on beyond the axis has an arrow, and a map of one value no scale.
func TestEndsInBrowser(t *testing.T) {
	m := exact("vm", []int{1, 2, 4}, 1000, 1600, 2500)
	for i := range m.File.Cells {
		if c := &m.File.Cells[i]; c.Tau == 4 && c.Kind == params.TransferCell {
			c.Samples = nil
			c.Time.Hi = 50 * c.Time.Center
		}
	}
	m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: params.PairVariant(0, 1, params.UnknownHome)}, Time: m.File.Cells[0].Time})
	b := open(t, &Page{Machines: []compare.Machine{m}})
	defer b.clean()
	b.sight(`figure[data-chart="L"]`)
	if n := eval[int](b, `document.querySelectorAll('figure[data-chart="L"] .beyond').length`); n != 1 {
		t.Errorf("%d arrows", n)
	}
	if got := b.texts(`figure[data-chart="L"] svg .note`); got != "↑ the interval goes on" {
		t.Errorf("the chart says %q", got)
	}
	b.do(chromedp.EmulateViewport(900, 800))
	if over := eval[int](b, `(s => s.scrollWidth - s.clientWidth)(document.querySelector("#machines > .scroll"))`); over > 0 {
		t.Errorf("machines are %d px too wide for 900 px", over)
	}
	b.do(chromedp.EmulateViewport(400, 800)) // where beside the axis's name there is no room
	b.until(`document.querySelector('figure[data-chart="L"] svg').viewBox.baseVal.width < 400`)
	if eval[bool](b, `(() => {
		const svg = document.querySelector('figure[data-chart="L"] svg');
		const [note, name] = [".note", ".name"].map(s => svg.querySelector(s).getBoundingClientRect());
		return note.top < name.bottom - 3 || note.bottom > svg.getBoundingClientRect().bottom + 3;
	})()`) {
		t.Error("the note of what goes on is not on a line of its own within the chart")
	}
	b.sight(".map figure")
	if n := eval[int](b, `document.querySelectorAll(".map svg .frame").length`); n != 0 {
		t.Error("one value has a scale")
	}
	if got := b.texts(".map svg .tick"); !strings.HasPrefix(got, "all: ") {
		t.Errorf("one value is said as %q", got)
	}
}
