package wire

import "testing"

func TestCaret(t *testing.T) {
	for name, tc := range map[string]struct {
		stream string
		offset int64
		want   string
	}{
		"second line":     {"{}\n{\"a\":x}\n", 8, "{\"a\":x}\n     ^"},
		"the end":         {`{"a"`, 4, "{\"a\"\n    ^"},
		"beyond the end":  {`{`, 99, "{\n ^"},
		"nothing":         {"", 0, "\n^"},
		"wide characters": {"{\"ü日\":x}", 8, "{\"ü日\":x}\n     ^"},
		"broken bytes":    {"{\"\xff\x00\":x}", 6, "{\"··\":x}\n      ^"},
		"a line feed":     {"ab\ncd", 2, "ab·cd\n  ^"},
	} {
		if got := Caret([]byte(tc.stream), tc.offset); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
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
