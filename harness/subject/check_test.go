package subject

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckAgreesWithStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		program string
		want    error
		says    string
	}{
		"good script":      {file("good", "#!/bin/sh\n", 0o755), nil, ""},
		"in PATH":          {"true", nil, ""},
		"missing":          {filepath.Join(dir, "none"), ErrNotFound, "does not exist"},
		"missing in PATH":  {"no-such-program-anywhere", ErrNotFound, "no directory of PATH"},
		"below a file":     {filepath.Join(dir, "good", "x"), ErrNotFound, "does not exist"},
		"no permission":    {file("plain", "#!/bin/sh\n", 0o644), ErrNotExecutable, "chmod +x"},
		"a directory":      {dir, ErrNotExecutable, "is a directory"},
		"no interpreter":   {file("lost", "#!/no/such/shell\n", 0o755), ErrNotExecutable, "/no/such/shell"},
		"the empty string": {"", ErrNotFound, "empty"},
	} {
		err := Check([]string{tc.program})
		if !errors.Is(err, tc.want) || tc.want != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, tc.want, tc.says)
		}
		p, started := Start(Command{Argv: []string{tc.program}})
		if p != nil {
			p.Kill()
		}
		if !errors.Is(started, tc.want) {
			t.Errorf("%s: Check says %v, Start says %v", name, err, started)
		}
	}
}
