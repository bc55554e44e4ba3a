package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the file, within incoming, whose lock replacing and deleting take. Creating and reading need none.
const lockName = "lock"

// locked runs do while no other process and no other goroutine is in it.
func (s *Store) locked(do func() error) error {
	lock, err := os.OpenFile(filepath.Join(s.incoming(), lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer lock.Close() // which releases it, as the end of the process does
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		if err == nil {
			return do()
		}
		if !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", lock.Name(), err)
		}
	}
}

// makeDirectory makes a directory and those above it, and sees to it that they outlast a crash, also where another
// process made them just now.
func (s *Store) makeDirectory(path string) error {
	if path == s.root {
		return nil
	}
	if _, ok := s.durable.Load(path); ok {
		return nil
	}
	parent := filepath.Dir(path)
	if err := s.makeDirectory(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.IsDir() {
		return errNested
	}
	if err := syncDirectory(parent); err != nil {
		return err
	}
	s.durable.Store(path, true)
	return nil
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
