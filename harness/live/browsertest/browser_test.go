// Package browsertest looks at the report and the live page in a real browser: Chromium without a window. It is skipped where there is none
// (Debian: apt-get install chromium). With BAKEOFF_SCREENSHOTS=FOLDER it leaves pictures there.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// limit is how long one test may take: a busy machine starts a browser in many seconds.
const limit = 3 * time.Minute

// browser is a page, and what went wrong on it.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	wrong    []string
	requests []string
}

// start opens a browser with an empty page.
func start(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("there is no Chromium here (Debian: apt-get install chromium): nothing was looked at in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(limit))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	b.do(network.Enable(), log.Enable(), runtime.Enable(), chromedp.EmulateViewport(1200, 900))
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			b.wrong = append(b.wrong, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// quiet fails for what the browser has complained of, and gives what it asked for.
func (b *browser) quiet() []string {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("the browser says: %s", w)
	}
	return b.requests
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of a JavaScript expression on the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	var out T
	b.do(chromedp.Evaluate(expression, &out))
	return out
}

// until waits for an expression to be true, looking at each change of the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(`new Promise(function (done) {
		var watch = new MutationObserver(look);
		function look() { if (`+expression+`) { watch.disconnect(); done(true); } }
		watch.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
		look();
	})`, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// media shows the page as a reader's preferences have it.
func (b *browser) media(scheme string, width int64) {
	b.t.Helper()
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.EmulateViewport(width, 900))
}

// picture leaves a picture where they are wanted.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("BAKEOFF_SCREENSHOTS")
	if folder == "" {
		return
	}
	var png []byte
	b.do(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// looks checks that the page is whole in light, dark and on a telephone.
func (b *browser) looks(name string) {
	b.t.Helper()
	const background = `getComputedStyle(document.body).backgroundColor`
	b.media("light", 1200)
	light := eval[string](b, background)
	b.picture(name + "-light")
	b.media("dark", 1200)
	if dark := eval[string](b, background); dark == light {
		b.t.Errorf("light and dark are both %s", light)
	}
	b.picture(name + "-dark")
	b.media("light", 400)
	if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 400 {
		b.t.Errorf("the page is %d wide on a telephone of 400", wide)
	}
	b.picture(name + "-400")
	b.media("light", 1200)
}

// prints checks that the page is whole on paper, also for who prefers it dark: black on white, nothing wider than a sheet of A4 or behind a scroll bar.
func (b *browser) prints() {
	b.t.Helper()
	const sheet = 718 // 210 mm less two margins of 10 mm, at 96 dots an inch
	b.do(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}), chromedp.EmulateViewport(sheet, 900))
	if colour := eval[string](b, `getComputedStyle(document.body).backgroundColor`); colour != "rgb(255, 255, 255)" {
		b.t.Errorf("paper is %s", colour)
	}
	if cut := eval[[]string](b, `Array.from(document.querySelectorAll("html, pre, .scroll, table, figure, svg.chart")).filter(function (e) { return e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 ||
		e.getBoundingClientRect().right > `+fmt.Sprint(sheet)+`; }).map(function (e) { return e.tagName + " " + e.textContent.slice(0, 60); })`); len(cut) > 0 {
		b.t.Errorf("cut off on paper: %q", cut)
	}
	b.picture("print")
	b.do(emulation.SetEmulatedMedia().WithMedia("screen"))
	b.media("light", 1200)
}

// charts checks that every chart has marks and words, and gives their names.
func (b *browser) charts() []string {
	b.t.Helper()
	type chart struct {
		Kind, Role, Title, Words string
		Marks                    int
		Height                   float64
	}
	var names []string
	for _, c := range eval[[]chart](b, `Array.from(document.querySelectorAll("svg.chart")).map(function (s) { return { Kind: s.dataset.chart, Role: s.getAttribute("role"),
		Title: s.querySelector("title").textContent, Words: s.querySelector("desc").textContent, Marks: s.querySelectorAll(".mark").length, Height: s.getBoundingClientRect().height }; })`) {
		if c.Role != "img" || c.Title == "" || len(c.Words) < 20 || c.Marks == 0 || c.Height < 50 || strings.Contains(c.Words, "NaN") {
			b.t.Errorf("chart %+v", c)
		}
		names = append(names, c.Kind)
	}
	return names
}
