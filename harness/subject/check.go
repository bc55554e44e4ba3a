package subject

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Check finds what would keep the program of a command line from starting, as
// far as can be told without starting it. Its errors are those of Start.
func Check(argv []string) error {
	c := Command{Argv: argv}
	program, err := c.program()
	if err != nil {
		return err
	}
	if fi, err := os.Stat(program); err != nil || fi.IsDir() {
		return explain(program, "", err)
	}
	if err := unix.Access(program, unix.X_OK); err != nil {
		return explain(program, "", err)
	}
	if interpreter := interpreterOf(program); interpreter != "" {
		if _, err := os.Stat(interpreter); err != nil {
			return explain(program, "", fs.ErrNotExist)
		}
	}
	return nil
}
