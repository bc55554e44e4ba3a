package session

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Repo reads and writes the sessions of one bucket. It may be used from many goroutines at once.
//
// What can never change in a bucket, snapshots and manifests, a Repo keeps in memory within limits, so that whoever
// asks again costs no request, be it for a log or for a tree of forks (S17-3). Listings, refs and memory namespaces are
// asked for each time.
type Repo struct {
	store   store.Store
	options Options
	cache   *cache
}

// Options are the seams of a Repo; zero fields take their defaults.
type Options struct {
	// Now tells the time for created-at and for new session IDs. Default: time.Now.
	Now func() time.Time
	// Random is the cryptographically secure source of identifiers (S13.2-6, S13.2-7). Default: crypto/rand.Reader.
	Random io.Reader
	// NewSessionID makes the ID of a new session. Default: layout.NewSessionID of Now and Random.
	NewSessionID func() (layout.SessionID, error)
	// NewTransaction makes a transaction ID, never zero (S13.2-8). Default: 64 bits of Random.
	NewTransaction func() (uint64, error)
	// Parallel is how many reads may be in flight for one log. Default: 16.
	Parallel int
	// Attempts is how many conditional writes a commit tries before it gives up (S13.3-9). Default: 100.
	Attempts int
	// CacheBytes bounds the snapshots kept in memory, in bytes of their decoded bodies. Default: 16 MiB.
	CacheBytes int
	// SpoolDir is where PutBlobFrom keeps bodies too long for memory. Default: the system's.
	SpoolDir string
}

// New gives the Repo of the bucket s.
func New(s store.Store, options Options) *Repo {
	r := &Repo{store: s, options: options}
	o := &r.options
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.NewSessionID == nil {
		o.NewSessionID = func() (layout.SessionID, error) { return layout.NewSessionID(o.Now(), o.Random) }
	}
	if o.NewTransaction == nil {
		o.NewTransaction = func() (uint64, error) { return newTransaction(o.Random) }
	}
	if o.Parallel <= 0 {
		o.Parallel = 16
	}
	if o.Attempts <= 0 {
		o.Attempts = 100
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 16 << 20
	}
	r.cache = newCache(o.CacheBytes)
	return r
}

type clock func() time.Time

func (r *Repo) now() time.Time { return r.options.Now().UTC() }

// Store gives the bucket under the Repo.
func (r *Repo) Store() store.Store { return r.store }

// NewSessionID makes the ID of a new session.
func (r *Repo) NewSessionID() (layout.SessionID, error) { return r.options.NewSessionID() }

// NewTransaction makes a transaction ID, for a writer that needs it before its commit.
func (r *Repo) NewTransaction() (uint64, error) { return r.options.NewTransaction() }

// newTransaction draws until it has a number that is not zero (S13.2-8).
func newTransaction(random io.Reader) (uint64, error) {
	var b [8]byte
	for {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, fmt.Errorf("new transaction ID: read random bytes: %w", err)
		}
		if n := binary.BigEndian.Uint64(b[:]); n != 0 {
			return n, nil
		}
	}
}

// read gets a document, its content encoding undone.
func (r *Repo) read(ctx context.Context, key string) ([]byte, store.Attributes, error) {
	body, attrs, err := store.Get(ctx, r.store, key)
	if err != nil {
		return nil, store.Attributes{}, err
	}
	plain, err := decompress(body, attrs.ContentEncoding)
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("%s: %w", key, err)
	}
	return plain, attrs, nil
}
