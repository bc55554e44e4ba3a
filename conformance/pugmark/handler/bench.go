package handler

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// bench is what the scenarios of one process share: the servers, the identity of the
// session, the logs, and the control runs, so that a handler is not asked the same
// thing again by every scenario.
type bench struct {
	mu        sync.Mutex
	servers   *Servers
	session   wire.SessionID
	span      string // the parent span of every invocation, 16 hex digits
	logs      []Log
	controls  map[string]*Exchange
	fetching  map[string]*Exchange // with all bodies by URL only
	sensitive map[string]bool      // whether the Outputs on a log depend on its bodies
}

// open sets the bench up on first use. Servers stay open until the process ends.
func (b *bench) open(c Config, seed uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.servers != nil {
		return nil
	}
	given, err := LoadLogs(c.Logs)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0x68616e646c6572)) // of its own, whichever scenario comes first
	var tail [12]byte
	for i := range tail {
		tail[i] = byte(random.Uint32())
	}
	// Letters and a leading zero among the digits, so that case and lost zeros show.
	tail[0], tail[1], tail[11] = tail[0]&0x0f, tail[1]&0x0f|0xa0, tail[11]&0xf0|0x0c
	b.session = wire.NewSessionID(uint32(time.Now().Unix()/3600), tail)
	b.span = fmt.Sprintf("%016x", random.Uint64()|1)
	b.logs = given
	for _, l := range builtIn(fmt.Sprintf("plover-%06x", random.Uint32()&0xffffff)) {
		if slices.ContainsFunc(given, func(g Log) bool { return g.Name == l.Name }) {
			l.Name = "built-in " + l.Name // runs are told apart by the names of their logs
		}
		b.logs = append(b.logs, l)
	}
	b.controls, b.fetching, b.sensitive = map[string]*Exchange{}, map[string]*Exchange{}, map[string]bool{}
	b.servers, err = StartServers()
	return err
}

// memoryFile serves the author's memory directory: key is <namespace>/<name>.
func memoryFile(dir, key string) (Answer, bool) {
	name := filepath.FromSlash(path.Clean(key))
	if dir == "" || key == "" || !filepath.IsLocal(name) {
		return Answer{}, false
	}
	body, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return Answer{}, false
	}
	return Answer{Header: header("Content-Type", contentType(name)), Body: body}, true
}

func contentType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "application/json"
	case ".txt", ".md", "":
		return "text/plain"
	}
	return "application/octet-stream"
}
