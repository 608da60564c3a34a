package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func TestPageInBrowser(t *testing.T) {
	b := open(t, few())
	defer b.clean()

	t.Run("names are text", func(t *testing.T) {
		for element, want := range map[string]string{
			`document.querySelector("h1")`:                                 "taulop report " + evil + ", " + sly,
			`document.querySelector("#machines tbody th")`:                 evil,
			`document.querySelectorAll("#series .name")[1]`:                sly,
			`document.querySelector("#warnings li")`:                       "the clock of " + evil + " varies (" + evil + ")",
			`document.querySelector("#machines details tr:last-child td")`: "/somewhere/25.json",
		} {
			check.Equal(t, eval[string](b, "%s.textContent.trim()", element), want, "%s", element)
		}
		check.Equal(t, eval[int](b, `document.querySelectorAll("img, main script").length`), 0, "elements of names")
	})

	t.Run("values under the pointer", func(t *testing.T) {
		try := func(chart string, series, point int, want string) {
			t.Helper()
			figure := fmt.Sprintf(`document.querySelector('figure[data-chart="%s"]')`, chart)
			x, y := b.value(figure, fmt.Sprintf("%s.querySelectorAll('g.series')[%d]", figure, series), point)
			b.do(chromedp.MouseEvent(chromedp.MouseMoved, x+1, y))
			b.until("%s.querySelector('.tip.on') !== null", figure)
			check.Equal(t, eval[string](b, "[...%s.querySelectorAll('.tip div')].map(d => d.textContent).join('|')", figure), want, "%s", chart)
		}
		// A = τ·L(8K,1)/L(8K,τ)
		try("concurrency", 0, 1, evil+"|τ = 2: A(τ) = 1.25|95 % interval 1.20 to 1.30")
		try("concurrency", 1, 3, sly+"|τ = 8: A(τ) = 2.50|95 % interval 2.40 to 2.60")
		// τ·8192 bytes in L ns
		try("bandwidth", 0, 2, evil+"|τ = 4: τ·m/L(8K,τ) = 13.1 GB/s|95 % interval 12.9 GB/s to 13.4 GB/s")
		try("transfers", 1, 2, sly+"|τ = 4: L(8K,τ) = 1.00 µs|95 % interval 980 ns to 1.02 µs")
	})

	t.Run("values by keyboard", func(t *testing.T) {
		eval[bool](b, `document.querySelector('figure[data-chart="concurrency"] .plot').focus() === undefined`)
		b.do(chromedp.KeyEvent(kb.Home))
		for _, tt := range []struct{ key, want string }{
			{kb.ArrowDown, "τ = 1: A(τ) = 1"}, // from the second machine
			{kb.ArrowRight, "τ = 2: A(τ) = 1.25"},
			{kb.ArrowDown, "τ = 2: A(τ) = 2"}, // the other machine
			{kb.End, "τ = 8: A(τ) = 2.50"},
			{kb.ArrowLeft, "τ = 4: A(τ) = 2"},
		} {
			b.do(chromedp.KeyEvent(tt.key))
			check.Equal(t, eval[string](b, `document.querySelector('figure[data-chart="concurrency"] .tip .value').textContent`), tt.want, "value of the tip")
		}
	})

	t.Run("a series switches off and on", func(t *testing.T) {
		names := func() string {
			return eval[string](b, `[...document.querySelectorAll('figure[data-chart="concurrency"] g.series')].filter(g => g.style.display !== "none").map(g => g.dataset.name).join()`)
		}
		b.click(`document.querySelector('[data-series]')`)
		check.Equal(t, names(), sly, "after switching off")
		b.click(`document.querySelector('[data-series]')`)
		check.Equal(t, names(), evil+","+sly, "after switching on again")
	})

	t.Run("another size", func(t *testing.T) {
		b.choose(`document.querySelector('figure[data-chart="concurrency"] select[name=m]')`, "4K")
		b.until(`document.querySelector('figure[data-chart="bandwidth"] figcaption').textContent.includes("4K")`)
	})

	t.Run("tables sort", func(t *testing.T) {
		b.click(`document.querySelector(".numbers summary")`)
		b.until(`document.querySelectorAll(".numbers tbody tr").length === 16`)
		column := func() []string {
			return eval[[]string](b, `[...document.querySelectorAll(".numbers tbody tr")].map(r => r.cells[3].textContent.split(" ")[0])`)
		}
		head := `[...document.querySelectorAll(".numbers th button")].find(b => b.textContent.startsWith("L("))`
		b.click(head)
		// ns: the times of 4 KB, half of the others, and of 8 KB
		up := []string{"250", "250", "500", "500", "500", "500", "800", "800", "1000", "1000", "1250", "1600", "1600", "2500", "2500", "5000"}
		check.Slices(t, column(), up, "rising")
		eval[bool](b, `%s.focus() === undefined`, head)
		b.do(chromedp.KeyEvent(kb.Enter))
		slices.Reverse(up)
		check.Slices(t, column(), up, "falling")
		check.Equal(t, eval[string](b, `%s.parentElement.getAttribute("aria-sort")`, head), "descending", "order of a column")
	})

	t.Run("downloads", func(t *testing.T) {
		b.click(`document.querySelector('[data-raw="0"]')`)
		path := filepath.Join(b.downloads, "25.json")
		var text []byte
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			var err error
			if text, err = os.ReadFile(path); err == nil && len(text) > 0 {
				break
			}
			check.Need(t, time.Now().Before(deadline), "%v", err)
		}
		check.Equal(t, string(text), "raw /somewhere/25.json ≤ \x00\n", "file in the page")
	})

	t.Run("narrow", func(t *testing.T) {
		b.do(chromedp.EmulateViewport(400, 800))
		check.AtMost(t, eval[int](b, `document.documentElement.scrollWidth`), 400, "width of the page")
	})

	t.Run("paper", func(t *testing.T) {
		eval[bool](b, `(document.querySelector("#warnings > details").open = false, dispatchEvent(new Event("beforeprint")))`)
		check.True(t, eval[bool](b, `document.querySelector("#warnings > details").open`), "warnings are not on paper")
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		b.must(err)
		b.do(chromedp.EmulateViewport(720, 1000))
		eval[bool](b, `(document.querySelectorAll("thead th").forEach(h => { h.textContent = "n".repeat(64); }), true)`)
		check.AtMost(t, eval[int](b, `document.documentElement.scrollWidth`), 720, "width of the page with long names")
	})
}

