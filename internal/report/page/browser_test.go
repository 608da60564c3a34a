package page

import (
	"bytes"
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
	"github.com/taulop/taulop/internal/report/page/nodes"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// skip skips a test that lacks something, unless TAULOP_BROWSER demands all.
func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("TAULOP_BROWSER") != "" {
		t.Fatal("TAULOP_BROWSER is set, but " + why)
	}
	t.Skip(why)
}

// A tab is a page in Chromium, without a network.
type tab struct {
	testing.TB
	ctx       context.Context
	downloads string

	mu     sync.Mutex
	faults []string // errors on the console, dialogs, requests
}

// open shows a page of machines from a file.
func open(t testing.TB, p *Page) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		skip(t, "there is no chromium in PATH: apt-get install chromium")
	}
	dir := t.TempDir()
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.WindowSize(1280, 1000),
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
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	b.must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	b.must(err)
	_, err = chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: true}}})
	b.must(err)
	_, err = chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: b.downloads})
	b.must(err)
	b.do(chromedp.Navigate("file://" + file))
	b.until(`document.querySelector(".plot svg") !== null`)
	return b
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
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
		if url := ev.Request.URL; !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "blob:file:") && !strings.HasPrefix(url, "blob:null") {
			fault = "request: " + url
		}
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// clean fails if anything went wrong that nobody saw.
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
	if err != nil {
		b.Fatalf("%s: %v", script, err)
	}
	return v
}

// until waits for a condition.
func (b *tab) until(condition string, args ...any) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !eval[bool](b, condition, args...); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			const state = `JSON.stringify([scrollY, ...[...document.querySelectorAll("details.group, figure")].map(e =>
				[e.open ?? e.querySelectorAll("svg").length, e.getBoundingClientRect().y, e.getBoundingClientRect().height])])`
			b.Fatalf("in a minute it did not become true that %s; the page is %s", fmt.Sprintf(condition, args...), eval[string](b, state))
		}
	}
}

// click clicks in the middle of an element, as a person does.
func (b *tab) click(element string) {
	b.Helper()
	x, y := b.middle(element)
	b.do(chromedp.MouseClickXY(x, y))
}

// middle brings an element into sight, and waits until it stays where it is: what
// comes near on the way is drawn, and moves what is below.
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

// exact is a machine whose transfers of 8 KB take the times given, ±2 %.
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
	sly  = `"><img src=x onerror=alert(2)> & </script>`
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

