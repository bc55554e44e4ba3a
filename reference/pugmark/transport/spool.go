package transport

import (
	"bytes"
	"io"
	"os"
)

// spoolMemory is how much of a stream stays in memory before it goes to a file.
const spoolMemory = 4 << 20

// spool keeps a stream whose length has to be known before it is read. Writing
// to it never fails; err has the first failure.
type spool struct {
	memory bytes.Buffer
	file   *os.File // holds everything once it is set
	size   int64
	err    error
}

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.err != nil {
		return len(p), nil
	}
	if s.file == nil {
		s.memory.Write(p)
		if s.memory.Len() > spoolMemory {
			s.err = s.moveToFile()
		}
		return len(p), nil
	}
	_, s.err = s.file.Write(p)
	return len(p), nil
}

func (s *spool) moveToFile() error {
	f, err := os.CreateTemp("", "pugmark-inputs-")
	if err != nil {
		return err
	}
	os.Remove(f.Name()) // the open file lives on without its name
	s.file = f
	_, err = s.memory.WriteTo(f)
	s.memory = bytes.Buffer{}
	return err
}

// Reader reads the stream from its beginning. There may be one reader only, and
// no more writes once it exists.
func (s *spool) Reader() (io.ReadCloser, error) {
	if s.file == nil {
		return io.NopCloser(&s.memory), nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.NopCloser(s.file), nil
}

// Close gives up the stream.
func (s *spool) Close() {
	if s.file != nil {
		s.file.Close()
	}
}
