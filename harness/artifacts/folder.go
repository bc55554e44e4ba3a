package artifacts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Bounds of a folder, in bytes and files.
const (
	FileLimit   = 16 << 20
	FolderLimit = 64 << 20
	countLimit  = 5000
)

// reserve is room for the files that tell what happened, when bodies have used up the
// rest.
const reserve = 8 << 20

// Folder is a folder that is being filled. Names are paths with slashes. What goes
// wrong is kept, and makes the folder as a whole fail.
type Folder struct {
	Began time.Time // the scenario: times in files are relative to it

	dir     string
	used    int64
	count   int
	leftOut []string
	err     error
}

// MS is a moment as milliseconds since the scenario began.
func (f *Folder) MS(at time.Time) float64 { return float64(at.Sub(f.Began).Microseconds()) / 1000 }

// Put writes a file. What is over the bounds is cut off, which the manifest says.
func (f *Folder) Put(name string, data []byte) {
	if f.err == nil {
		f.err = f.put(name, data, FolderLimit)
	}
}

// Place writes a file under a name that comes from elsewhere, such as an object's key,
// and tells whether it could: a name that is no path below the folder, or that is
// taken as a file and as a folder of files, cannot be one.
func (f *Folder) Place(name string, data []byte) bool {
	if !isPath(name) || f.err != nil {
		return false
	}
	err := f.put(name, data, FolderLimit-reserve)
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return false
	}
	f.err = err
	return err == nil
}

// isPath tells whether every segment of a name can be that of a file.
func isPath(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." || len(segment) > 255 || strings.ContainsRune(segment, 0) {
			return false
		}
	}
	return true
}

func (f *Folder) put(name string, data []byte, limit int64) error {
	room := max(0, min(FileLimit, limit-f.used))
	switch {
	case f.count >= countLimit:
		f.leave(fmt.Sprintf("%s: there are %d files already", name, countLimit))
		return nil
	case int64(len(data)) > room && room == 0:
		f.leave(fmt.Sprintf("%s: the folder has %d bytes already", name, f.used))
		return nil
	case int64(len(data)) > room:
		f.leave(fmt.Sprintf("%s: cut after %d of %d bytes", name, room, len(data)))
		data = data[:room]
	}
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f.used += int64(len(data))
	f.count++
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

func (f *Folder) leave(what string) {
	const enough = 50
	if len(f.leftOut) < enough {
		f.leftOut = append(f.leftOut, what)
	} else if len(f.leftOut) == enough {
		f.leftOut = append(f.leftOut, "and more")
	}
}

// Body keeps bytes once, however often they occur, and returns the file's name:
// bodies/ and their SHA-256 in hex. No bytes have no file.
func (f *Folder) Body(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	name := "bodies/" + Digest(data)
	if _, err := os.Lstat(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil && f.err == nil {
		f.err = f.put(name, data, FolderLimit-reserve)
	}
	return name
}

// Digest is the SHA-256 of bytes in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Lines writes values as JSON, one a line. No values make no file.
func Lines[V any](f *Folder, name string, values []V) {
	if len(values) == 0 || f.err != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			f.err = fmt.Errorf("%s: %w", name, err)
			return
		}
	}
	f.Put(name, b.Bytes())
}