func TestPageInBrowser(t *testing.T) {
	b := open(t, few())
	defer b.clean()

	t.Run("names are text", func(t *testing.T) {
		for element, want := range map[string]string{
			`document.querySelector("h1")`:                             "taulop report " + evil + ", " + sly,
			`document.querySelector("#machines tbody th")`:             evil,
			`document.querySelectorAll("#series .name")[1]`:            sly,
			`document.querySelector("#warnings li")`:                   "the clock of " + evil + " varies (" + evil + ")",
			`document.querySelector("#machines dl div:last-child dd")`: "/somewhere/25.json",
		} {
			if got := eval[string](b, "%s.textContent.trim()", element); got != want {
				t.Errorf("%s is %q, want %q", element, got, want)
			}
		}
		if n := eval[int](b, `document.querySelectorAll("img, main script").length`); n > 0 {
			t.Errorf("%d elements of names", n)
		}
	})

	t.Run("values under the pointer", func(t *testing.T) {
		for _, tt := range []struct {
			chart         string
			series, point int
			want          string
		}{
			// A = τ·L(8K,1)/L(8K,τ)
			{"A", 0, 1, evil + "|τ = 2: A = 1.250|95 % interval 1.201 to 1.301"},
			{"A", 1, 3, sly + "|τ = 8: A = 2.500|95 % interval 2.402 to 2.602"},
			// τ·8192 bytes in L ns
			{"B", 0, 2, evil + "|τ = 4: 13.11 GB/s|95 % interval 12.85 to 13.37"},
			{"L", 1, 2, sly + "|τ = 4: L = 1.000 µs|95 % interval 980.0 ns to 1.020 µs"},
			// at the largest τ, 8
			{"Lm", 0, 0, evil + "|m = 4K: L = 2.500 µs|95 % interval 2.450 µs to 2.550 µs"},
		} {
			figure := fmt.Sprintf(`document.querySelector('figure[data-chart="%s"]')`, tt.chart)
			x, y := b.middle(fmt.Sprintf("%s.querySelectorAll('g.series')[%d].querySelectorAll('.mark')[%d]", figure, tt.series, tt.point))
			b.do(chromedp.MouseEvent(chromedp.MouseMoved, x+2, y+1))
			b.until("%s.querySelector('.tip.on') !== null", figure)
			if got := eval[string](b, "[...%s.querySelectorAll('.tip div')].map(d => d.textContent).join('|')", figure); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.chart, got, tt.want)
			}
		}
	})

	t.Run("values by keyboard", func(t *testing.T) {
		eval[bool](b, `document.querySelector('figure[data-chart="A"] .plot').focus() === undefined`)
		for _, tt := range []struct{ key, want string }{
			{kb.ArrowRight, "τ = 1: A = 1.000"},
			{kb.ArrowRight, "τ = 2: A = 1.250"},
			{kb.ArrowDown, "τ = 2: A = 2.000"}, // the other machine
			{kb.End, "τ = 8: A = 2.500"},
			{kb.ArrowLeft, "τ = 4: A = 2.000"},
		} {
			b.do(chromedp.KeyEvent(tt.key))
			if got := eval[string](b, `document.querySelector('figure[data-chart="A"] .tip .value').textContent`); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		}
	})

	t.Run("a series switches off and on", func(t *testing.T) {
		names := func() string {
			return eval[string](b, `[...document.querySelectorAll('figure[data-chart="A"] g.series')].map(g => g.dataset.name).join()`)
		}
		colour := func() string {
			return eval[string](b, `[...document.querySelectorAll('figure[data-chart="A"] g.series')].at(-1).querySelector(".line").getAttribute("stroke")`)
		}
		was := colour()
		b.click(`document.querySelector('[data-series="0"]')`)
		if got := names(); got != sly || colour() != was {
			t.Errorf("after switching off: %q in %s, was %s", got, colour(), was)
		}
		b.click(`document.querySelector('[data-series="0"]')`)
		if got := names(); got != evil+","+sly {
			t.Errorf("after switching on again: %q", got)
		}
	})

	t.Run("another size", func(t *testing.T) {
		eval[bool](b, `(s => { s.value = "4096"; return s.dispatchEvent(new Event("change")); })(document.getElementById("size"))`)
		if got := eval[string](b, `document.querySelector('figure[data-chart="B"] figcaption').textContent`); !strings.Contains(got, "m = 4K") {
			t.Error(got)
		}
	})

	t.Run("tables sort", func(t *testing.T) {
		b.click(`document.querySelector("details.numbers summary")`)
		b.until(`document.querySelectorAll("details.numbers tbody tr").length === 16`)
		column := func() []string {
			return eval[[]string](b, `[...document.querySelectorAll("details.numbers tbody tr")].map(r => r.cells[3].textContent)`)
		}
		head := `[...document.querySelectorAll("details.numbers th button")].find(b => b.textContent.startsWith("L("))`
		b.click(head)
		// ns: half of the times of 8 KB, and those
		up := []string{"250.0", "250.0", "500.0", "500.0", "500.0", "500.0", "800.0", "800.0", "1000", "1000", "1250", "1600", "1600", "2500", "2500", "5000"}
		if got := column(); !slices.Equal(got, up) {
			t.Errorf("rising: %v", got)
		}
		eval[bool](b, `%s.focus() === undefined`, head)
		b.do(chromedp.KeyEvent(kb.Enter))
		slices.Reverse(up)
		if got := column(); !slices.Equal(got, up) {
			t.Errorf("falling: %v", got)
		}
		if got := eval[string](b, `%s.parentElement.getAttribute("aria-sort")`, head); got != "descending" {
			t.Error(got)
		}
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
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if want := "raw /somewhere/25.json ≤ \x00\n"; string(text) != want {
			t.Errorf("%q, want %q", text, want)
		}
	})

	t.Run("narrow", func(t *testing.T) {
		b.do(chromedp.EmulateViewport(400, 800))
		b.until(`document.querySelector('figure[data-chart="A"] svg').viewBox.baseVal.width < 400`)
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 400 {
			t.Errorf("the page is %d wide", wide)
		}
	})
}

