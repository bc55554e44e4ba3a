package stream

import (
	"encoding/json"
	"iter"
)

// members yields the members of a JSON object in the order of the text, each
// name unescaped and each value as it stands. The object has to be well formed:
// the walk counts brackets and skips strings, and checks nothing.
func members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		i := skipSpace(object, 1)
		for object[i] != '}' {
			end := skipValue(object, i)
			name := unquote(object[i:end])
			i = skipSpace(object, end) // the colon
			i = skipSpace(object, i+1) // the value
			end = skipValue(object, i)
			if !yield(name, object[i:end]) {
				return
			}
			i = skipSpace(object, end) // comma or closing brace
			if object[i] == ',' {
				i = skipSpace(object, i+1)
			}
		}
	}
}

func unquote(quoted []byte) string {
	var s string
	_ = json.Unmarshal(quoted, &s) // well formed by contract
	return s
}

func skipSpace(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t' {
		i++
	}
	return i
}

// skipValue returns the index behind the value that begins at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for ; ; i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			// A number or a literal ends where its word ends.
			if depth == 0 {
				for i+1 < len(text) && !delimiter(text[i+1]) {
					i++
				}
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}

func skipString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func delimiter(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}
