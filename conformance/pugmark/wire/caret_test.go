package wire

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestCaret(t *testing.T) {
	for name, tc := range map[string]struct {
		stream string
		offset int64
		want   string
	}{
		"second line":       {"{}\n{\"a\":x}\n", 8, "{\"a\":x}\n     ^"},
		"the end":           {`{"a"`, 4, "{\"a\"\n    ^"},
		"beyond the end":    {`{`, 99, "{\n ^"},
		"nothing":           {"", 0, "\n^"},
		"wide characters":   {"{\"ü日\":x}", 9, "{\"ü日\":x}\n       ^"},
		"inside a wide one": {"{\"日日\":x}", 6, "{\"日日\":x}\n    ^"},
		"emoji":             {"{\"😀\":x}", 8, "{\"😀\":x}\n      ^"},
		"combining marks":   {"{\"e\u0301o\":x}", 8, "{\"e\u0301o\":x}\n      ^"},
		"on a mark":         {"{\"e\u0301\":x}", 3, "{\"e\u0301\":x}\n  ^"},
		"joined emoji":      {"{\"👩\u200d👩\":x}", 15, "{\"👩·👩\":x}\n         ^"},
		"halfwidth":         {"{\"ｱ\":x}", 7, "{\"ｱ\":x}\n     ^"},
		"broken bytes":      {"{\"\xff\x00\":x}", 6, "{\"··\":x}\n      ^"},
		"a line feed":       {"ab\ncd", 2, "ab·cd\n  ^"},
	} {
		if got := Caret([]byte(tc.stream), tc.offset); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	wide := []byte(strings.Repeat("日", 400))
	for offset := range int64(40) {
		excerpt, caret, _ := strings.Cut(Caret(wide, 600+offset), "\n")
		if !utf8.ValidString(excerpt) || uniseg.StringWidth(excerpt) > 64 || len(caret) > 36 {
			t.Errorf("at %d: %q over %q", 600+offset, excerpt, caret)
		}
	}
	long := make([]byte, 4000)
	for i := range long {
		long[i] = 'a'
	}
	got := Caret(long, 2000)
	if len(got) > 260 {
		t.Errorf("an excerpt of %d bytes", len(got))
	}
}
