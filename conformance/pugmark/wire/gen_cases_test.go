package wire_test

import (
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

const sampleTail = "00abcdef0123456789abcdef"

type idCase struct {
	Case string `json:"case"`
	ID   string `json:"id"`
	Hour uint32 `json:"hour"`
	Path string `json:"path"`
}

type textCase struct {
	Case string `json:"case"`
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

type pathCase struct {
	Case string `json:"case"`
	Path string `json:"path"`
	Part string `json:"part"`
}

type versionCase struct {
	Case    string `json:"case"`
	Version uint32 `json:"version,omitempty"`
	Name    string `json:"name"`
}

type keyCase struct {
	Case      string `json:"case"`
	Key       string `json:"key"`
	Kind      string `json:"kind"`
	Session   string `json:"session,omitempty"`
	Version   uint32 `json:"version,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

func validIDs() []idCase {
	var cases []idCase
	for _, c := range []struct{ name, id string }{
		{"epoch", "00000000" + sampleTail},
		{"last-hour-of-first-day", "00000017" + sampleTail},
		{"leap-day-2000", "000408d7" + sampleTail},
		{"leap-day-2024", "00073ea7" + sampleTail},
		{"single-digits", "00073923" + sampleTail},
		{"last-hour-of-2024", "00075b57" + sampleTail},
		{"no-leap-day-2100", "001168f8" + sampleTail},
		{"last-hour-of-9999", "04320f17" + sampleTail},
		{"tail-zero", "00073ea7" + strings.Repeat("0", 24)},
		{"tail-all-ones", "00073ea7" + strings.Repeat("f", 24)},
	} {
		id, err := wire.ParseSessionID(c.id)
		if err != nil {
			panic(err)
		}
		path, err := id.Path()
		if err != nil {
			panic(err)
		}
		cases = append(cases, idCase{c.name, c.id, id.Hour(), path})
	}
	return cases
}

var spellings = []textCase{
	{"lower-case", "00073ea700abcdef0123456789abcdef", "00073ea700abcdef0123456789abcdef"},
	{"upper-case", "00073EA700ABCDEF0123456789ABCDEF", "00073ea700abcdef0123456789abcdef"},
	{"mixed-case", "00073Ea700aBCDef0123456789abcDEF", "00073ea700abcdef0123456789abcdef"},
}

var invalidIDs = []textCase{
	{Case: "empty", Text: ""},
	{Case: "31-digits", Text: "00073ea700abcdef0123456789abcde"},
	{Case: "33-digits", Text: "00073ea700abcdef0123456789abcdef0"},
	{Case: "not-hex", Text: "00073ea700abcdef0123456789abcdeg"},
	{Case: "dashes", Text: "00073ea7-00ab-cdef-0123-456789abcdef"},
	{Case: "prefix-0x", Text: "0x073ea700abcdef0123456789abcdef"},
	{Case: "space-before", Text: " 00073ea700abcdef0123456789abcde"},
	{Case: "line-feed-behind", Text: "00073ea700abcdef0123456789abcdef\n"},
	{Case: "full-width-digit", Text: "00073ea700abcdef0123456789abc\uff11"},
	{Case: "braces", Text: "{00073ea700abcdef0123456789abcd}"},
}

var noPath = []idCase{
	{Case: "first-hour-of-10000", ID: "04320f18" + sampleTail, Hour: 0x04320f18},
	{Case: "all-ones", ID: strings.Repeat("f", 32), Hour: 0xffffffff},
	{Case: "sign-bit", ID: "80000000" + sampleTail, Hour: 0x80000000},
}

var invalidPaths = []pathCase{
	{"year-1969", "sessions/year=1969/month=12/day=31/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-10000", "sessions/year=10000/month=01/day=01/hour=00/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-two-digits", "sessions/year=24/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-five-digits", "sessions/year=02024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-empty", "sessions/year=/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-letters", "sessions/year=mmxx/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"year-negative", "sessions/year=-202/month=02/day=28/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "year"},
	{"month-00", "sessions/year=2024/month=00/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "month"},
	{"month-13", "sessions/year=2024/month=13/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "month"},
	{"month-one-digit", "sessions/year=2024/month=2/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "month"},
	{"month-plus-sign", "sessions/year=2024/month=+2/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "month"},
	{"day-00", "sessions/year=2024/month=02/day=00/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "day"},
	{"day-32", "sessions/year=2024/month=03/day=32/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "day"},
	{"day-one-digit", "sessions/year=2024/month=02/day=9/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "day"},
	{"day-31-in-april", "sessions/year=2024/month=04/day=31/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "date"},
	{"day-29-in-common-february", "sessions/year=2023/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "date"},
	{"day-29-in-february-2100", "sessions/year=2100/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "date"},
	{"hour-24", "sessions/year=2024/month=02/day=29/hour=24/00ABCDEF0123456789ABCDEF/manifest.json", "hour"},
	{"hour-one-digit", "sessions/year=2024/month=02/day=29/hour=7/00ABCDEF0123456789ABCDEF/manifest.json", "hour"},
	{"hour-empty", "sessions/year=2024/month=02/day=29/hour=/00ABCDEF0123456789ABCDEF/manifest.json", "hour"},
	{"id-lower-case", "sessions/year=2024/month=02/day=29/hour=23/00abcdef0123456789abcdef/manifest.json", "id"},
	{"id-23-digits", "sessions/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDE/manifest.json", "id"},
	{"id-25-digits", "sessions/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF0/manifest.json", "id"},
	{"id-whole", "sessions/year=2024/month=02/day=29/hour=23/00073EA700ABCDEF0123456789ABCDEF/manifest.json", "id"},
	{"id-not-hex", "sessions/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEG/manifest.json", "id"},
	{"id-missing", "sessions/year=2024/month=02/day=29/hour=23/manifest.json", "id"},
	{"prefix-missing", "year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"prefix-singular", "session/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"slash-first", "/sessions/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"slash-doubled", "sessions//year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"segment-without-name", "sessions/2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"segments-swapped", "sessions/month=02/year=2024/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"segment-upper-case", "sessions/Year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
	{"segment-missing", "sessions/year=2024/month=02/day=29/00ABCDEF0123456789ABCDEF/manifest.json", "shape"},
}

// validVersions are literal, by the formula that they are checked with on a second path.
var validVersions = []versionCase{
	{"first", 1, "FFFFFFFF"}, {"second", 2, "FFFFFFFE"}, {"third", 3, "FFFFFFFD"},
	{"one-digit-full", 16, "FFFFFFF0"}, {"second-digit-turns", 17, "FFFFFFEF"},
	{"two-digits-full", 256, "FFFFFF00"}, {"third-digit-turns", 257, "FFFFFEFF"},
	{"half-minus-one", 2147483647, "80000001"}, {"half", 2147483648, "80000000"}, {"half-plus-one", 2147483649, "7FFFFFFF"},
	{"letters", 305419897, "EDCBA987"}, {"last-but-one", 4294967294, "00000002"}, {"last", 4294967295, "00000001"},
}

var invalidVersions = []versionCase{
	{"no-version", 0, "00000000"}, {"lower-case", 0, "fffffffe"}, {"7-digits", 0, "FFFFFFF"}, {"9-digits", 0, "0FFFFFFFE"},
	{"not-hex", 0, "FFFFFFFG"}, {"plus-sign", 0, "+FFFFFFE"}, {"minus-sign", 0, "-0000001"}, {"prefix-0x", 0, "0xFFFFFF"},
	{"underscore", 0, "FF_FFFFE"}, {"space-before", 0, " FFFFFFE"}, {"extension", 0, "FFFFFFFE.json"}, {"empty", 0, ""},
}

const (
	sampleDir    = "sessions/year=2024/month=02/day=29/hour=23/00ABCDEF0123456789ABCDEF"
	sampleID     = "00073ea7" + sampleTail
	sampleDigest = "sha256:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"
)

var keyCases = []keyCase{
	{Case: "blob", Key: "objects/" + sampleDigest, Kind: "blob"},
	{Case: "manifest", Key: sampleDir + "/manifest.json", Kind: "manifest", Session: sampleID},
	{Case: "snapshot", Key: sampleDir + "/snapshots/FFFFFFFE.json", Kind: "snapshot", Session: sampleID, Version: 2},
	{Case: "memory", Key: "memories/user/FFFFFFFF.json", Kind: "memory", Namespace: "user", Version: 1},
	{Case: "memory-nested", Key: "memories/user/123/alice/FFFFFF00.json", Kind: "memory", Namespace: "user/123/alice", Version: 256},
	{Case: "memory-namespace-like-version", Key: "memories/FFFFFFFF/FFFFFFFE.json", Kind: "memory", Namespace: "FFFFFFFF", Version: 2},
	{Case: "ref", Key: "refs/main", Kind: "ref", Name: "main"},
	{Case: "ref-session", Key: "refs/sessions/daily", Kind: "ref", Name: "sessions/daily"},
	{Case: "foreign", Key: "data/report.csv", Kind: "foreign"},
	{Case: "foreign-no-slash", Key: "objects", Kind: "foreign"},
	{Case: "foreign-look-alike", Key: "objects2/" + sampleDigest, Kind: "foreign"},
	{Case: "foreign-upper-case", Key: "Refs/main", Kind: "foreign"},
	{Case: "blob-upper-case", Key: "objects/sha256:" + strings.ToUpper(sampleDigest[7:]), Kind: "misplaced"},
	{Case: "blob-no-algorithm", Key: "objects/" + sampleDigest[7:], Kind: "misplaced"},
	{Case: "blob-other-algorithm", Key: "objects/sha1:" + sampleDigest[7:], Kind: "misplaced"},
	{Case: "blob-63-digits", Key: "objects/" + sampleDigest[:70], Kind: "misplaced"},
	{Case: "blob-below-directory", Key: "objects/55/" + sampleDigest, Kind: "misplaced"},
	{Case: "snapshot-version-0", Key: sampleDir + "/snapshots/00000000.json", Kind: "misplaced"},
	{Case: "snapshot-lower-case", Key: sampleDir + "/snapshots/fffffffe.json", Kind: "misplaced"},
	{Case: "snapshot-no-extension", Key: sampleDir + "/snapshots/FFFFFFFE", Kind: "misplaced"},
	{Case: "snapshot-beside-manifest", Key: sampleDir + "/FFFFFFFE.json", Kind: "misplaced"},
	{Case: "session-lock", Key: sampleDir + "/lock", Kind: "misplaced"},
	{Case: "session-index", Key: "sessions/index.json", Kind: "misplaced"},
	{Case: "memory-no-namespace", Key: "memories/FFFFFFFF.json", Kind: "misplaced"},
	{Case: "memory-empty-segment", Key: "memories/user//FFFFFFFF.json", Kind: "misplaced"},
	{Case: "memory-lock", Key: "memories/user/lock", Kind: "misplaced"},
	{Case: "ref-too-deep", Key: "refs/sessions/daily/1", Kind: "misplaced"},
	{Case: "ref-empty", Key: "refs/", Kind: "misplaced"},
}
