package session

import (
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// cache keeps what never changes in a bucket. Snapshots are bounded in size; which ones make room for a new one is
// left to chance, which serves a log longer than the cache better than dropping the oldest: a log is always read from
// its start.
type cache struct {
	mu        sync.Mutex
	limit     int
	used      int
	snapshots map[Pointer]Snapshot
	manifests map[layout.SessionID]Manifest
}

func newCache(limit int) *cache {
	return &cache{
		limit:     limit,
		snapshots: map[Pointer]Snapshot{},
		manifests: map[layout.SessionID]Manifest{},
	}
}

func (c *cache) snapshot(id layout.SessionID, version uint32) (Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.snapshots[Pointer{id, version}]
	return s, ok
}

func (c *cache) addSnapshot(s Snapshot) {
	weight := s.weight()
	if weight > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := Pointer{s.Session, s.Version}
	if _, ok := c.snapshots[at]; ok {
		return
	}
	for other, old := range c.snapshots {
		if c.used+weight <= c.limit {
			break
		}
		c.used -= old.weight()
		delete(c.snapshots, other)
	}
	c.snapshots[at] = s
	c.used += weight
}

func (c *cache) manifest(id layout.SessionID) (Manifest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.manifests[id]
	return m, ok
}

func (c *cache) addManifest(m Manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manifests[m.Session] = m
}

func (c *cache) dropManifest(id layout.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.manifests, id)
}

// weight estimates the memory that a snapshot takes, in bytes.
func (s Snapshot) weight() int {
	const fixed = 400 // a Descriptor and its share of the map, without what it points to
	n := fixed
	for _, d := range s.Descriptors {
		n += fixed + len(d.ContentType) + len(d.Name) + len(d.SchemaURL) + len(d.Data)
		for k, v := range d.Metadata {
			n += 64 + len(k) + len(v)
		}
	}
	return n
}
