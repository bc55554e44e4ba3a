package dir

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// header is the first line of an object's file.
type header struct {
	Format          int               `json:"pugmark-object"` // 1
	ETag            string            `json:"etag"`
	ContentType     string            `json:"content-type,omitempty"`
	ContentEncoding string            `json:"content-encoding,omitempty"`
	CacheControl    string            `json:"cache-control,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
}

// magic is how every header starts.
var magic = []byte(`{"pugmark-object":1,`)

// object is an open object's body.
type object struct {
	io.Reader
	io.Closer
}

// openObject opens the file of an object; its body is what is left to read.
func openObject(path string) (io.ReadCloser, store.Attributes, error) {
	file, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			err = store.ErrNotFound
		}
		return nil, store.Attributes{}, err
	}
	reader, attrs, err := readHeader(file)
	if err != nil {
		file.Close()
		return nil, store.Attributes{}, err
	}
	return object{reader, file}, attrs, nil
}

func readHeader(file *os.File) (io.Reader, store.Attributes, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, store.Attributes{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, store.Attributes{}, store.ErrNotFound
	}
	attrs := store.Attributes{Size: info.Size(), Modified: info.ModTime().UTC()}
	reader := bufio.NewReader(file)
	if start, _ := reader.Peek(len(magic)); !bytes.Equal(start, magic) {
		attrs.ETag = strconv.FormatInt(info.ModTime().UnixNano(), 16) + "-" + strconv.FormatInt(info.Size(), 16)
		return reader, attrs, nil
	}
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("%s: its first line does not end: %w", file.Name(), err)
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, store.Attributes{}, fmt.Errorf("%s: its first line: %w", file.Name(), err)
	}
	attrs.Size -= int64(len(line))
	attrs.ETag = h.ETag
	attrs.ContentType = h.ContentType
	attrs.ContentEncoding = h.ContentEncoding
	attrs.CacheControl = h.CacheControl
	attrs.Metadata = h.Metadata
	return reader, attrs, nil
}

// writeObject writes and syncs a new file in the directory, under a name of its own.
func writeObject(directory string, body io.ReadSeeker, options store.PutOptions) (path, etag string, err error) {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return "", "", fmt.Errorf("rewind body: %w", err)
	}
	var nonce [12]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return "", "", err
	}
	etag = hex.EncodeToString(nonce[:])
	line, err := json.Marshal(header{
		Format:          1,
		ETag:            etag,
		ContentType:     options.ContentType,
		ContentEncoding: options.ContentEncoding,
		CacheControl:    options.CacheControl,
		Metadata:        options.Metadata,
	})
	if err != nil {
		return "", "", err
	}
	name := filepath.Join(directory, etag)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", "", err
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if err != nil {
			os.Remove(name)
		}
	}()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return "", "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(file, hash), body); err != nil {
		return "", "", err
	}
	if options.SHA256 != nil && !bytes.Equal(hash.Sum(nil), options.SHA256[:]) {
		return "", "", store.ErrChecksum
	}
	return name, etag, file.Sync()
}
