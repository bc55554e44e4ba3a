package fakes3_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func TestChangesAreWhatTheTestDid(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := start(t)
	must(t, s.CreateBucket("other"))
	must(t, s.Put("bucket", "a", fakes3.Object{Body: []byte("1"), ContentType: "text/plain", Metadata: map[string]string{"k": "v"}}))
	_, err := s.PutIfAbsent("bucket", "a", fakes3.Object{Body: []byte("2")})
	must(t, err)
	_, err = s.PutIfAbsent("other", "b", fakes3.Object{Body: []byte("3")})
	must(t, err)
	must(t, s.Delete("bucket", "missing"))
	must(t, s.Delete("bucket", "a"))

	var got []string
	for _, c := range s.Changes() {
		got = append(got, fmt.Sprintf("%s/%s %v %s", c.Bucket, c.Key, c.Deleted, c.Object().Body))
	}
	if want := []string{"bucket/a false 1", "other/b false 3", "bucket/a true "}; !slices.Equal(got, want) {
		t.Errorf("changes are %q, want %q", got, want)
	}
	first := s.Changes()[0]
	if o := first.Object(); o.ContentType != "text/plain" || o.Metadata["k"] != "v" || first.At.IsZero() {
		t.Errorf("the first change is %+v of %+v", first, o)
	}
	if names := s.Buckets(); !slices.Equal(names, []string{"bucket", "other"}) {
		t.Errorf("buckets are %q", names)
	}
}