// Charts of surveys have menus of panels, and maps show pairs of CPUs.
func TestSurveysInBrowser(t *testing.T) {
	p := few()
	addSurveys(p.Machines[0], 1)
	addSurveys(p.Machines[1], 2)
	b := open(t, p)
	defer b.clean()
	check.Equal(t, b.texts("#surveys h3"), "Copies between levels of the memory|Accesses|Strided messages|Message patterns|Disks|Pairs of CPUs", "surveys")
	for _, tt := range []struct{ kind, choice, option, series, value string }{
		{"level", "", "", sly, "m = 64: bandwidth of all τ = 32.0 GB/s|95 % interval 29.1 GB/s to 35.6 GB/s"}, // 64 bytes in 64/64 ns, twice that
		{"level", "panel", "τ = 2", sly, "m = 64: bandwidth of all τ = 32.0 GB/s|95 % interval 29.1 GB/s to 35.6 GB/s"},
		{"access", "cache", "off cache", sly, "stride = 1: time of an element = 2.00 ns|95 % interval 1.80 ns to 2.20 ns"}, // 1024/1024 ns, twice
		{"pack", "cache", "off cache", sly, "stride d = 16: time = 1.80 µs|95 % interval 1.62 µs to 1.98 µs"},
		{"disk", "", "", sly, "m = 4K: time = 180 µs|95 % interval 162 µs to 198 µs"},
	} {
		figure := fmt.Sprintf(`figure[data-chart="%s"]`, tt.kind)
		if tt.choice != "" {
			b.choose(fmt.Sprintf(`document.querySelector('%s select[name=%s]')`, figure, tt.choice), tt.option)
			b.until(`document.querySelector('%s figcaption').textContent.includes(%q)`, figure, tt.option)
		}
		series := fmt.Sprintf(`[...document.querySelectorAll('%s g.series')].find(g => (g.dataset.name || g.dataset.of) === %q)`, figure, tt.series)
		if !eval[bool](b, `%s !== undefined`, series) {
			t.Errorf("%s has %s", figure, eval[string](b, `[...document.querySelectorAll('%s g.series')].map(g => g.dataset.name).join("|")`, figure))
			continue
		}
		x, y := b.value(fmt.Sprintf("document.querySelector('%s')", figure), "("+series+")", 0)
		b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
		check.Equal(t, b.texts(figure+" .tip div"), tt.series+"|"+tt.value, "tip")
	}
	check.Equal(t, b.texts(".map h4"), evil+"|"+sly, "maps")
	contains.All(t, b.texts(".map:has(h4) th, .map:has(h4) td"), "level|pairs|null transfer, median|transfer of 8K, median|shared L2|2|50.0 ns|562 ns|same package|4|200 ns|712 ns")
	eval[bool](b, `document.querySelector(".map .plot").focus() === undefined`)
	for _, tt := range []struct{ key, want string }{
		{kb.ArrowRight, "CPUs 0 and 1|50.0 ns|95 % interval 45.0 ns to 55.0 ns|shared L2: median 50.0 ns"},
		{kb.ArrowDown, "CPUs 2 and 1|200 ns|95 % interval 180 ns to 220 ns|same package: median 200 ns"}, // over the diagonal
		{kb.Escape, ""},
	} {
		b.do(chromedp.KeyEvent(tt.key))
		want := strings.Replace(tt.want, "2 and 1", "1 and 2", 1)
		b.until(`[...document.querySelectorAll(".map figure:first-child .tip")][0].innerText.replaceAll("\n", "|") === %q || %q === "x"`, want, "")
	}
	b.click(`document.querySelector('[data-series]')`)
	check.Equal(t, eval[string](b, `[...document.querySelectorAll(".map:not([hidden]) h4")].map(e => e.textContent).join()`), sly, "maps of one machine")
}

