package report

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/pugcheck/pugcheck/harness/document"
)

const payload = "</script><script>alert(1)</script></style><img src=x onerror=alert(1)>\"'`{{.}}${1}<!--]]>\x00\x1b[2J\u202egpj\u2066\xff\xfe\u0085&lt;"

// poison puts a suffix behind every text of a value.
func poison(v reflect.Value, suffix string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), suffix)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), suffix)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), suffix)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(reflect.ValueOf(k.String()+suffix), reflect.ValueOf(v.MapIndex(k).String()+suffix))
			v.SetMapIndex(k, reflect.Value{})
		}
	case reflect.String:
		// Of verdicts, states and outcomes there are only so many.
		if v.Type() == reflect.TypeFor[string]() && !slices.Contains([]string{"completed", "stopped", "error", "not-run", ""}, v.String()) {
			v.SetString(v.String() + suffix)
		}
	}
}

// shape is the tree of elements, without what stands for single characters and for
// what is left out.
func shape(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || attribute(c, "class") == "code" || attribute(c, "class") == "cut" {
			continue
		}
		var names []string
		for _, a := range c.Attr {
			names = append(names, a.Key)
		}
		slices.Sort(names)
		fmt.Fprintf(&b, "<%s %s>%s</>\n", c.Data, strings.Join(names, " "), shape(c))
	}
	return b.String()
}

func TestHTMLOfHostileEvidenceIsHarmless(t *testing.T) {
	harmless, r := told(), told()
	poison(reflect.ValueOf(harmless), strings.Repeat("x", len(payload)-1)+".")
	poison(reflect.ValueOf(r), payload)
	_, clean := parsed(t, harmless)
	text, hostile := parsed(t, r)
	want, got := shape(clean), shape(hostile)
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("evidence changes what the page is made of (-harmless +hostile):\n%s", d)
	}
	for _, n := range elements(hostile) {
		for _, a := range n.Attr {
			if (a.Key == "id" || a.Key == "href" && n.Data == "a") && (strings.ContainsAny(a.Val, " <>\"'`&\x00") || !utf8.ValidString(a.Val)) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	if bad := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]").FindString(text); bad != "" || strings.ContainsRune(text, '\ufffd') {
		t.Errorf("%q is in the page", bad)
	}
	part := textOf(byID(hostile, "A1-2"+string(document.Anchor(payload))))
	for _, shown := range []string{"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{.}}${1}<!--", "␀␛[2JU+202Egpj", `\xff\xfeU+0085&lt;`} {
		if !strings.Contains(part, shown) {
			t.Errorf("%s is not readable in the evidence:\n%s", shown, part)
		}
	}
}
