package report

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/report/browsertest"
)

// TestHTMLInABrowser opens pages in a real browser, clicks and types in them, and keeps
// pictures of them: go test -artifacts keeps them below -outputdir, and -v says where.
func TestHTMLInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := browsertest.Start(t)
	file := written(t, told())
	for _, part := range []struct {
		name string
		test func(t *testing.T, b context.Context, file string)
	}{
		{"without scripts", readableWithoutScripts},
		{"filters by click", filtersByClick},
		{"filters by key", filtersByKey},
		{"fragment", fragmentIsKept},
		{"links", linksOpen},
		{"copy", commandsAreCopied},
		{"narrow", nothingStandsOut},
		{"contrast", contrastInEveryScheme},
		{"print", printed},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, b, file) })
	}
	pictures(t, b, file)
}

func (p *tab) wantShown(want ...string) {
	p.t.Helper()
	if d := cmp.Diff(append([]string{}, want...), p.shown()); d != "" {
		p.t.Errorf("shown clauses (-want +got):\n%s", d)
	}
}

func readableWithoutScripts(t *testing.T, b context.Context, file string) {
	s := phone
	s.noJS = true
	p := open(t, b, file, "", s)
	if eval[bool](p, "document.querySelector('#the-filter').checkVisibility() || document.querySelector('.copy') !== null") {
		t.Error("something is shown that only works with scripts")
	}
	r := told()
	p.wantShown(append(ids(r.Clauses), ids(r.Beyond)...)...)
	for _, c := range r.Clauses {
		if text := eval[string](p, fmt.Sprintf("document.getElementById(%q).innerText", c.ID)); !strings.Contains(text, c.Verdict.Words()) || !strings.Contains(text, c.Requirement) {
			t.Errorf("%s is not readable:\n%s", c.ID, text)
		}
	}
	head := eval[string](p, "document.querySelector('header').innerText")
	for _, want := range []string{"does not conform", "2 fail", "1 unstable", "seed"} {
		if !strings.Contains(strings.ToLower(head), want) {
			t.Errorf("the head does not say %q:\n%s", want, head)
		}
	}
	judged := "document.querySelector('#A1-1 .observation').checkVisibility()"
	if eval[bool](p, judged) {
		t.Error("A1-1 passes and stands open")
	}
	p.click("#A1-1 summary")
	p.until(judged)
}

func filtersByClick(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "", desktop)
	if p.status() != "14 clauses, 5 scenarios" || !eval[bool](p, "document.querySelector('#the-clear').disabled") {
		t.Errorf("at first: %s", p.status())
	}
	p.click("[data-verdict=fail]")
	p.wantShown("A1-2", "A1.1-1")
	if got := p.status(); got != "2 of 14 clauses, 2 of 5 scenarios" {
		t.Errorf("status %q", got)
	}
	if eval[bool](p, "document.querySelector('#section-A2').checkVisibility()") {
		t.Error("a section without clauses is shown")
	}
	p.click("[data-verdict=unstable]")
	p.wantShown("A1-2", "A1.1-1", "A1.1-4")
	p.click(`[data-level="MUST NOT"]`)
	p.wantShown("A1.1-1")
	if got := eval[string](p, "decodeURIComponent(location.hash)"); got != "#?verdict=fail,unstable&level=MUST+NOT" {
		t.Errorf("fragment %s", got)
	}
	if got := eval[[]string](p, "[...document.querySelectorAll('[aria-pressed=true]')].map(b => b.dataset.verdict || b.dataset.level)"); !slices.Equal(got, []string{"fail", "unstable", "MUST NOT"}) {
		t.Errorf("pressed: %v", got)
	}
	p.click(`[data-level="MUST NOT"]`)
	p.do(chromedp.SetValue(chromedp.CSS("#the-section"), "A1.1"))
	eval[bool](p, "document.querySelector('#the-section').dispatchEvent(new Event('change'))")
	p.wantShown("A1.1-1", "A1.1-4")
	p.click("#the-clear")
	p.until("document.activeElement.id === 'the-text'")
	if n := len(p.shown()); n != 14 || eval[string](p, "location.hash") != "" && eval[string](p, "location.hash") != "#" {
		t.Errorf("after clearing: %d clauses, fragment %s", n, eval[string](p, "location.hash"))
	}
	p.click("[data-verdict=known]")
	p.wantShown("A1.1-1")
	p.click("#the-opener") // it is open already
	p.until("!document.querySelector('#A1\\\\.1-1 .observation').checkVisibility()")
	p.click("#the-opener")
	p.until("document.querySelector('#A1\\\\.1-1 .observation').checkVisibility()")
	p.click("[data-verdict=known]")
	p.click("[data-verdict=beyond]")
	p.wantShown("A3-1")
}