// A machine of two τ has charts over m.
func TestTwoTausInBrowser(t *testing.T) {
	b := open(t, &Page{Machines: []compare.Machine{exact("laptop", []int{1, 2}, 1000, 1600)}})
	defer b.clean()
	if n := eval[int](b, `document.querySelectorAll("details.group figure").length`); n != 3 {
		t.Errorf("%d charts", n)
	}
	x, y := b.middle(`document.querySelectorAll('figure[data-chart="A"] .mark')[1]`)
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	if got := eval[string](b, `document.querySelector('figure[data-chart="A"] .tip .value').textContent`); got != "m = 8K: A = 1.250" {
		t.Error(got)
	}
}

// choose chooses in a select, by what the option says.
func (b *tab) choose(selected, text string) {
	b.Helper()
	ok := eval[bool](b, `(s => {
		s.selectedIndex = [...s.options].findIndex(o => o.text === %q);
		return s.selectedIndex >= 0 && s.dispatchEvent(new Event("change", {bubbles: true}));
	})(%s)`, text, selected)
	if !ok {
		b.Errorf("%s has no %q", selected, text)
	}
}

// texts are those of elements, with bars between.
func (b *tab) texts(elements string) string {
	b.Helper()
	return eval[string](b, `[...document.querySelectorAll(%q)].map(e => e.textContent).join("|")`, elements)
}

// sight brings a chart's figure into sight, where it is drawn.
func (b *tab) sight(figure string) {
	b.Helper()
	b.middle(fmt.Sprintf(`document.querySelector(%q)`, figure))
	b.until(`document.querySelector(%q).querySelector("svg") !== null`, figure)
}

