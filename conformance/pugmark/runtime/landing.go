package runtime

import (
	"context"
	"sync"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// Landing arranges that somebody else's objects are stored between the runtime's
// reads and its own conditional write: the write is stopped on its way, the
// objects are stored, and the write goes on and meets them.
type Landing struct {
	mu     sync.Mutex
	met    []fakes3.Request
	remove func()
}

// landAt stops the first n writes below prefix (root-relative), one after the
// other, and has land store what each is to meet.
func (x *Lab) landAt(prefix string, n int, land func(i int, r *fakes3.Request)) *Landing {
	l := &Landing{}
	count := 0
	l.remove = x.S3.Intercept(At(prefix, fakes3.OpPut), func(_ context.Context, r *fakes3.Request) fakes3.Decision {
		l.mu.Lock()
		defer l.mu.Unlock()
		if count < n {
			land(count, r)
			count++
			l.met = append(l.met, *r)
		}
		return fakes3.Pass()
	})
	x.Cleanup(l.remove)
	return l
}

// Met tells how many writes were stopped.
func (l *Landing) Met() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.met)
}

// refused counts the writes below prefix that were answered 412.
func (x *Lab) refused(prefix string) int {
	n := 0
	for _, r := range x.Writes(prefix) {
		if r.Status == 412 {
			n++
		}
	}
	return n
}

// store puts a snapshot made by wire's builder, and its blobs.
func (x *Lab) store(file wire.Stored, blobs []wire.Stored, err error) {
	x.Must(err)
	for _, b := range blobs {
		x.Must(x.Put(b))
	}
	x.Must(x.Put(file))
}
