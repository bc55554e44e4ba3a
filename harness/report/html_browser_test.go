package report

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page in the browser. Whatever it complains about, and whatever it asks
// for beside its own file, fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

type screen struct {
	width, height int64
	dark, noJS    bool
	print         bool
}

var (
	desktop = screen{width: 1280, height: 900}
	phone   = screen{width: 390, height: 844}
)

// open shows the file on a screen, at a fragment ("" or "#…").
func open(t *testing.T, browser context.Context, file, fragment string, s screen) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, url: (&url.URL{Scheme: "file", Path: file}).String()}
	p.do()
	var mu sync.Mutex
	var complaints []string
	err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, "exception: "+ev.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprintf("console: %s", ev.Type))
		case *log.EventEntryAdded:
			complaints = append(complaints, "log: "+ev.Entry.Text+" "+ev.Entry.URL)
		case *network.EventRequestWillBeSent:
			if u := ev.Request.URL; u != p.url && !strings.HasPrefix(u, "data:") {
				complaints = append(complaints, "request: "+u)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range complaints {
			t.Errorf("the browser: %s", c)
		}
	})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, log.Enable, cdp.Empty{})
	call(p, network.Enable, network.EnableParams{})
	p.show(s)
	p.do(chromedp.Navigate(p.url + fragment))
	return p
}

// show changes the screen.
func (p *tab) show(s screen) {
	p.t.Helper()
	scheme, medium := "light", ""
	if s.dark {
		scheme = "dark"
	}
	if s.print {
		medium = "print"
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 600})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noJS})
}

func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	r, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true. The time is far from what it takes.
func (p *tab) until(expression string) {
	p.t.Helper()
	for range 1500 {
		if eval[bool](p, expression) {
			return
		}
		eval[bool](p, "new Promise(done => setTimeout(() => done(true), 20))")
	}
	p.t.Fatalf("never true: %s\nshown: %v", expression, p.shown())
}

// shown are the clauses on the page, by their IDs.
func (p *tab) shown() []string {
	p.t.Helper()
	return eval[[]string](p, "[...document.querySelectorAll('.clause')].filter(c => c.checkVisibility()).map(c => c.id)")
}

func (p *tab) click(selector string) {
	p.t.Helper()
	// In the middle, where nothing that keeps its place covers it.
	eval[bool](p, fmt.Sprintf("document.querySelector(%q).scrollIntoView({block: 'center'}); true", selector))
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// press presses a key that means something to the page or the browser.
func (p *tab) press(key string) {
	p.t.Helper()
	for _, k := range key {
		if k < ' ' {
			p.do(chromedp.KeyEvent(key))
			return
		}
	}
	// One event for key and character, as of a keyboard: the page can keep the character
	// from being typed.
	call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: key, Text: key})
	call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyUp", Key: key})
}

// write types a text.
func (p *tab) write(text string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(text))
}

// status is what is announced to those who cannot see.
func (p *tab) status() string {
	p.t.Helper()
	return eval[string](p, "document.querySelector('[role=status]').textContent")
}

// screenshot keeps what is on the screen beside the other artefacts of the test.
func (p *tab) screenshot(dir, name string) {
	p.t.Helper()
	data := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
	if len(data) < 5000 {
		p.t.Errorf("%s: the screenshot has %d bytes; it is empty", name, len(data))
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// written is the page of a result as a file.
func written(t *testing.T, r *Result) string {
	t.Helper()
	data, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
