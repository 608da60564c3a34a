package page

import (
	"bytes"
	"context"
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
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/taulop/taulop/internal/test/must"
)

// skip skips a test without its browser or axe, unless TAULOP_BROWSER demands all tests.
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
	var text bytes.Buffer
	must.Do(p.Write(&text))
	file := filepath.Join(dir, "report.html")
	must.Do(os.WriteFile(file, text.Bytes(), 0o644))
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
			b.Fatalf("in a minute it did not become true that %s", fmt.Sprintf(condition, args...))
		}
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
	if !ok {
		b.Errorf("%s has no %q", selected, text)
	}
}

// texts are the texts of elements, with bars between.
func (b *tab) texts(elements string) string {
	b.Helper()
	return eval[string](b, `[...document.querySelectorAll(%q)].map(e => e.textContent).join("|")`, elements)
}
