package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

const (
	maxSleep  = 10 * time.Minute // P10-6: a longer sleep is shortened to this
	maxReason = 1 << 20          // bytes of a reason that is fetched
)

// pause is the signal to stop the session (P10-1).
type pause struct {
	reason func(context.Context) (string, error)
	sleep  time.Duration // not above maxSleep
	timed  bool          // whether there is a sleep at all
}

// setPause keeps the signal for the commit (P10-5). P10-17, P10-19: of several the
// last one replaces all before it, duration included. P10-7: what follows it is
// read all the same.
func (o *outputs) setPause(record stream.Output) error {
	p := &pause{reason: func(context.Context) (string, error) { return reason(record, record.Data) }}
	if text, ok := record.Metadata["duration"]; ok { // P10-3
		sleep, err := parseDuration(text)
		if err != nil {
			return fmt.Errorf("metadata \"duration\": %w", err)
		}
		p.sleep, p.timed = min(sleep, maxSleep), true
	}
	if len(record.Data) == 0 && record.URI != "" {
		if err := checkURI(record.URI); err != nil {
			return fmt.Errorf("field \"uri\": %w", err)
		}
		p.reason = func(ctx context.Context) (string, error) { // P5.3-2, for this kind of record as well
			body, err := o.Fetch(ctx, record.URI)
			if err != nil {
				return "", record.Fault(fmt.Errorf("fetch %s: %w", record.URI, err))
			}
			defer body.Close()
			text, err := io.ReadAll(io.LimitReader(body, maxReason+1))
			if err == nil && len(text) > maxReason {
				err = fmt.Errorf("the reason of a pause is longer than %d bytes", maxReason)
			}
			if err != nil {
				return "", record.Fault(fmt.Errorf("fetch %s: %w", record.URI, err))
			}
			return reason(record, text)
		}
	}
	o.pause = p
	return nil
}

// reason makes text of a pause record's body.
func reason(record stream.Output, body []byte) (string, error) {
	if !utf8.Valid(body) {
		return "", record.Fault(errors.New("the reason of a pause has to be UTF-8"))
	}
	return string(body), nil
}

// parseDuration reads one or more decimal numbers with optional fraction, each
// with a unit (P10-4). It takes no sign, no blank and no bare zero, all of which
// time.ParseDuration would. What is too long for a time.Duration counts as the
// longest one.
func parseDuration(text string) (time.Duration, error) {
	var total time.Duration
	rest := text
	for {
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789."))]
		rest = rest[len(number):]
		unit := rest
		if i := strings.IndexAny(rest, "0123456789."); i >= 0 {
			unit = rest[:i]
		}
		rest = rest[len(unit):]
		if strings.Trim(number, ".") == "" || strings.Count(number, ".") > 1 || !units[unit] {
			return 0, fmt.Errorf("%q is no duration such as 300ms, 1.5s or 2h30m", text)
		}
		d, err := time.ParseDuration(number + unit)
		if err != nil { // well formed, so it is out of range
			d = longest
		}
		if total += d; total < 0 {
			total = longest
		}
		if rest == "" {
			return total, nil
		}
	}
}

const longest = time.Duration(1<<63 - 1)

var units = map[string]bool{"ns": true, "us": true, "µs": true, "ms": true, "s": true, "m": true, "h": true}