func filtersByKey(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "", desktop)
	p.press(kb.Tab)
	p.until("document.activeElement.className === 'skip' && getComputedStyle(document.activeElement).outlineStyle !== 'none'")
	p.press("/")
	p.until("document.activeElement.id === 'the-text'")
	p.write("Port In  use j k /")
	p.wantShown()
	if got := p.status(); got != "0 of 14 clauses, 0 of 5 scenarios" {
		t.Errorf("status %q", got)
	}
	for range " j k /" {
		p.press(kb.Backspace)
	}
	p.wantShown("A2-5", "A2-6")
	p.press(kb.Escape)
	p.until("document.activeElement === document.body")
	focused := "document.activeElement.closest('.clause')?.id ?? ''"
	for _, step := range []struct{ key, want string }{{"j", "A2-5"}, {"j", "A2-6"}, {"j", "A2-6"}, {"k", "A2-5"}} {
		p.press(step.key)
		if got := eval[string](p, focused); got != step.want {
			t.Errorf("after %s: %q; want %s", step.key, got, step.want)
		}
	}
	if !eval[bool](p, "document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
		t.Error("the focus is not visible")
	}
	if at := eval[float64](p, "document.activeElement.getBoundingClientRect().top - document.querySelector('#the-filter').getBoundingClientRect().bottom"); at < 0 {
		t.Errorf("the filter covers the clause by %g", -at)
	}
	p.press("o")
	p.until("!document.querySelector('#A2-5 details').open")
	p.press("o")
	p.until("document.querySelector('#A2-5 details').open")
	p.press(kb.Tab) // to the summary, a control of the browser's own
	p.press(kb.Enter)
	p.until("!document.querySelector('#A2-5 details').open")

	// By Tab and Space alone.
	p.do(chromedp.Focus(chromedp.CSS("[data-verdict=pass]")))
	p.press(kb.Tab)
	p.press(" ")
	p.until("document.activeElement.dataset.verdict === 'fail' && document.activeElement.getAttribute('aria-pressed') === 'true'")

	// Keys that speech input may press can be turned off.
	p.click("#the-keys")
	p.press("/")
	if got := eval[string](p, "document.activeElement.id"); got != "the-keys" {
		t.Errorf("a key that is turned off moved the focus to %q", got)
	}
}

func fragmentIsKept(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "#A1.1-4?verdict=fail,unstable,nonsense&level=MUST&section=A1&text=once", desktop)
	p.wantShown("A1-2", "A1.1-4")
	if got := eval[string](p, "document.querySelector('#the-text').value + '|' + document.querySelector('#the-section').value"); got != "once|A1" {
		t.Errorf("fields: %s", got)
	}
	p.do(chromedp.Reload())
	p.until("document.querySelector('#the-filter').checkVisibility()")
	p.wantShown("A1-2", "A1.1-4")
	p.click("[data-level=MUST]")
	if got := eval[string](p, "decodeURIComponent(location.hash)"); got != "#A1.1-4?verdict=fail,unstable&section=A1&text=once" {
		t.Errorf("fragment %s", got)
	}
	p.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#?verdict=pass'"))
	p.until("document.querySelector('#A1-1').checkVisibility()")
	p.wantShown("A1-1")
	p.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#%?verdict=%zz&text=%'"))
	p.until("document.querySelector('[role=status]').textContent.startsWith('0 of')")
}

