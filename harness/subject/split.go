package subject

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// SplitCommand splits a command line into words and removes the quotes as a POSIX
// shell does. No shell is started and nothing is expanded: patterns and ~ stay
// as they are, a newline is a space, and what only a shell could do ($NAME, `…`, pipes, redirections)
// is an error that names the line and column.
//
// The parser is that of mvdan.cc/sh because it keeps to POSIX within double quotes,
// where "\d" keeps its backslash; go-shellwords drops it.
func SplitCommand(s string) ([]string, error) {
	var words []string
	var err error
	for w, werr := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).WordsSeq(strings.NewReader(s)) {
		var b strings.Builder
		if err = werr; err == nil {
			err = unquote(&b, w.Parts, false)
		}
		if err != nil {
			break
		}
		words = append(words, b.String())
	}
	var perr syntax.ParseError
	switch {
	case errors.As(err, &perr):
		return nil, fmt.Errorf("command line %q: line %d, column %d: %s (no shell is started; quote it, or run sh -c '…')", s, perr.Pos.Line(), perr.Pos.Col(), perr.Text)
	case err != nil:
		return nil, fmt.Errorf("command line %q: %w", s, err)
	case len(words) == 0:
		return nil, fmt.Errorf("command line %q: it has no words", s)
	}
	return words, nil
}

func unquote(b *strings.Builder, parts []syntax.WordPart, quoted bool) error {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			unescape(b, part.Value, quoted)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if err := unquote(b, part.Parts, true); err != nil {
				return err
			}
		default:
			return fmt.Errorf("line %d, column %d: an expansion (no shell is started; write the value, put it in single quotes, or run sh -c '…')",
				part.Pos().Line(), part.Pos().Col())
		}
	}
	return nil
}

// unescape removes the backslashes that quote the next character. Within double
// quotes those are only the ones before $ ` " \ and a newline.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if next := s[i+1]; !quoted || strings.IndexByte("$`\"\\\n", next) >= 0 {
				i++
				if next == '\n' {
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
}
