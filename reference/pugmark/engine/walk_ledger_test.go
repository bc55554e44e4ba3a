package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// ledger is what the walk has asked for, against which the bucket is held.
type ledger struct {
	mu    sync.Mutex
	works map[string]*work // by tag
	order []*work
	roots map[string]session.Manifest // sessions that the walk itself has made, by ID
}

// fate is what became of a commit, as far as its writer was told.
type fate int

const (
	unknown fate = iota // the writer died, or got no answer
	in
	out_ // refused, lost, or never tried
)

// work is one commit that was asked for: a handler's invocation or a push.
type work struct {
	tag     string
	session string
	kind    session.SnapshotType
	items   []item
	fate    fate
	memory  fate // of an invocation's memory writes

	// Of an invocation only.
	base   uint32   // the version that the handler ran on
	event  string   // the lifecycle event that it was told
	told   []string // tags of the entries that it was shown
	paused bool
	timed  bool // with a duration
	failed bool // by the handler's own doing
	final  bool // its run was content with it
}

// item is one entry that a work is to write.
type item struct {
	name      string
	body      string
	deleted   bool
	fork      bool
	target    string // of a fork or of a record for another session; "" for a fork whose ID the runtime draws
	present   bool   // the target existed already, or is forked along with it
	along     bool   // the latter
	namespace string // of a memory object
}

func (w *work) tagOf(i int) string { return fmt.Sprint(w.tag, "#", i) }

// entries are the indices of the items that belong to the session's log.
func (w *work) entries() []int {
	var indices []int
	for i, it := range w.items {
		if it.namespace == "" {
			indices = append(indices, i)
		}
	}
	return indices
}

// commits tells whether there is anything for a snapshot.
func (w *work) commits() bool { return w.paused || len(w.entries()) > 0 }

// ends is the status of the control message that the work ends with, or "".
func (w *work) ends() string {
	entries, forks := w.entries(), 0
	for _, i := range entries {
		if w.items[i].fork {
			forks++
		}
	}
	switch {
	case w.kind != session.Checkpoint:
	case w.paused, len(entries) > 0 && forks == len(entries):
		return session.StatusStopped
	case len(entries) > 0 && w.event == "wake":
		return session.StatusRunning
	}
	return ""
}

func (l *ledger) add(w *work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.works[w.tag] = w
	l.order = append(l.order, w)
}

func (l *ledger) work(tag string) *work {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.works[tag]
}

// find gives the work and the item with a tag.
func (l *ledger) find(tag string) (*work, int, bool) {
	before, after, ok := strings.Cut(tag, "#")
	w := l.work(before)
	var i int
	if _, err := fmt.Sscan(after, &i); !ok || w == nil || err != nil || i >= len(w.items) {
		return nil, 0, false
	}
	return w, i, true
}

// shown complains about invocations that were not told the whole log of their version.
func (c *contents) shown(works []*work) []string {
	var complaints []string
	for _, w := range works {
		if w.kind != session.Checkpoint {
			continue
		}
		if want := c.visible(w.session, w.base); !slices.Equal(w.told, want) {
			complaints = append(complaints, fmt.Sprintf("P4.2-5: at version %d of session %s, %s was shown %v, and the log is %v",
				w.base, w.session, w.tag, w.told, want))
		}
	}
	return complaints
}

// visible are the tags of the entries that a handler of the session is to see at a version: the parents' first, as far
// as they are visible, and no control messages and no fork records among them (P4.2-6 to P4.2-10).
func (c *contents) visible(id string, version uint32) []string {
	h := c.sessions[id]
	var tags []string
	if h.manifest.Parent.Session != "" {
		tags = c.visible(h.manifest.Parent.Session, h.manifest.Parent.Version)
	}
	for v := uint32(1); v <= version; v++ {
		for _, d := range h.snapshots[v].entries {
			if !d.Fork && !d.isControl() {
				tags = append(tags, d.tag())
			}
		}
	}
	return tags
}