func linksOpen(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "", desktop)
	p.click(`#scenario-A1\/order a[href="#A1-1"]`)
	p.until("document.querySelector('#A1-1 .observation').checkVisibility()")
	if top := eval[float64](p, "document.querySelector('#A1-1').getBoundingClientRect().top"); top < 0 || top > 450 {
		t.Errorf("the clause is at %g", top)
	}
	p.click(`#A1-1 a[href="#scenario-A1/order"]`)
	p.until("location.hash === '#scenario-A1/order'")
	p.until("(y => y >= 0 && y < innerHeight)(document.getElementById('scenario-A1/order').getBoundingClientRect().top)")

	// A filter stays while links are followed, until one leads to what it hides.
	p.click("[data-verdict=fail]")
	p.click(`#section-A1 a[href="#A1-2"]`)
	p.until("location.hash === '#A1-2?verdict=fail'")
	p.wantShown("A1-2", "A1.1-1")
	p.click(`.findings:has(a[href="#A2-4"]) summary`)
	p.click(`.findings a[href="#A2-4"]`)
	p.until("document.querySelector('#A2-4').checkVisibility()")
	if got := p.status(); !strings.Contains(got, "The filter is cleared") || len(p.shown()) != 14 {
		t.Errorf("status %q", got)
	}
	p.do(chromedp.NavigateBack())
	p.until("document.querySelectorAll('.clause:not([hidden])').length === 2")
}

func commandsAreCopied(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "", desktop)
	want := told().scenario("A2/broken").Repro
	copied := `#scenario-A2\/broken .copy`
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		permission := browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted}
		if _, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, permission); err != nil {
			t.Fatal(err)
		}
	}
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.click(`#scenario-A2\/broken > details > summary`)
	p.click(copied)
	p.until("document.querySelector('[role=status]').textContent === 'The command is copied.'")
	if got := eval[string](p, "navigator.clipboard.readText()"); got != want {
		t.Errorf("the clipboard holds %q", got)
	}

	// Without a clipboard for scripts, as in a page from plain HTTP.
	eval[bool](p, "document.addEventListener('copy', () => { window.selected = getSelection().toString(); }); navigator.clipboard.writeText = () => Promise.reject(); true")
	p.click(copied)
	p.until(fmt.Sprintf("window.selected === %q", want))
}

// hostilePage is a page whose every text ends in the payload, and whose evidence has no end.
func hostilePage(t *testing.T) string {
	t.Helper()
	r := told()
	poison(reflect.ValueOf(r), payload+strings.Repeat("0123456789", 12))
	long := strings.Repeat("0123456789", 10_000)
	for i := range r.Clauses {
		r.Clauses[i].Requirement += long
		for j := range r.Clauses[i].Evidence {
			r.Clauses[i].Evidence[j].Seen += long
		}
	}
	for i := range r.Scenarios {
		r.Scenarios[i].Reason += long
		for j := range r.Scenarios[i].Timeline {
			r.Scenarios[i].Timeline[j].Text += long
			r.Scenarios[i].Timeline[j].Detail += long
		}
	}
	return written(t, r)
}

