package layout_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

func parseID(t *testing.T, s string) layout.SessionID {
	t.Helper()
	id, err := layout.ParseSessionID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestPaths(t *testing.T) {
	for id, want := range map[string]string{
		"00000000000102030405060708090a0b": "sessions/year=1970/month=01/day=01/hour=00/000102030405060708090A0B",
		"0000000100000000000000000000000f": "sessions/year=1970/month=01/day=01/hour=01/00000000000000000000000F",
		"00079cd8fedcba9876543210ffffffff": "sessions/year=2026/month=11/day=30/hour=16/FEDCBA9876543210FFFFFFFF",
		"000408d70000000000000000000000aa": "sessions/year=2000/month=02/day=29/hour=23/0000000000000000000000AA",
		"04320f17000000000000000000000001": "sessions/year=9999/month=12/day=31/hour=23/000000000000000000000001",
	} {
		path, err := parseID(t, id).Path()
		if err != nil || string(path) != want {
			t.Errorf("%s: path %s, %v, want %s", id, path, err, want)
			continue
		}
		if got := path.Manifest(); got != want+"/manifest.json" {
			t.Errorf("%s: manifest %s", id, got)
		}
		if got := path.Snapshot(2); got != want+"/snapshots/FFFFFFFE.json" {
			t.Errorf("%s: snapshot 2 %s", id, got)
		}
		back, err := layout.ParseManifestKey(want + "/manifest.json")
		if err != nil || back.String() != id {
			t.Errorf("%s: comes back as %s, %v", id, back, err)
		}
		back, version, err := layout.ParseSnapshotKey(want + "/snapshots/FFFFFFFE.json")
		if err != nil || back.String() != id || version != 2 {
			t.Errorf("%s: snapshot 2 comes back as %s, %d, %v", id, back, version, err)
		}
	}
}

func TestPathDoesNotDependOnTheTimeZone(t *testing.T) {
	saved := time.Local
	t.Cleanup(func() { time.Local = saved })
	time.Local = time.FixedZone("odd", 5*3600+45*60)
	path, err := parseID(t, "00079cd8fedcba9876543210ffffffff").Path()
	if err != nil || !strings.Contains(string(path), "day=30/hour=16") {
		t.Errorf("%s, %v", path, err)
	}
}

func TestUnplaceable(t *testing.T) {
	for _, id := range []string{"04320f18000000000000000000000000", "ffffffffffffffffffffffffffffffff"} {
		if path, err := parseID(t, id).Path(); !errors.Is(err, layout.ErrUnplaceable) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: path %q, error %v, want %v", id, path, err, layout.ErrUnplaceable)
		}
	}
}

func TestManifestKeyFaults(t *testing.T) {
	good := "sessions/year=2026/month=11/day=30/hour=16/FEDCBA9876543210FFFFFFFF/manifest.json"
	if _, err := layout.ParseManifestKey(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, about string }{
		{"year=2026", "year=1969", "1970 to 9999"},
		{"year=2026", "year=10000", "4 decimal digits"},
		{"year=2026", "year=026", "4 decimal digits"},
		{"year=2026", "year=-026", "4 decimal digits"},
		{"month=11", "month=00", "01 to 12"},
		{"month=11", "month=13", "01 to 12"},
		{"month=11", "month=1", "2 decimal digits"},
		{"day=30", "day=00", "01 to 31"},
		{"day=30", "day=32", "01 to 31"},
		{"day=30", "day=31", "no such day"},
		{"month=11/day=30", "month=02/day=29", "no such day"},
		{"hour=16", "hour=24", "00 to 23"},
		{"hour=16", "hour=+6", "2 decimal digits"},
		{"hour=16", "minute=16", "hour="},
		{"FEDCBA98", "fedcba98", "uppercase"},
		{"FEDCBA98", "GEDCBA98", "invalid byte"},
		{"FFFFFFFF/", "FFFFFFFFFF/", "24 uppercase hex digits"},
		{"/manifest.json", "/Manifest.json", "manifest.json"},
		{"/manifest.json", "/x/manifest.json", "segments"},
		{"sessions/", "session/", "sessions/"},
		{"sessions/", "/sessions/", "sessions/"},
	} {
		key := strings.Replace(good, c.old, c.new, 1)
		if id, err := layout.ParseManifestKey(key); err == nil || !strings.Contains(err.Error(), c.about) {
			t.Errorf("%s: %s, error %v, want one about %q", key, id, err, c.about)
		}
	}
}

func TestSessionIDText(t *testing.T) {
	upper := "00079CD8FEDCBA9876543210FFFFFFFF"
	if got := parseID(t, upper).String(); got != strings.ToLower(upper) {
		t.Errorf("%s is written as %s", upper, got)
	}
	for _, s := range []string{"", "0", upper + "0", upper[1:], "g" + upper[1:], upper[:31] + " ", "0x" + upper[2:]} {
		if id, err := layout.ParseSessionID(s); err == nil {
			t.Errorf("%q was read as %s", s, id)
		}
	}
	var id layout.SessionID
	if err := id.UnmarshalText(nil); err != nil || !id.IsZero() {
		t.Errorf("empty text: %s, %v", id, err)
	}
}