// A map of 128 CPUs has few elements, and its cells can be pointed at.
func TestLargeMapInBrowser(t *testing.T) {
	m := exact("server", []int{1, 2}, 1000, 1600)
	for a := range 128 {
		for c := a + 1; c < 128; c++ {
			ns := float64(50 + 3*(c-a))
			m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: params.PairOf(a, c, params.UnknownHome)},
				Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
		}
	}
	b := open(t, &Page{Machines: []compare.Machine{m}})
	defer b.clean()
	check.AtMost(t, eval[int](b, `document.querySelectorAll(".map svg *").length`), 250, "elements")
	x, y := b.middle(`document.querySelector(".map svg image")`)
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, x+1, y-1)) // CPUs 63 and 64 meet in the middle
	b.until(`document.querySelector(".map .tip.on") !== null`)
	check.Equal(t, b.texts(".map .tip div"), "CPUs 63 and 64|53.0 ns|level unknown: median 164 ns", "tip") // 4033 of 8128 pairs are 37 apart or less, 4123 are 38
}

func TestFleetInBrowser(t *testing.T) {
	b := open(t, many(120)) // machines 3 and 100 are slow
	defer b.clean()
	order := eval[[]string](b, `[...document.querySelectorAll("main > section")].map(s => s.id)`)
	check.Slices(t, order, []string{"verdict", "warnings", "fleet", "charts", "machines"}, "sections")
	slow := strings.Split(b.texts("#fleet .table:first-of-type tbody th"), "|")[:2]
	slices.Sort(slow)
	check.Slices(t, slow, []string{"node0003", "node0100"}, "machines that are off")
	series := func(which string) string {
		return eval[string](b, `[...document.querySelectorAll('figure[data-chart="concurrency"] g.series')].filter(g => %s).map(g => g.dataset.name).sort().join()`, which)
	}
	check.Equal(t, series(`g.dataset.v`), "median of all,node0003,node0100", "charts begin with")
	check.Equal(t, eval[int](b, `document.querySelectorAll('figure[data-chart="concurrency"] g.series').length`), 121, "lines")
	eval[bool](b, `(f => { f.value = "node0077"; return f.dispatchEvent(new Event("input")); })(document.getElementById("filter"))`)
	check.Equal(t, b.texts("#machines tbody tr:not([hidden]) th"), "node0077", "the filter leaves")
	const chosen = `!g.dataset.v && g.querySelector("path").style.stroke !== ""`
	b.click(`document.querySelector('#machines [data-show="node0077"]')`)
	check.Equal(t, series(chosen), "node0077", "chosen")
	names := b.texts("#series .name")
	check.True(t, names == "median of all|node0003|node0100|node0077" || names == "median of all|node0100|node0003|node0077", "switches of %s", names)
	b.click(`document.querySelector('#machines [data-show="node0077"]')`)
	check.Equal(t, series(chosen), "", "chosen")
	// The law of the invented machines: A(8) = 8/(1 + 0.08·7 + 0.002·8·7).
	got := eval[float64](b, `Number([...document.querySelectorAll("#fleet tbody tr")].find(r => r.cells[0].textContent === "8" && r.cells[1].textContent === "120").cells[8].textContent)`)
	want := 8 / 1.672
	check.True(t, got >= 0.99*want && got <= 1.01*want, "A(8) = %v, want %.3f", got, want)
}

