package compare

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/pugcheck/pugcheck/harness/report/browsertest"
)

// TestMatrixInABrowser looks at the page as people do, with names as long as commands are.
func TestMatrixInABrowser(t *testing.T) {
	sources := three()
	long := "python3 /home/somebody/src/" + strings.Repeat("implementation", 6) + "/__main__.py"
	for _, s := range sources[:2] {
		s.Result.Subject.Name = long
	}
	data, err := RenderMatrix(NewMatrix(sources), "html")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "matrix.html")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Start(t)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	holds := func(what, expression string) {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[any](expression, chromedp.EvalAwaitPromise))
		if err != nil || v != true {
			t.Errorf("%s: %v %v", what, v, err)
		}
	}
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
			check(err)
			_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			check(err)
			check(chromedp.Do(ctx, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String())))
			name := fmt.Sprintf("%d %s", width, scheme)
			holds(name+": it is as wide as the screen", "document.documentElement.scrollWidth <= innerWidth")
			holds(name+": the ground is as dark as the scheme",
				fmt.Sprintf("(getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0] < 128) == %v", scheme == "dark"))
			holds(name+": sections are folded", "![...document.querySelectorAll('tbody td')].some(c => c.checkVisibility())")
			check(chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#A1 > summary"))))
			holds(name+": a click unfolds one", "document.querySelector('#A1').open && document.querySelector('#A1 tbody td').checkVisibility()")
			holds(name+": and nothing else", "!document.querySelector('#A2').open")
			holds(name+": which the mark in front tells", `['#A1', '#A2'].map(id => getComputedStyle(document.querySelector(id + ' .name'), '::before').content).join() == '"▾","▸"'`)
			holds(name+": the clauses stand below their sections' cells", `[...document.querySelectorAll('#A1 thead th')].every((th, i) =>
				Math.abs(th.getBoundingClientRect().left - document.querySelector('#A1 > summary').children[i].getBoundingClientRect().left) < 2)`)
			holds(name+": cells are as high as their row", `[...document.querySelectorAll('.row')].every(row => [...row.children].every(c =>
				Math.abs(c.getBoundingClientRect().height - row.getBoundingClientRect().height) < 2))`)
			holds(name+": the names of sections stay in sight", `(() => { const s = document.querySelector('.scroll'); s.scrollLeft = 1000;
				return document.querySelector('#A1 .name').getBoundingClientRect().left >= s.getBoundingClientRect().left })()`)
			holds(name+": only the matrix scrolls sideways", "scrollX == 0 && document.documentElement.scrollWidth <= innerWidth")
			check(chromedp.Do(ctx, chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r")))
			holds(name+": the keyboard unfolds the next", "document.activeElement.tagName == 'SUMMARY' && document.activeElement.parentElement.id != 'A1' && document.activeElement.parentElement.open")
			shot, err := chromedp.Call(ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
			check(err)
			if len(shot.Data) < 5000 {
				t.Errorf("%s: the screenshot has %d bytes; it is empty", name, len(shot.Data))
			}
			check(os.WriteFile(filepath.Join(t.ArtifactDir(), "matrix-"+strings.ReplaceAll(name, " ", "-")+".png"), shot.Data, 0o644))
		}
	}
	t.Logf("screenshots are in %s (kept with -artifacts)", t.ArtifactDir())
}
