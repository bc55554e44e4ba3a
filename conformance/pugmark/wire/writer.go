package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// writer builds one JSON object with its keys in the order of the calls. Empty values are left out.
type writer struct {
	keys   []string
	values map[string][]byte
}

func (w *writer) raw(key string, value []byte) {
	if w.values == nil {
		w.values = map[string][]byte{}
	}
	if _, ok := w.values[key]; !ok {
		w.keys = append(w.keys, key)
	}
	w.values[key] = value
}

func (w *writer) drop(key string) {
	delete(w.values, key)
	w.keys = slices.DeleteFunc(w.keys, func(k string) bool { return k == key })
}

func (w *writer) str(key, value string) {
	if value != "" {
		w.raw(key, quote(value))
	}
}

func (w *writer) integer(key string, value int64) {
	if value != 0 {
		w.raw(key, strconv.AppendInt(nil, value, 10))
	}
}

func (w *writer) uint(key string, value uint64) {
	if value != 0 {
		w.raw(key, strconv.AppendUint(nil, value, 10))
	}
}

func (w *writer) flag(key string, value bool) {
	if value {
		w.raw(key, []byte("true"))
	}
}

func (w *writer) strings(key string, value map[string]string) {
	if len(value) == 0 {
		return
	}
	var inner writer
	for _, k := range slices.Sorted(maps.Keys(value)) {
		inner.raw(k, quote(value[k]))
	}
	w.raw(key, inner.object())
}

func (w *writer) data(key string, value []byte) {
	if len(value) > 0 {
		w.raw(key, quote(base64.StdEncoding.EncodeToString(value)))
	}
}

// extra sets fields by hand, sorted by name; they replace what is there, at its place.
func (w *writer) extra(fields map[string]any) error {
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		value, err := plainJSON(fields[k])
		if err != nil {
			return fmt.Errorf("extra field %q: %w", k, err)
		}
		w.raw(k, value)
	}
	return nil
}

func (w *writer) object() []byte {
	out := []byte{'{'}
	for i, k := range w.keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, quote(k)...), ':')
		out = append(out, w.values[k]...)
	}
	return append(out, '}')
}

func quote(text string) []byte {
	b, _ := plainJSON(text) // a string always encodes
	return b
}

// plainJSON is encoding/json without its HTML escapes.
func plainJSON(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil // by hand, possibly broken on purpose
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(out.String(), "\n")), nil
}