// Axe-core finds no violation of accessibility, in light and dark, with all sections open.
func TestAccessibleInBrowser(t *testing.T) {
	path := os.Getenv("TAULOP_AXE")
	if path == "" {
		skip(t, "TAULOP_AXE does not name axe.min.js: npm pack axe-core has it")
	}
	axe := must.Get(os.ReadFile(path))
	pages := map[string]*Page{"few": few(), "fleet": many(compare.Fleet + 2)}
	for _, p := range pages {
		for i, m := range p.Machines {
			addSurveys(m, 1+float64(i))
		}
	}
	for name, p := range pages {
		b := open(t, p)
		eval[bool](b, `(document.querySelectorAll("details").forEach(d => { d.open = true; }), true)`)
		ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
		_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](string(axe)))
		cancel()
		b.must(err)
		for _, scheme := range []string{"light", "dark"} {
			_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			b.must(err)
			found := eval[string](b, `axe.run().then(r => JSON.stringify(r.violations.map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary)}))))`)
			var violations []struct {
				ID, Impact, Help string
				Nodes            []string
			}
			b.must(json.Unmarshal([]byte(found), &violations))
			for _, v := range violations {
				t.Errorf("%s, %s: %s %s: %s\n%s", name, scheme, v.Impact, v.ID, v.Help, strings.Join(v.Nodes, "\n"))
			}
		}
		b.clean()
	}
}

// skip skips a test without its browser or axe, unless TAULOP_BROWSER demands all tests.
func skip(t testing.TB, why string) {
	t.Helper()
	check.Need(t, os.Getenv("TAULOP_BROWSER") == "", "TAULOP_BROWSER is set, but %s", why)
	t.Skip(why)
}

// A tab is a page in Chromium, without a network.
type tab struct {
	testing.TB
	ctx       context.Context
	downloads string

	mu     sync.Mutex
	faults []string // errors, console output, dialogs, requests
}