// Surveys several machines have the same line each, and maps of pairs.
func TestSurveysInBrowser(t *testing.T) {
	p := few()
	addSurveys(p.Machines[0], 1)
	addSurveys(p.Machines[1], 2)
	b := open(t, p)
	defer b.clean()

	t.Run("a line of every machine", func(t *testing.T) {
		if got, want := b.texts("#surveys h3"), "Copies between levels of the memory|Accesses|Strided messages|Message patterns|Disks|Pairs of CPUs"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		const level, access = `figure[data-chart="level"]`, `figure[data-chart="access"]`
		b.sight(level)
		for _, tt := range []struct{ kind, choice, option, caption, value string }{
			{"level", "", "", "Copies, τ = 1, L1 → L1", "m = 64: 32.00 GB/s|95 % interval 29.09 to 35.56"}, // 64 bytes in 64/64 ns, twice that
			{"level", "panel", "τ = 2", "Copies, τ = 2, L1 → L1", "m = 64: 32.00 GB/s|95 % interval 29.09 to 35.56"},
			{"level", "line", "L1 → memory", "Copies, τ = 2, L1 → memory", "m = 64: 4.000 GB/s|95 % interval 3.636 to 4.444"},
			{"access", "cache", "off", "Access, float64, N = 1K, read, off cache", "stride 1: 2.000 ns|95 % interval 1.800 ns to 2.200 ns"}, // 1024/1024 ns, twice
			{"pack", "cache", "off", "Message, packing, 4K, off cache", "d = 16: 1.800 µs|95 % interval 1.620 µs to 1.980 µs"},
			{"pattern", "", "", "Message, permutation, P = 4, permutation-1", "m = 1K: 6.000 µs|95 % interval 5.400 µs to 6.600 µs"},
			{"disk", "", "", "Disk, page cache out, read", "m = 4K: 180.0 µs|95 % interval 162.0 µs to 198.0 µs"},
		} {
			figure := fmt.Sprintf(`figure[data-chart="%s"]`, tt.kind)
			b.sight(figure)
			if tt.choice != "" {
				b.choose(fmt.Sprintf(`document.querySelector('%s').closest(".kind").querySelector("select[name=%s]")`, figure, tt.choice), tt.option)
			}
			if got := b.texts(figure + " figcaption span:first-child"); got != tt.caption {
				t.Errorf("%q, want %q", got, tt.caption)
			}
			x, y := b.middle(fmt.Sprintf(`document.querySelectorAll('%s g.series')[1].querySelector(".mark")`, figure)) // the second machine's
			b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
			if got := b.texts(figure + " .tip div"); got != sly+"|"+tt.value {
				t.Errorf("%q, want %q", got, tt.value)
			}
		}
		eval[bool](b, `document.querySelector('%s .plot').focus() === undefined`, access)
		for _, tt := range []struct{ key, want string }{{kb.ArrowRight, "stride 1: 1.000 ns"}, {kb.End, "stride 4: 4.000 ns"}, {kb.ArrowDown, "stride 4: 8.000 ns"}} {
			b.do(chromedp.KeyEvent(tt.key))
			if got := b.texts(access + " .tip .value"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		}
	})

	t.Run("maps", func(t *testing.T) {
		if got := b.texts(".map h4"); got != evil+"|"+sly {
			t.Errorf("maps of %q", got)
		}
		b.sight(".map figure")
		if got, want := b.texts(".map:first-child figure:first-child svg text.on-light, .map:first-child figure:first-child svg text.on-dark"),
			"50|50|200|200|200|200|200|200|200|200|50|50"; got != want {
			t.Errorf("cells %q, want %q", got, want)
		}
		if got, want := b.texts(".map:first-child th, .map:first-child td"),
			"level|pairs|null transfer, median|transfer of 8K, median|shared L2|2|50.00 ns|562.0 ns|same package|4|200.0 ns|712.0 ns"; got != want {
			t.Errorf("levels %q, want %q", got, want)
		}
		b.sight(".map:last-child figure")
		for _, machine := range []string{"first", "last"} { // one scale for both, whose pairs take 50 to 400 ns
			if got := b.texts(".map:" + machine + "-child figure:first-child .tick"); got != "50 ns|100 ns|200 ns" {
				t.Errorf("the scale of the %s has %q", machine, got)
			}
		}
		eval[bool](b, `document.querySelector(".map .plot").focus() === undefined`)
		for _, tt := range []struct{ key, want string }{
			{kb.ArrowRight, "CPUs 0 and 1|50.00 ns|95 % interval 45.00 ns to 55.00 ns|shared L2: median 50.00 ns"},
			{kb.ArrowDown, "CPUs 1 and 2|200.0 ns|95 % interval 180.0 ns to 220.0 ns|same package: median 200.0 ns"}, // over the diagonal
			{kb.End, "CPUs 2 and 3|50.00 ns|95 % interval 45.00 ns to 55.00 ns|shared L2: median 50.00 ns"},
			{kb.ArrowRight, "CPUs 2 and 3|50.00 ns|95 % interval 45.00 ns to 55.00 ns|shared L2: median 50.00 ns"},
			{kb.Home, "CPUs 0 and 2|200.0 ns|95 % interval 180.0 ns to 220.0 ns|same package: median 200.0 ns"},
			{kb.Escape, ""},
		} {
			b.do(chromedp.KeyEvent(tt.key))
			if got := b.texts(".map:first-child figure:first-child .tip div"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		}
		b.sight(".map:last-child figure:last-child")
		x, y := b.middle(`document.querySelector(".map:last-child figure:last-child text.on-dark")`) // of CPUs 0 and 1
		b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
		if got, want := b.texts(".map:last-child figure:last-child .tip div"), "CPUs 0 and 1|1.124 µs|95 % interval 1.012 µs to 1.236 µs|shared L2: median 1.124 µs"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})

	t.Run("one machine left", func(t *testing.T) {
		b.click(`document.querySelector('[data-series="0"]')`)
		if got := b.texts(".map h4"); got != sly {
			t.Errorf("maps of %q", got)
		}
		b.sight(`figure[data-chart="level"]`)
		b.choose(`document.querySelector(".kind select[name=line]")`, "all")
		if got := b.texts(".kind:first-child .legend li"); got != "L1 → L1|L1 → memory" {
			t.Errorf("the legend is %q", got)
		}
		b.click(`document.querySelector('[data-series="0"]')`)
		if got := b.texts(".map h4"); got != evil+"|"+sly {
			t.Errorf("maps of %q", got)
		}
	})

	t.Run("paper", func(t *testing.T) {
		if left := eval[int](b, `(dispatchEvent(new Event("beforeprint")), figures.filter(f => !f.folded() && !f.figure.querySelector("svg")).length)`); left > 0 {
			t.Errorf("%d figures are not drawn for paper", left)
		}
		eval[bool](b, `dispatchEvent(new Event("afterprint"))`)
	})

	t.Run("narrow", func(t *testing.T) {
		b.do(chromedp.EmulateViewport(400, 800))
		b.sight(".map figure")
		b.until(`document.querySelector(".map svg").viewBox.baseVal.width < 400`)
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 400 {
			t.Errorf("the page is %d wide", wide)
		}
	})
}

// One machine has the lines of a panel, with a legend.
func TestSurveysOfOneInBrowser(t *testing.T) {
	b := open(t, &Page{Machines: []compare.Machine{addSurveys(exact("laptop", []int{1, 2}, 1000, 1600), 1)}})
	defer b.clean()
	b.sight(`figure[data-chart="level"]`)
	if got := b.texts(".kind:first-child .legend li"); got != "L1 → L1|L1 → memory" {
		t.Errorf("the legend is %q", got)
	}
	b.choose(`document.querySelector(".kind select[name=line]")`, "L1 → memory")
	series := `[...document.querySelectorAll('figure[data-chart="level"] g.series')].map(g => g.dataset.name).join()`
	if got := eval[string](b, "%s", series) + b.texts(".kind:first-child .legend li"); got != "laptop" {
		t.Errorf("one line is of %q", got)
	}
}

// only leaves cells of a kind.
func only(m compare.Machine, k params.Kind) compare.Machine {
	m.File.Cells = slices.DeleteFunc(m.File.Cells, func(c params.Cell) bool { return c.Kind != k })
	return m
}

// Files hold different kinds, such as pairs of CPUs alone beside one of a disk.
func TestSurveysOfDifferentKindsInBrowser(t *testing.T) {
	b := open(t, &Page{Machines: []compare.Machine{
		only(addSurveys(exact("pairs", nil), 1), params.PairCell),
		only(addSurveys(exact("disk", nil), 1), params.DiskCell),
		only(addSurveys(exact("access", nil), 1), params.AccessCell),
	}})
	for _, kind := range []string{"disk", "access"} {
		b.sight(fmt.Sprintf(`figure[data-chart="%s"]`, kind))
		if got := eval[string](b, `[...document.querySelectorAll('figure[data-chart="%s"] g.series')].map(g => g.dataset.name).join()`, kind); got != kind {
			t.Errorf("the chart of %s has series %q", kind, got)
		}
	}
	b.sight(".map figure")
	b.clean()
	if t.Failed() {
		return
	}

	// A figure that fails says so, and leaves the others alone.
	eval[bool](b, `(() => {
		figures[0].spec = () => { throw new Error("on purpose"); };
		for (const f of figures) { f.near = true; f.figure.querySelector(".plot").replaceChildren(); }
		redraw();
		return true;
	})()`)
	if got, want := b.texts("figure:not(:has(svg)) figcaption"), "This chart cannot be drawn: on purpose"; got != want {
		t.Errorf("figures without a chart say %q, want %q", got, want)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) != 1 || !strings.Contains(b.faults[0], "on purpose") {
		t.Errorf("the console has %q", b.faults)
	}
}

// Files without transfers have a page of what else they hold, few and many.
func TestSurveysAloneInBrowser(t *testing.T) {
	for _, n := range []int{1, 2, compare.Fleet} {
		p := &Page{}
		for i := range n {
			m := exact(fmt.Sprintf("node%d", i), nil)
			p.Machines = append(p.Machines, addSurveys(m, 1+0.01*float64(i)))
		}
		b := open(t, p)
		b.sight(`figure[data-chart="disk"]`)
		if got := b.texts("h2"); strings.Count(got, "Surveys") != 1 || strings.Contains(got, "What each carries") || strings.Contains(got, "Charts") {
			t.Errorf("%d machines: sections %q", n, got)
		}
		if got := b.texts("footer"); got != "" {
			t.Errorf("%d machines: a footnote without transfers, %q", n, got)
		}
		if shown := eval[string](b, `[...document.querySelectorAll("#toolbar > label, #few")].filter(e => !e.hidden).map(e => e.id).join()`); shown != "" {
			t.Errorf("%d machines: %s is there without transfers", n, shown)
		}
		b.clean()
	}
}

// A map of 128 CPUs is drawn quickly, of few elements.
func TestLargeMapInBrowser(t *testing.T) {
	m := exact("server", []int{1, 2}, 1000, 1600)
	for a := range 128 {
		for c := a + 1; c < 128; c++ {
			ns := float64(50 + 3*(c-a))
			m.File.Cells = append(m.File.Cells, params.Cell{Key: params.Key{Kind: params.PairCell, Placement: numa.List, Tau: 1, Variant: params.PairVariant(a, c, params.UnknownHome)},
				Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
		}
	}
	b := open(t, &Page{Machines: []compare.Machine{m}})
	defer b.clean()
	b.sight(".map figure")
	if n := eval[int](b, `document.querySelectorAll(".map svg *").length`); n > 250 {
		t.Errorf("%d elements", n)
	}
	x, y := b.middle(`document.querySelector(".map svg .nothing")`)
	b.do(chromedp.MouseEvent(chromedp.MouseMoved, x+2, y-2))                                              // CPUs 63 and 64 meet in the middle
	if got := b.texts(".map .tip div"); got != "CPUs 63 and 64|53.00 ns|level unknown: median 164.0 ns" { // 4033 of 8128 pairs are 37 apart or less, 4123 are 38
		t.Errorf("%q", got)
	}
}

// What is folded is drawn when it is opened, as things are then.
func TestFoldedInBrowser(t *testing.T) {
	m := exact("server", []int{1, 2, 4}, 1000, 1600, 2500)
	for _, setup := range []string{"bcast", "ping"} {
		for _, c := range m.File.Cells {
			if c.Setup == "ring" {
				c.Setup, c.Time = setup, c.Time.Scale(2)
				m.File.Cells = append(m.File.Cells, c)
			}
		}
	}
	b := open(t, &Page{Machines: []compare.Machine{m}})
	defer b.clean()
	last := `document.querySelectorAll("details.group")[2]`
	if eval[bool](b, `%s.open || %s.querySelector("svg") !== null`, last, last) {
		t.Error("the third channel is not folded, or drawn all the same")
	}
	eval[bool](b, `(s => { s.value = "4096"; return s.dispatchEvent(new Event("change")); })(document.getElementById("size"))`)
	b.click(last + `.querySelector("summary")`)
	b.until(`%s.querySelector("g.series") !== null`, last)
	if got := eval[string](b, `%s.querySelector("summary").textContent + %s.querySelector("figcaption span").textContent`, last, last); got != "ring, placement local, in cacheA(τ) against τ, m = 4K" {
		t.Error(got)
	}
}

// many is a fleet, with its files.
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

func TestFleetInBrowser(t *testing.T) {
	b := open(t, many(120)) // of whom 3 and 100 are slow
	defer b.clean()
	text := func(elements string) string {
		return eval[string](b, `[...document.querySelectorAll('%s')].map(e => e.textContent).join()`, elements)
	}
	order := eval[[]string](b, `[...document.querySelectorAll("main > section")].map(s => s.id)`)
	if want := []string{"verdict", "warnings", "fleet", "charts", "machines"}; !slices.Equal(order, want) {
		t.Errorf("sections are %v, want %v", order, want)
	}
	slow := strings.Split(text("#outliers tbody th"), ",")
	if slices.Sort(slow); !slices.Equal(slow, []string{"node0003", "node0100"}) {
		t.Errorf("off are %v", slow)
	}
	series := func() string {
		return eval[string](b, `[...document.querySelectorAll('figure[data-chart="A"] g.series')].map(g => g.dataset.name).sort().join()`)
	}
	if got := series(); got != "median of 120,node0003,node0100" {
		t.Errorf("charts begin with %s", got)
	}
	for _, parsed := range []int{3, 4} {
		if got := eval[int](b, `parsed.size`); got != parsed {
			t.Errorf("the page has read %d machines, not %d", got, parsed)
		}
		if parsed == 3 {
			eval[bool](b, `(f => { f.value = "node0077"; return f.dispatchEvent(new Event("input")); })(document.getElementById("filter"))`)
			if got := text("#machines tbody tr:not([hidden]) th"); got != "node0077" {
				t.Errorf("the filter leaves %q", got)
			}
			b.click(`document.querySelector('#machines [data-show="77"]')`)
		}
	}
	if got := series(); got != "median of 120,node0003,node0077,node0100" {
		t.Errorf("charts have %s", got)
	}
	// The law of the invented machines: A(8) = 8/(1 + 0.08·7 + 0.002·8·7).
	got := eval[float64](b, `Number([...document.querySelectorAll("#medians tbody tr")].find(r => r.cells[1].textContent === "8").cells[9].textContent)`)
	if want := 8 / 1.672; got < 0.99*want || got > 1.01*want {
		t.Errorf("A(8) = %v, want %.3f", got, want)
	}
	if looks := eval[int](b, `new Set([...document.querySelectorAll('figure[data-chart="A"] g.series')].map(g => g.querySelector(".line").getAttribute("stroke-dasharray") + g.querySelector(".mark").getAttribute("d"))).size`); looks != 4 {
		t.Errorf("4 series have %d looks without their colours", looks)
	}
}

// A fleet has its median of surveys too, and begins with outliers
// there.
func TestFleetSurveysInBrowser(t *testing.T) {
	p := many(compare.Fleet + 2)
	for i, m := range p.Machines {
		times := 1 + 0.001*float64(i)
		if i == 7 {
			times = 2
		}
		p.Machines[i] = addSurveys(m, times)
	}
	b := open(t, p)
	defer b.clean()
	if got := b.texts("#off-surveys tbody th"); got != strings.TrimSuffix(strings.Repeat("node0007|", 6), "|") { // of each kind
		t.Errorf("off are %q", got)
	}
	const want = "median of 12|node0003|node0007" // 3 has slow transfers
	if got := b.texts(".map h4"); got != want {
		t.Errorf("maps of %q, want %q", got, want)
	}
	const figure = `figure[data-chart="disk"]`
	b.sight(figure)
	if got := eval[string](b, `[...document.querySelectorAll('%s g.series')].map(g => g.dataset.name).join("|")`, figure); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := eval[int](b, `document.querySelectorAll('%s').length`, "#machines .surveys"); n > 0 {
		t.Errorf("%d tables of a fleet's machines", n)
	}
}

// Accessibility, as far as a machine can judge it: axe-core, in light and dark,
// all opened.
func TestAccessibleInBrowser(t *testing.T) {
	path := os.Getenv("TAULOP_AXE")
	if path == "" {
		skip(t, "TAULOP_AXE does not name axe.min.js: npm pack axe-core has it")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
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

// From the page's request to its first chart.
func BenchmarkFirstChart(b *testing.B) {
	shown := open(b, many(1000))
	var ms float64
	for b.Loop() {
		shown.do(chromedp.Reload())
		shown.until(`performance.getEntriesByName("first chart").length > 0`)
		ms += eval[float64](shown, `performance.getEntriesByName("first chart")[0].startTime`)
	}
	b.ReportMetric(ms/float64(b.N), "ms/first-chart")
}