func TestNewSessionID(t *testing.T) {
	now := time.Date(2026, 11, 30, 16, 59, 59, 999, time.FixedZone("x", -7200)) // 18:59 UTC
	id, err := layout.NewSessionID(now, bytes.NewReader([]byte("twelve bytes")))
	if err != nil || id.String() != "00079cda"+"7477656c7665206279746573" {
		t.Errorf("%s, %v", id, err)
	}
	if got := id.Time(); !got.Equal(time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC)) {
		t.Errorf("time %s", got)
	}
	if _, err := layout.NewSessionID(now, bytes.NewReader([]byte("eleven byte"))); err == nil {
		t.Error("too few random bytes were taken for enough")
	}
	if _, err := layout.NewSessionID(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), bytes.NewReader(make([]byte, 12))); !errors.Is(err, layout.ErrUnplaceable) {
		t.Errorf("year 10000: error %v", err)
	}
}

func TestReverseVersions(t *testing.T) {
	for version, want := range map[uint32]string{
		1: "FFFFFFFF", 2: "FFFFFFFE", 3: "FFFFFFFD", 16: "FFFFFFF0", 17: "FFFFFFEF", 256: "FFFFFF00", 257: "FFFFFEFF",
		math.MaxUint32: "00000001",
	} {
		if got := layout.ReverseVersion(version); got != want {
			t.Errorf("version %d: %s, want %s", version, got, want)
		}
		if got, err := layout.ParseVersionFile(want + ".json"); err != nil || got != version {
			t.Errorf("%s: version %d, %v, want %d", want, got, err, version)
		}
	}
	for _, name := range []string{"00000000.json", "fffffffe.json", "FFFFFFF.json", "FFFFFFFFF.json", "FFFFFFFG.json", "+FFFFFFF.json",
		"FFFFFFFF", "FFFFFFFF.JSON", ".json", "a/FFFFFFFF.json"} {
		if got, err := layout.ParseVersionFile(name); err == nil {
			t.Errorf("%s was read as version %d", name, got)
		}
	}
}

func TestDigests(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	d := layout.DigestOf(nil)
	if d.String() != empty || d.Key() != "objects/"+empty {
		t.Errorf("%s at %s", d, d.Key())
	}
	if got, err := layout.ParseDigest(empty); err != nil || got != d {
		t.Errorf("%s, %v", got, err)
	}
	for _, s := range []string{"", empty[7:], "SHA256:" + empty[7:], empty + "0", "sha256:g" + empty[8:], "sha512:" + empty[7:]} {
		if got, err := layout.ParseDigest(s); err == nil {
			t.Errorf("%q was read as %s", s, got)
		}
	}
	for _, zero := range []string{"", "sha256:" + strings.Repeat("0", 64)} {
		got := d
		if err := got.UnmarshalText([]byte(zero)); err != nil || !got.IsZero() {
			t.Errorf("%q: %s, %v, want zero", zero, got, err)
		}
	}
}

func TestMemoryKeys(t *testing.T) {
	for namespace, want := range map[string]string{
		"user":           "memories/user/FFFFFFFE.json",
		"user/123/alice": "memories/user/123/alice/FFFFFFFE.json",
	} {
		if got := layout.MemoryKey(namespace, 2); got != want {
			t.Errorf("%s: %s, want %s", namespace, got, want)
		}
		if got, version, err := layout.ParseMemoryKey(want); err != nil || got != namespace || version != 2 {
			t.Errorf("%s: %s, %d, %v", want, got, version, err)
		}
	}
	for _, key := range []string{"memories/FFFFFFFF.json", "memories//FFFFFFFF.json", "memories/a/../FFFFFFFF.json", "memories/a/x.json",
		"memories/a//b/FFFFFFFF.json", "memory/a/FFFFFFFF.json"} {
		if namespace, version, err := layout.ParseMemoryKey(key); err == nil {
			t.Errorf("%s was read as %s, version %d", key, namespace, version)
		}
	}
}

func TestMemoryNames(t *testing.T) {
	if namespace, name, err := layout.SplitMemoryName("a/b c/d"); err != nil || namespace != "a/b c" || name != "d" {
		t.Errorf("%q, %q, %v", namespace, name, err)
	}
	for _, s := range []string{"", "a", "/a", "a/", "a//b", "./b", "a/../b"} {
		if namespace, name, err := layout.SplitMemoryName(s); err == nil {
			t.Errorf("%q was split into %q and %q", s, namespace, name)
		}
	}
}

func TestRefs(t *testing.T) {
	for name, want := range map[string]string{"a": "refs/a", "sessions/a b": "refs/sessions/a b", "sessions": "refs/sessions"} {
		if got, err := layout.RefKey(name); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"", "/", "a/", "/a", "sessions/a/b", ".", "sessions/..", "a\nb"} {
		if got, err := layout.RefKey(name); err == nil {
			t.Errorf("%q has the key %s", name, got)
		}
	}
	if got, err := layout.SessionRefKey("a"); err != nil || got != "refs/sessions/a" {
		t.Errorf("%s, %v", got, err)
	}
	for _, name := range []string{"", "a/b", ".."} {
		if got, err := layout.SessionRefKey(name); err == nil {
			t.Errorf("session name %q has the key %s", name, got)
		}
	}
}
