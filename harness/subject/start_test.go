package subject

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	plain := writeFile(t, "plain", "#!/bin/sh\n", 0o644)
	dir := t.TempDir()
	noShebang := writeFile(t, "script", "echo hi\n", 0o755)
	badInterpreter := writeFile(t, "script2", "#!/no/such/interpreter -x\n", 0o755)
	dosEnds := writeFile(t, "script3", "#!/bin/sh\r\n", 0o755)
	empty := writeFile(t, "empty", "", 0o755)

	for _, c := range []struct {
		name string
		cmd  Command
		is   error
		says []string
	}{
		{"missing path", Command{Argv: []string{missing}}, ErrNotFound, []string{missing, "does not exist"}},
		{"missing in PATH", Command{Argv: []string{"no-such-program-at-all"}}, ErrNotFound, []string{"no-such-program-at-all", "PATH"}},
		{"below a file", Command{Argv: []string{plain + "/x"}}, ErrNotFound, []string{plain + "/x"}},
		{"nothing", Command{}, ErrNotFound, []string{"empty"}},
		{"no permission", Command{Argv: []string{plain}}, ErrNotExecutable, []string{plain, "chmod +x"}},
		{"directory", Command{Argv: []string{dir}}, ErrNotExecutable, []string{dir, "is a directory"}},
		{"no shebang", Command{Argv: []string{noShebang}}, ErrNotExecutable, []string{noShebang, "#!"}},
		{"bad interpreter", Command{Argv: []string{badInterpreter}}, ErrNotExecutable, []string{badInterpreter, `"/no/such/interpreter"`}},
		{"carriage return", Command{Argv: []string{dosEnds}}, ErrNotExecutable, []string{dosEnds, `"/bin/sh\r"`}},
		{"empty file", Command{Argv: []string{empty}}, ErrNotExecutable, []string{empty}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Start(c.cmd)
			if err == nil {
				p.Kill()
				t.Fatal("it started")
			}
			if !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}

	t.Run("bad directory", func(t *testing.T) {
		_, err := Start(Command{Argv: []string{"/bin/true"}, Dir: missing})
		if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), missing) {
			t.Errorf("%v", err)
		}
	})
}

func TestStartPassesOn(t *testing.T) {
	script := writeFile(t, "x", "#!/bin/sh\nprintf '%s|' \"$PWD\" \"$V\" \"$@\"; cat; exit 3\n", 0o755)
	dir := t.TempDir()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(wd, script)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, Command{
		Argv: []string{rel, "a b", "", "$x"}, Dir: dir, Env: []string{"V=w", "PATH=/bin:/usr/bin"},
		Stdin: strings.NewReader("fed"),
	})
	e := wait(t, p)
	if got, want := p.Stdout().String(), dir+"|w|a b||$x|fed"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	if e.Code != 3 || e.Success() || e.Killed || e.String() != "exit status 3" || e.Duration <= 0 {
		t.Errorf("%+v (%v)", e, e)
	}
}

func TestEndOfOutputOnlyAfterItWasRead(t *testing.T) {
	var seen strings.Builder
	c := shell(`i=0; while [ $i -lt 2000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; echo end >&2`)
	c.OnStdout = func(b []byte) { seen.Write(b) }
	c.StdoutLimit = 1 << 20
	p := start(t, c)
	wait(t, p)
	if n := seen.Len(); n != 2000*41 {
		t.Errorf("%d bytes seen", n)
	}
	if got := p.Stdout().String(); got != seen.String() {
		t.Errorf("%d bytes kept", len(got))
	}
	if got := p.Stderr().String(); got != "end\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{`a`, []string{"a"}},
		{"  a\tb \n c ", []string{"a", "b", "c"}},
		{`python -c "print('a\tb', \"c\", \$x)"`, []string{"python", "-c", `print('a\tb', "c", $x)`}},
		{`'a b'c"d e"`, []string{"a bcd e"}},
		{`a\ b \n \\ "\\" "\d"`, []string{"a b", "n", `\`, `\`, `\d`}},
		{`'' "" a`, []string{"", "", "a"}},
		{`'$HOME' '|' "&" \;`, []string{"$HOME", "|", "&", ";"}},
		{"a\\\nb \"c\\\nd\"", []string{"ab", "cd"}},
		{`~/x *.go a=b {a,b} é`, []string{"~/x", "*.go", "a=b", "{a,b}", "é"}},
		{`a#b # comment`, []string{"a#b"}},
		{"./x --flag='multi\nline'", []string{"./x", "--flag=multi\nline"}},
	} {
		got, err := SplitCommand(c.in)
		if err != nil || strings.Join(got, "\x00") != strings.Join(c.want, "\x00") || len(got) != len(c.want) {
			t.Errorf("%s: %q, %v; want %q", c.in, got, err, c.want)
		}
		if strings.ContainsAny(c.in, "~*{") || strings.Contains(c.in, " \n ") {
			continue // a shell expands it, or takes it for two commands
		}
		p := start(t, shell(`printf '%s\0' `+c.in))
		wait(t, p)
		if out := p.Stdout().String(); out != strings.Join(c.want, "\x00")+"\x00" {
			t.Errorf("%s: /bin/sh says %q", c.in, out)
		}
	}
}

func TestSplitCommandErrors(t *testing.T) {
	for in, says := range map[string]string{
		``:              "no words",
		` # x`:          "no words",
		`a 'b`:          "column 3",
		`a "b`:          "column 3",
		`a | b`:         "column 3",
		`a b; c`:        "column 4",
		`a > b`:         "column 3",
		`a $HOME`:       "column 3",
		"a `b`":         "column 3",
		`a "x $(ls)"`:   "column 6",
		"a \\\n  b & c": "line 2, column 5",
	} {
		got, err := SplitCommand(in)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v; want an error that says %q", in, got, err, says)
		}
	}
}

// TestHeldOutput: a process that is left behind shows if it holds standard output, and
// not if it holds standard error only.
func TestHeldOutput(t *testing.T) {
	for script, held := range map[string]bool{
		"sleep 1000 2>/dev/null &": true,
		"sleep 1000 >/dev/null &":  false,
		"true":                     false,
	} {
		p, err := Start(Command{Argv: []string{"sh", "-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if p.Held() != held {
			t.Errorf("%s: held %v", script, p.Held())
		}
		p.Kill()
	}
}
