package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// identityFaults spoil session IDs, paths, and what the handler learns of both.
var identityFaults = map[string]Fault{
	"hours-little-endian": ids(func(id *layout.SessionID) {
		hour := binary.BigEndian.Uint32(id[:4])
		binary.LittleEndian.PutUint32(id[:4], hour)
		id[0] = 0 // still a placeable ID
	}),
	"hours-in-local-time": ids(func(id *layout.SessionID) {
		_, offset := time.Now().In(zone()).Zone()
		binary.BigEndian.PutUint32(id[:4], uint32((time.Now().Unix()+int64(offset))/3600))
	}),
	"ids-from-a-counter":    idsFromCounter(),
	"session-in-upper-case": identity(process, func(id *transport.Identity) { id.Session = strings.ToUpper(id.Session) }),
	"target-in-upper-case": snapshots(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if t, ok := d["target-session"].(string); ok {
				d["target-session"] = strings.ToUpper(t)
			}
		})
	}),
	"upper-case-argument-refused": {Argument: func(text string) string {
		if text != strings.ToLower(text) {
			return "" // the parser then says that it wants hex digits
		}
		return text
	}},
	"upper-case-outputs-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if s := string(o["session"]); s != strings.ToLower(s) {
			return errors.New("session: want lower-case hex digits")
		}
		return nil
	}),
	"trace-of-its-own": identity(process, func(id *transport.Identity) {
		if p := os.Getenv("TRACEPARENT"); p != "" {
			id.TraceParent = p
		}
	}),
	"trace-halves-swapped": identity(process, func(id *transport.Identity) {
		if p := strings.Split(id.TraceParent, "-"); len(p) == 4 {
			p[1] = p[1][16:] + p[1][:16]
			id.TraceParent = strings.Join(p, "-")
		}
	}),
	"agent-left-out":        identity(process, func(id *transport.Identity) { id.Agent = "" }),
	"metadata-left-out":     identity(process, func(id *transport.Identity) { id.Metadata = nil }),
	"version-ahead":         identity(process, func(id *transport.Identity) { id.Version++ }),
	"query-without-session": identity(service, func(id *transport.Identity) { id.Session = "" }),
	"query-without-agent":   identity(service, func(id *transport.Identity) { id.Agent = "" }),
	"query-version-ahead":   identity(service, func(id *transport.Identity) { id.Version++ }),
	"header-left-out":       identity(service, func(id *transport.Identity) { id.Metadata = nil }),
	"path-unlabelled":       childPaths(func(key string) string { return regexp.MustCompile(`(year|month|day|hour)=`).ReplaceAllString(key, "") }),
	"path-in-local-day":     childPaths(localPath),
	"path-unpadded": childPaths(func(key string) string {
		return strings.NewReplacer("month=0", "month=", "day=0", "day=", "hour=0", "hour=").Replace(key)
	}),
	"path-short-year": childPaths(func(key string) string { return regexp.MustCompile(`year=\d\d`).ReplaceAllString(key, "year=") }),
	"path-in-lower-case": childPaths(func(key string) string {
		return path.Dir(path.Dir(key)) + "/" + strings.ToLower(path.Base(path.Dir(key))) + "/manifest.json"
	}),
}

func ids(change func(*layout.SessionID)) Fault {
	return Fault{Identifiers: func(o *session.Options) {
		o.NewSessionID = func() (layout.SessionID, error) {
			id, err := layout.NewSessionID(time.Now(), random{})
			change(&id)
			return id, err
		}
	}}
}

func idsFromCounter() Fault {
	n := uint64(time.Now().UnixNano())
	return ids(func(id *layout.SessionID) {
		n++
		copy(id[4:8], "\x01\x02\x03\x04")
		binary.BigEndian.PutUint64(id[8:], n)
	})
}

// zone is what TZ says, as programs that think in local time have it.
func zone() *time.Location {
	if l, err := time.LoadLocation(os.Getenv("TZ")); err == nil {
		return l
	}
	return time.Local
}

// childPaths spoils the key of every manifest that is created.
func childPaths(change func(key string) string) Fault {
	return writes(func(w *write) {
		if w.isManifest() {
			w.key = change(w.key)
		}
	})
}

func localPath(key string) string {
	m := pathParts.FindStringSubmatch(key)
	if m == nil {
		return key
	}
	t, err := time.Parse("2006-01-02-15", m[1]+"-"+m[2]+"-"+m[3]+"-"+m[4])
	if err != nil {
		return key
	}
	return fmt.Sprintf("sessions/%s/%s%s", t.In(zone()).Format("year=2006/month=01/day=02/hour=15"), m[5], m[6])
}
