package runtime

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// legible ends the scenario where the subject stored a snapshot that nobody finds
// by the rules: at a misplaced key, or with a version left out before it. What it
// committed then cannot be told; that its keys are wrong is for S4.2, S4.3 and S6.1
// to judge.
func (x *Lab) legible() {
	for _, r := range x.Writes("sessions/") {
		if r.Took == fakes3.Applied && r.Status == 200 {
			if why := x.astray(Key(r)); why != "" {
				x.Stop("where the runtime stored a snapshot nobody looks for one, so what it committed is not judged: %s", why)
			}
		}
	}
}

// astray says in which way a key is not that of a session's next snapshot; "" for
// one that is, or that is no snapshot's.
func (x *Lab) astray(key string) string {
	parsed := wire.ParseKey(key)
	switch {
	case strings.HasSuffix(key, "/manifest.json"):
		return ""
	case parsed.Kind != wire.KindSnapshot:
		return fmt.Sprintf("%s: %s", key, parsed.Reason)
	case parsed.Version > 1:
		if _, ok := x.Get(parsed.Session.SnapshotKey(parsed.Version - 1)); !ok {
			return fmt.Sprintf("%s is version %d, and there is no version %d", key, parsed.Version, parsed.Version-1)
		}
	}
	return ""
}
