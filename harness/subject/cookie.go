package subject

import (
	"crypto/rand"
	"os"
	"strings"
	"sync"
)

// CookieVariable is the environment variable that marks subjects and all that
// descends from them.
const CookieVariable = "PUGCHECK_COOKIE"

type runCookie struct {
	value     string
	inherited bool
}

var theRun = sync.OnceValue(func() runCookie {
	if c := os.Getenv(CookieVariable); c != "" {
		return runCookie{c, true}
	}
	c := randomMark(16)
	_ = os.Setenv(CookieVariable, c) // fails only for malformed names
	return runCookie{c, false}
})

// RunCookie returns the cookie below which this process makes those of its
// subjects: the one in the environment, or a new one, which it puts there so
// that worker processes share it.
func RunCookie() string { return theRun().value }

// newCookie makes the cookie of one subject.
func newCookie() string { return RunCookie() + "." + randomMark(10) }

func randomMark(n int) string { return strings.ToLower(rand.Text()[:n]) }

// carries tells whether a process whose cookie is c belongs to the owner of scope.
func carries(c, scope string) bool {
	rest, ok := strings.CutPrefix(c, scope)
	return ok && (rest == "" || rest[0] == '.')
}