func nothingStandsOut(t *testing.T, b context.Context, file string) {
	narrow := phone
	narrow.width = 360
	for name, file := range map[string]string{"told": file, "hostile": hostilePage(t)} {
		p := open(t, b, file, "", narrow)
		eval[bool](p, "document.querySelectorAll('details').forEach(d => d.open = true); true")
		for _, width := range []int64{360, 800, 1280} {
			narrow.width = width
			p.show(narrow)
			p.until(fmt.Sprintf("document.documentElement.clientWidth === %d", width))
			if got := eval[int64](p, "document.documentElement.scrollWidth"); got > width {
				t.Errorf("%s: the page is %d wide on a screen of %d", name, got, width)
			}
			for _, e := range eval[[]string](p, `[...document.querySelectorAll('body *')].filter(e => {
				if (!e.checkVisibility() || e.closest('.aside, .skip') || e.getBoundingClientRect().right <= innerWidth + 1) return false;
				for (let up = e.parentElement; up; up = up.parentElement) if (getComputedStyle(up).overflowX !== 'visible') return false; // cut off there
				return true;
			}).slice(0, 5).map(e => e.outerHTML.slice(0, 200))`) {
				t.Errorf("%s, %d wide: stands out: %s", name, width, e)
			}
			for _, e := range eval[[]string](p, `[...document.querySelectorAll('button, select, input')].filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 24).map(e => e.outerHTML)`) {
				t.Errorf("%s, %d wide: too small for a finger: %s", name, width, e)
			}
		}
	}
}

//go:embed testdata/contrast.js
var contrastScript string

func contrastInEveryScheme(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "#A1-2?text=1", desktop)
	eval[bool](p, "document.querySelectorAll('details').forEach(d => d.open = true); true")
	grounds := map[string]string{}
	for name, s := range map[string]screen{"light": desktop, "dark": {width: 1280, height: 900, dark: true}, "print": {width: 1280, height: 900, print: true, dark: true}} {
		p.show(s)
		grounds[name] = eval[string](p, "getComputedStyle(document.documentElement).backgroundColor")
		found := eval[struct {
			Pairs int      `json:"pairs"`
			Low   []string `json:"low"`
		}](p, contrastScript)
		if found.Pairs < 5 {
			t.Errorf("%s: only %d pairs of colours", name, found.Pairs)
		}
		for _, low := range found.Low {
			t.Errorf("%s: %s", name, low)
		}
	}
	if want := map[string]string{"light": "rgb(251, 252, 250)", "dark": "rgb(20, 23, 22)", "print": "rgb(255, 255, 255)"}; !cmp.Equal(grounds, want) {
		t.Errorf("backgrounds: %s", cmp.Diff(want, grounds))
	}
}

func printed(t *testing.T, b context.Context, file string) {
	p := open(t, b, file, "", screen{width: 800, height: 1100, print: true})
	for selector, want := range map[string]bool{"#the-filter": false, ".copy": false, ".outline": false, "#A1-2 .timeline": true, "#A1-1 .law": true, "header": true} {
		if got := eval[bool](p, fmt.Sprintf("document.querySelector(%q).checkVisibility()", selector)); got != want {
			t.Errorf("%s is on paper: %v", selector, got)
		}
	}
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	if err != nil || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("no PDF: %v", err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "report.pdf"), pdf, 0o644); err != nil {
		t.Error(err)
	}
}

// pictures keeps a screenshot of each kind of screen.
func pictures(t *testing.T, b context.Context, file string) {
	dir := t.ArtifactDir()
	for name, s := range map[string]screen{"desktop": desktop, "phone": phone} {
		p := open(t, b, file, "", s)
		if !eval[bool](p, "[...document.querySelectorAll('.known td:first-child a')].every(a => a.getClientRects().length == 1)") {
			t.Errorf("%s: the names in the list of known failures are broken into lines", name)
		}
		for _, fragment := range []string{"", "#A1-2"} {
			p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", fragment)))
			for _, dark := range []bool{false, true} {
				s.dark = dark
				p.show(s)
				p.screenshot(dir, strings.Join(strings.Fields(name+strings.ReplaceAll(fragment, "#", " ")+map[bool]string{true: " dark"}[dark]), "-"))
			}
		}
	}
	t.Logf("screenshots are in %s (kept with -artifacts)", dir)
}
