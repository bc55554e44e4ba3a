package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tutorialBlock is a fenced block of docs/tutorial.md with commands, and what they
// print.
type tutorialBlock struct {
	line     int // of its first line
	commands string
	output   string
}

// readTutorial takes the blocks out of the page. A block of text is the output of
// the block of commands before it.
func readTutorial(t *testing.T) []tutorialBlock {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []tutorialBlock
	inside := "" // the language of the block that the line is in
	for i, line := range strings.SplitAfter(string(page), "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && inside != "":
			inside = ""
		case isFence && fence == "sh":
			inside = fence
			blocks = append(blocks, tutorialBlock{line: i + 2})
		case isFence && fence == "text" && len(blocks) > 0 && blocks[len(blocks)-1].output == "":
			inside = fence
		case isFence:
			t.Fatalf("docs/tutorial.md:%d: block of %q: want sh, or text behind sh", i+1, fence)
		case inside == "sh":
			blocks[len(blocks)-1].commands += line
		case inside == "text":
			blocks[len(blocks)-1].output += line
		}
	}
	return blocks
}

// placeholder is what stands in the page for what no two runs have in common.
var placeholder = regexp.MustCompile(`<[a-z]+>`)

// pattern matches what the page shows. known are the session IDs that placeholders
// stood for in earlier blocks.
func (b tutorialBlock) pattern(known map[string]string) *regexp.Regexp {
	var text strings.Builder
	last := 0
	named := map[string]bool{}
	for _, at := range placeholder.FindAllStringIndex(b.output, -1) {
		text.WriteString(regexp.QuoteMeta(b.output[last:at[0]]))
		last = at[1]
		name := b.output[at[0]+1 : at[1]-1]
		switch {
		case name == "time":
			text.WriteString(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
		case known[name] != "":
			text.WriteString(known[name])
		case !named[name]:
			named[name] = true
			fmt.Fprintf(&text, "(?P<%s>[0-9a-f]{32})", name)
		default:
			text.WriteString(`[0-9a-f]{32}`)
		}
	}
	return regexp.MustCompile("^" + text.String() + regexp.QuoteMeta(b.output[last:]) + "$")
}

// TestTutorial runs docs/tutorial.md from its beginning to its end in one shell, and
// wants each block to print what the page shows, and nothing where it shows nothing.
func TestTutorial(t *testing.T) {
	for tool, nothing := range map[string]string{"bash": "true", "python3": "pass"} {
		if err := exec.Command(tool, "-c", nothing).Run(); err != nil {
			t.Skipf("the tutorial needs %s: %v", tool, err)
		}
	}
	blocks := readTutorial(t)
	if len(blocks) < 5 {
		t.Fatalf("the tutorial has %d blocks of commands", len(blocks))
	}
	// What a block prints goes to a file of its own.
	dir := t.TempDir()
	script := "set -eu\n"
	for i, b := range blocks {
		script += fmt.Sprintf("exec >%s/%d.out\n%s", dir, i, b.commands)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = t.TempDir()
	shell.Env = append(os.Environ(), "no_proxy=127.0.0.1", "GORACE=atexit_sleep_ms=0")
	// Where it ends early, what it has left in the background ends with it.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endGroup := func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	shell.Cancel, shell.WaitDelay = endGroup, 10*time.Second
	said, err := shell.CombinedOutput()
	if shell.Process != nil {
		_ = endGroup()
	}
	if err != nil || len(said) > 0 {
		t.Errorf("the tutorial's commands: %v\n%s", err, said)
	}
	known := map[string]string{}
	for i, b := range blocks {
		printed, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.out", i)))
		if err != nil {
			t.Fatalf("docs/tutorial.md:%d: the commands were not reached", b.line)
		}
		pattern := b.pattern(known)
		match := pattern.FindStringSubmatch(string(printed))
		if match == nil {
			t.Fatalf("docs/tutorial.md:%d: the commands print\n%s\nand not\n%s", b.line, printed, b.output)
		}
		for n, name := range pattern.SubexpNames() {
			if name != "" {
				known[name] = match[n]
			}
		}
	}
	if len(known) < 3 {
		t.Errorf("the page shows %d sessions", len(known))
	}
}
