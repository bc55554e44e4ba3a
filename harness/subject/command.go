package subject

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Why a command cannot be started, for errors.Is.
var (
	ErrNotFound      = errors.New("no such program")
	ErrNotExecutable = errors.New("not an executable program")
)

// A Command says what to start and how.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is looked
	// up in PATH; a relative path is relative to the caller's working directory,
	// not to Dir.
	Argv []string

	Dir string   // working directory; empty: the caller's
	Env []string // the complete environment; nil: os.Environ()

	// Stdin is copied to the process; nil is /dev/null. An *os.File is passed on
	// itself. A reader that blocks for ever costs a goroutine.
	Stdin io.Reader

	// StdoutLimit and StderrLimit are the numbers of bytes kept of each stream,
	// half of them from its beginning and half from its end; 0: 128 KiB.
	StdoutLimit, StderrLimit int

	// OnStdout is called with each piece of standard output as it is read, one
	// call at a time. It must not keep the slice. While it runs, nothing is read.
	OnStdout func([]byte)
}

// program returns the absolute path of the program. Its errors are ErrNotFound
// and ErrNotExecutable.
func (c *Command) program() (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", fmt.Errorf("the command is empty: %w", ErrNotFound)
	}
	name := c.Argv[0]
	if !strings.Contains(name, "/") {
		path, err := exec.LookPath(name)
		switch {
		case errors.Is(err, exec.ErrDot):
			return "", fmt.Errorf("%s is in the current directory but not in PATH, write ./%s: %w", name, name, ErrNotFound)
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("%s in PATH may not be run, try chmod +x: %w", name, ErrNotExecutable)
		case err != nil:
			hint := "check the spelling and PATH"
			if _, err := os.Stat(name); err == nil {
				hint = "write ./" + name + " for the one in the current directory"
			}
			return "", fmt.Errorf("%s is in no directory of PATH, %s: %w", name, hint, ErrNotFound)
		}
		name = path
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return path, nil
}

// argv is the argument list of the new process. A relative path would be wrong
// for a program that finds its own files by argv[0] when Dir is elsewhere.
func (c *Command) argv(program string) []string {
	argv := append([]string(nil), c.Argv...)
	if c.Dir != "" && strings.Contains(argv[0], "/") {
		argv[0] = program
	}
	return argv
}

// explain turns the failure to start program into an error that says what to do.
func explain(program, dir string, err error) error {
	if dir != "" {
		if fi, derr := os.Stat(dir); derr != nil {
			return fmt.Errorf("working directory of %s: %w", program, derr)
		} else if !fi.IsDir() {
			return fmt.Errorf("working directory of %s: %s is not a directory", program, dir)
		}
	}
	fi, serr := os.Stat(program)
	switch {
	case errors.Is(serr, fs.ErrNotExist), errors.Is(serr, syscall.ENOTDIR):
		return fmt.Errorf("%s does not exist, check the path: %w", program, ErrNotFound)
	case serr != nil:
		return fmt.Errorf("%s cannot be reached (%w): %w", program, serr, ErrNotExecutable)
	case fi.IsDir():
		return fmt.Errorf("%s is a directory, name a program in it: %w", program, ErrNotExecutable)
	case fi.Mode()&0o111 == 0:
		return fmt.Errorf("%s has no execute permission, run chmod +x %s: %w", program, program, ErrNotExecutable)
	}
	interpreter := interpreterOf(program)
	switch {
	case errors.Is(err, syscall.ENOEXEC) && interpreter == "":
		return fmt.Errorf("%s is neither a binary for this machine nor a script that begins with #!, for instance #!/bin/sh: %w", program, ErrNotExecutable)
	case errors.Is(err, fs.ErrNotExist) && interpreter != "":
		return fmt.Errorf("%s names the interpreter %q in its first line, which does not exist: %w", program, interpreter, ErrNotExecutable)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s exists, but the dynamic loader it was linked for does not: %w", program, ErrNotExecutable)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be run (by this user, or from this file system, or its interpreter may not): %w", program, ErrNotExecutable)
	}
	return fmt.Errorf("starting %s: %w", program, err)
}

// interpreterOf is the program in the #! line of a script, empty if there is none.
func interpreterOf(program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, isScript := strings.CutPrefix(string(head[:n]), "#!")
	if !isScript {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	line = strings.TrimLeft(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		line = line[:i]
	}
	return line // a trailing \r is part of the name, and shown by %q
}
