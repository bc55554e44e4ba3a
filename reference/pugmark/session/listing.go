package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Listed is a session as a listing of the bucket shows it.
type Listed struct {
	Session layout.SessionID
	Version uint32 // the latest, 0 where there is none
}

// Sessions lists the sessions of the bucket, in the order of their IDs, each with its latest version. It reads nothing
// but listings, a page at a time: a manifest's key makes a session (S6.3-4), the first snapshot's is the latest version
// (S6.3-1), and what follows of a session whose snapshots fill the rest of a page is passed over. Keys that are neither
// are ignored. It ends after the first error.
func (r *Repo) Sessions(ctx context.Context) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		var open Listed // a session whose manifest has been listed, and not yet a snapshot; zero where there is none
		passed := ""    // the snapshots of the latest session whose version is known
		options := store.ListOptions{}
		for {
			page, err := r.store.List(ctx, layout.SessionsPrefix, options)
			if err != nil {
				yield(Listed{}, fmt.Errorf("list the sessions: %w", err))
				return
			}
			for _, key := range page.Keys {
				if passed != "" && strings.HasPrefix(key, passed) {
					continue
				}
				id, version, ok := sessionOf(key)
				if !ok {
					continue
				}
				if !open.Session.IsZero() && open.Session != id {
					if !yield(open, nil) {
						return
					}
					open = Listed{}
				}
				switch {
				case version == 0:
					open = Listed{Session: id}
				case open.Session == id:
					if !yield(Listed{Session: id, Version: version}, nil) {
						return
					}
					open, passed = Listed{}, key[:strings.LastIndexByte(key, '/')+1]
				}
			}
			switch last := len(page.Keys) - 1; {
			case page.Next == "":
				if !open.Session.IsZero() {
					yield(open, nil)
				}
				return
			case last >= 0 && passed != "" && strings.HasPrefix(page.Keys[last], passed):
				options = store.ListOptions{After: strings.TrimSuffix(passed, "/") + "0"} // the character after "/"
			default:
				options.Token = page.Next
			}
		}
	}
}

// sessionOf takes the key of a manifest, which has version 0, or of a snapshot apart.
func sessionOf(key string) (id layout.SessionID, version uint32, ok bool) {
	var err error
	if strings.HasSuffix(key, "/manifest.json") {
		id, err = layout.ParseManifestKey(key)
	} else {
		id, version, err = layout.ParseSnapshotKey(key)
	}
	return id, version, err == nil
}

// Names gives the names of all sessions that have one: those whose refs point at them, whatever their manifests say
// (S9.1-2, F-13). What is no name, or points at no session's place, is passed over. Each ref costs a request; several
// are made at once.
func (r *Repo) Names(ctx context.Context) (map[layout.SessionID][]string, error) {
	var mu sync.Mutex
	names := map[layout.SessionID][]string{}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(r.options.Parallel)
	for key, err := range store.Keys(ctx, r.store, layout.SessionRefsPrefix) {
		if err != nil {
			return nil, errors.Join(fmt.Errorf("list the names of sessions: %w", err), group.Wait())
		}
		name := strings.TrimPrefix(key, layout.SessionRefsPrefix)
		if _, err := layout.SessionRefKey(name); err != nil {
			continue
		}
		group.Go(func() error {
			found, err := r.readRefKey(gctx, key)
			if errors.Is(err, ErrNameNotFound) {
				return nil // gone since it was listed
			}
			if err != nil {
				return err
			}
			if id, err := found.session(); err == nil {
				mu.Lock()
				defer mu.Unlock()
				names[id] = append(names[id], name)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, of := range names {
		slices.Sort(of)
	}
	return names, nil
}
