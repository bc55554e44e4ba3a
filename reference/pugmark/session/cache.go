package session

import (
	"bytes"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// cache keeps what never changes in a bucket. Snapshots are kept as they are stored, compressed, which is a tenth of
// what they take when decoded: so a log of many thousands fits, and reading it once more costs no request. Which ones
// make room for a new one is left to chance, which serves a log longer than the cache better than dropping the oldest:
// a log is always read from its start.
type cache struct {
	mu        sync.Mutex
	limit     int
	used      int
	snapshots map[Pointer]storedSnapshot
	manifests map[layout.SessionID]Manifest
	delivered map[deliveryKey]bool
}

func newCache(limit int) *cache {
	return &cache{
		limit:     limit,
		snapshots: map[Pointer]storedSnapshot{},
		manifests: map[layout.SessionID]Manifest{},
		delivered: map[deliveryKey]bool{},
	}
}

func (c *cache) snapshot(id layout.SessionID, version uint32) (storedSnapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.snapshots[Pointer{id, version}]
	return s, ok
}

func (c *cache) addSnapshot(id layout.SessionID, version uint32, s storedSnapshot) {
	if cap(s.body)-len(s.body) > len(s.body)/8 {
		s.body = bytes.Clone(s.body)
	}
	weight := s.weight()
	if weight > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := Pointer{id, version}
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

// maxManifests bounds the manifests that are kept: whoever looks at all sessions of a bucket may meet any number.
const maxManifests = 10_000

func (c *cache) addManifest(m Manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.manifests) >= maxManifests {
		clear(c.manifests)
	}
	c.manifests[m.Session] = m
}

func (c *cache) dropManifest(id layout.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.manifests, id)
}

// weight estimates the memory that a snapshot takes in the cache, in bytes.
func (s storedSnapshot) weight() int {
	const fixed = 200 // the structure and its place in the map
	return fixed + cap(s.body)
}

// deliveryKey is what makes a delivery the same one.
type deliveryKey struct {
	writer  layout.SessionID
	version uint32
	target  layout.SessionID
}

// maxDelivered bounds the deliveries that are remembered.
const maxDelivered = 10_000

func (c *cache) isDelivered(key deliveryKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.delivered[key]
}

func (c *cache) addDelivered(key deliveryKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.delivered) >= maxDelivered {
		clear(c.delivered)
	}
	c.delivered[key] = true
}
