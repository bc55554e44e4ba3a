package fakes3

import (
	"slices"
	"sync"
	"time"
)

// Change is one change of a bucket that the test made itself, rather than a request.
type Change struct {
	At          time.Time
	Bucket, Key string
	Deleted     bool // nothing was put: the key was deleted

	made *object
}

// Object is what was put; the zero Object where the key was deleted.
func (c Change) Object() Object {
	if c.made == nil {
		return Object{}
	}
	return c.made.whole()
}

// changes keeps what the test did to the buckets. Objects never change once they are stored, so it costs no copies.
type changes struct {
	mu   sync.Mutex
	list []Change
}

func (c *changes) add(bucket, key string, made *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, Change{At: time.Now(), Bucket: bucket, Key: key, Deleted: made == nil, made: made})
}

// Changes are the effective calls of Put, PutIfAbsent and Delete so far, in the order of their effects.
func (s *Server) Changes() []Change {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	return slices.Clone(s.changes.list)
}

// Buckets are the names of all buckets, sorted.
func (s *Server) Buckets() []string {
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	var names []string
	for name := range s.store.buckets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