// open shows a page of machines from a file.
func open(t testing.TB, p *Page) *tab {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	i := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if i < 0 {
		skip(t, "there is no chromium in PATH: apt-get install chromium")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	must.Do(os.WriteFile(file, []byte(must.Text(p.Write)), 0o644))
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(names[i]), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.WindowSize(1280, 1000),
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx) })
	b := &tab{TB: t, ctx: ctx, downloads: t.TempDir()}
	b.must(chromedp.Listen(ctx, b.listen))
	call := func(_ any, err error) { b.must(err) }
	call(chromedp.Call(ctx, network.Enable, network.EnableParams{}))
	call(chromedp.Call(ctx, log.Enable, cdp.Empty{}))
	call(chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: true}}}))
	call(chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: b.downloads}))
	b.do(chromedp.Navigate("file://" + file))
	b.until(`document.querySelector(".plot svg") !== null`)
	return b
}

func (b *tab) must(err error) {
	b.Helper()
	check.Need(b, err == nil, "%v", err)
}

func (b *tab) listen(ev any) {
	fault := ""
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		fault = "exception: " + ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			fault += " " + ev.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console: %s", ev.Type)
	case *log.EventEntryAdded:
		fault = "log: " + ev.Entry.Text
	case *cdpage.EventJavascriptDialogOpening:
		fault = "dialog: " + ev.Message
	case *network.EventRequestWillBeSent:
		if url := ev.Request.URL; !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "blob:file:") && !strings.HasPrefix(url, "blob:null") && !strings.HasPrefix(url, "data:image/png") {
			fault = "request: " + url
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// clean fails if the page had faults.
func (b *tab) clean() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.Error(f)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

// eval runs JavaScript in the page.
func eval[T any](b *tab, script string, args ...any) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](fmt.Sprintf(script, args...), chromedp.EvalAwaitPromise))
	check.Need(b, err == nil, "%s: %v", script, err)
	return v
}

// until waits for a condition.
func (b *tab) until(condition string, args ...any) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !eval[bool](b, condition, args...); time.Sleep(20 * time.Millisecond) {
		check.Need(b, time.Now().Before(deadline), "in a minute it did not become true that %s", fmt.Sprintf(condition, args...))
	}
}

// click clicks in the middle of an element.
func (b *tab) click(element string) {
	b.Helper()
	x, y := b.middle(element)
	b.do(chromedp.MouseClickXY(x, y))
}

// middle scrolls to an element, and waits until it stays in place: charts that become visible on the way are
// drawn, and move the elements below.
func (b *tab) middle(element string) (x, y float64) {
	b.Helper()
	at := eval[[]float64](b, `(async e => {
		for (let last = null, still = 0; still < 5;) {
			e.scrollIntoView({block: "center"});
			await new Promise(done => setTimeout(done, 20));
			const r = e.getBoundingClientRect(), at = [r.x + r.width/2, r.y + r.height/2];
			still = last && at[0] === last[0] && at[1] === last[1] ? still + 1 : 0;
			last = at;
		}
		const r = e.getBoundingClientRect();
		return [r.x + r.width/2, r.y + r.height/2];
	})(%s)`, element)
	return at[0], at[1]
}

// value scrolls to a figure, and returns the place of a value of a line.
func (b *tab) value(figure, series string, i int) (x, y float64) {
	b.Helper()
	b.middle(figure + ".querySelector('svg')")
	at := eval[[]float64](b, `(() => {
		const svg = %s.querySelector("svg"), box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
		const [x, y] = %s.dataset.v.split(";")[%d].split(",");
		return [box.x + x * scale, box.y + y * scale];
	})()`, figure, series, i)
	return at[0], at[1]
}

// choose chooses an option of a select by its text.
func (b *tab) choose(selected, text string) {
	b.Helper()
	ok := eval[bool](b, `(s => {
		s.selectedIndex = [...s.options].findIndex(o => o.text === %q);
		return s.selectedIndex >= 0 && s.dispatchEvent(new Event("change", {bubbles: true}));
	})(%s)`, text, selected)
	check.True(b, ok, "%s has no %q", selected, text)
}

// texts are the texts of elements, with bars between.
func (b *tab) texts(elements string) string {
	b.Helper()
	return eval[string](b, `[...document.querySelectorAll(%q)].map(e => e.textContent).join("|")`, elements)
}
