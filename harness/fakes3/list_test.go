package fakes3_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// listed is the answer of either version.
type listed struct {
	XMLName                                  xml.Name `xml:"ListBucketResult"`
	Name, Prefix, Delimiter, EncodingType    string
	Marker, NextMarker, StartAfter           string
	ContinuationToken, NextContinuationToken string
	IsTruncated                              bool
	MaxKeys, KeyCount                        *int
	Contents                                 []struct {
		Key, ETag, LastModified, StorageClass string
		Size                                  int
		Owner                                 *struct{ ID string }
	}
	CommonPrefixes []struct{ Prefix string }
}

// names returns keys and groups in their order.
func (l listed) names() []string {
	var out []string
	for _, c := range l.Contents {
		out = append(out, c.Key)
	}
	for _, p := range l.CommonPrefixes {
		out = append(out, p.Prefix)
	}
	slices.Sort(out)
	return out
}

func list(t testing.TB, s *fakes3.Server, query url.Values) listed {
	t.Helper()
	rs, err := http.Get(s.Endpoint() + "/bucket?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	var out listed
	if err := xml.NewDecoder(rs.Body).Decode(&out); err != nil || rs.StatusCode != 200 {
		t.Fatalf("LIST %v: %d (%v)", query, rs.StatusCode, err)
	}
	_, _ = io.Copy(io.Discard, rs.Body) // so that the connection can be used again
	return out
}

// model is what a listing is by definition: everything after a name, rolled up, sorted.
func model(keys []string, prefix, delimiter, after string) []string {
	var out []string
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		name := key
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			name = prefix + rest[:i+len(delimiter)]
			if strings.HasPrefix(after, name) {
				continue // the group was begun already
			}
		}
		if name > after {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestListAgainstModel(t *testing.T) {
	s := start(t)
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range random.IntN(7) {
			b.WriteString([]string{"a", "b", "/", "--", "é", "\U0010ffff"}[random.IntN(6)])
		}
		return b.String()
	}
	var keys []string
	for len(keys) < 300 {
		if key := word(); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
			put(t, s, key)
		}
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, s.Keys(bucket, "")); diff != "" {
		t.Fatalf("Keys (-want +got):\n%s", diff)
	}
	for range 80 {
		prefix, after := word(), ""
		prefix = prefix[:len(prefix)/2]
		if random.IntN(2) == 0 {
			after = word()
		}
		delimiter := []string{"", "/", "--", "a/"}[random.IntN(4)]
		maxKeys := 1 + random.IntN(20)
		v2 := random.IntN(2) == 0
		what := fmt.Sprintf("prefix %q, delimiter %q, after %q, max-keys %d, version 2 %v", prefix, delimiter, after, maxKeys, v2)

		q := url.Values{"prefix": {prefix}, "delimiter": {delimiter}, "max-keys": {fmt.Sprint(maxKeys)}}
		if v2 {
			q.Set("list-type", "2")
			q.Set("start-after", after)
		} else {
			q.Set("marker", after)
		}
		want := model(keys, prefix, delimiter, after)
		var got []string
		for {
			page := list(t, s, q)
			names := page.names()
			if len(names) > maxKeys || page.IsTruncated && len(names) != maxKeys || v2 && *page.KeyCount != len(names) {
				t.Fatalf("%s: page of %d, truncated %v", what, len(names), page.IsTruncated)
			}
			got = append(got, names...)
			if page.IsTruncated != (len(got) < len(want)) {
				t.Fatalf("%s: truncated %v after %d of %d", what, page.IsTruncated, len(got), len(want))
			}
			if !page.IsTruncated {
				if page.NextContinuationToken != "" || page.NextMarker != "" {
					t.Errorf("%s: the last page names a next one", what)
				}
				break
			}
			switch {
			case v2:
				q.Set("continuation-token", page.NextContinuationToken)
			case delimiter != "":
				q.Set("marker", page.NextMarker)
			default:
				q.Set("marker", names[len(names)-1])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestListOfOneMatchIsNotTruncated(t *testing.T) {
	s := start(t)
	put(t, s, "a", "b", "c")
	out, err := sdk(t, s.Endpoint()).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: aws.String("b"), MaxKeys: aws.Int32(1)})
	if err != nil || len(out.Contents) != 1 || *out.IsTruncated || out.NextContinuationToken != nil || *out.KeyCount != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	r := last(t, s)
	if r.Op != fakes3.OpList || r.ListPrefix != "b" || r.MaxKeys != 1 || r.Took != fakes3.Applied {
		t.Errorf("recorded as %s", r.Detail())
	}
	raw(t, s, "GET", "/bucket", "")
	if r := last(t, s); r.MaxKeys != -1 {
		t.Errorf("absent max-keys is recorded as %d", r.MaxKeys)
	}
}

func TestListWithTheSDKPaginator(t *testing.T) {
	s := start(t)
	var keys []string
	for i := range 2345 {
		keys = append(keys, fmt.Sprintf("dir %d/é+%04d", i/1000, i))
	}
	put(t, s, keys...)
	pages := s3.NewListObjectsV2Paginator(sdk(t, s.Endpoint()), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)})
	var got []string
	n := 0
	for ; pages.HasMorePages(); n++ {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Contents {
			got = append(got, *c.Key)
		}
	}
	if diff := cmp.Diff(keys, got); diff != "" || n != 3 {
		t.Errorf("%d pages (-want +got):\n%s", n, diff)
	}
}

func TestListFields(t *testing.T) {
	s := start(t)
	put(t, s, "a b/c", "a b+&<d>", "ctrl\x01")
	etag := etagOf(t, s, "a b+&<d>")
	v1 := list(t, s, url.Values{"prefix": {"a b"}, "delimiter": {"/"}, "max-keys": {"2000"}, "encoding-type": {"url"}, "marker": {"a b"}})
	if v1.Name != bucket || v1.Prefix != "a%20b" || v1.Marker != "a%20b" || v1.Delimiter != "/" || v1.EncodingType != "url" || *v1.MaxKeys != 1000 || v1.KeyCount != nil {
		t.Errorf("version 1: %+v", v1)
	}
	if diff := cmp.Diff([]string{"a%20b%2B%26%3Cd%3E", "a%20b/"}, v1.names()); diff != "" {
		t.Errorf("version 1 (-want +got):\n%s", diff)
	}
	if c := v1.Contents[0]; c.ETag != etag || c.Size != 8 || c.StorageClass != "STANDARD" || c.Owner == nil || !strings.HasSuffix(c.LastModified, "Z") {
		t.Errorf("version 1: %+v", c)
	}
	v2 := list(t, s, url.Values{"list-type": {"2"}, "prefix": {"a b"}, "start-after": {"a b"}})
	if v2.StartAfter != "a b" || *v2.KeyCount != 2 || v2.Contents[0].Owner != nil || v2.Contents[0].Key != "a b+&<d>" {
		t.Errorf("version 2: %+v", v2)
	}
	if v2 := list(t, s, url.Values{"list-type": {"2"}, "prefix": {"a"}, "fetch-owner": {"true"}}); v2.Contents[0].Owner == nil {
		t.Error("fetch-owner is ignored")
	}
	if got := list(t, s, url.Values{"max-keys": {"0"}}); got.IsTruncated || len(got.names()) != 0 {
		t.Errorf("max-keys=0: %+v", got)
	}
	if got := raw(t, s, "GET", "/bucket?prefix=ctrl", ""); !strings.Contains(got.body, "<Key>ctrl&#x1;</Key>") {
		t.Errorf("a control character: %s", got.body)
	}
	if got := list(t, s, url.Values{"prefix": {"ctrl"}, "encoding-type": {"url"}}); got.Contents[0].Key != "ctrl%01" {
		t.Errorf("a control character: %+v", got)
	}
	for _, query := range []string{"max-keys=-1", "max-keys=x", "encoding-type=base64", "list-type=3", "list-type=2&continuation-token=", "list-type=2&continuation-token=%25", "%zz"} {
		wantReply(t, query, raw(t, s, "GET", "/bucket?"+query, ""), 400, "InvalidArgument")
	}
}

func TestListOfAnEmptyBucket(t *testing.T) {
	s := start(t)
	for _, target := range []string{"/bucket", "/bucket/", "/bucket?list-type=2&prefix=x&delimiter=/"} {
		var out listed
		if err := xml.Unmarshal([]byte(raw(t, s, "GET", target, "").body), &out); err != nil || out.IsTruncated || len(out.names()) != 0 {
			t.Errorf("%s: %+v, %v", target, out, err)
		}
	}
}

func TestHiddenKeys(t *testing.T) {
	s := start(t)
	put(t, s, "a", "g/1", "g/2", "h/1", "z")
	remove := s.Intercept(fakes3.OfOp(fakes3.OpList), func(_ context.Context, _ *fakes3.Request) fakes3.Decision {
		return fakes3.Hide(func(key string) bool { return key == "a" || key == "g/1" || strings.HasPrefix(key, "h/") })
	})
	if diff := cmp.Diff([]string{"g/2", "z"}, list(t, s, url.Values{"max-keys": {"2"}}).names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := list(t, s, url.Values{"delimiter": {"/"}, "max-keys": {"2"}}); got.IsTruncated || !slices.Equal(got.names(), []string{"g/", "z"}) {
		t.Errorf("%+v", got)
	}
	wantBody(t, s, "a", "a")
	if r := last(t, s); r.Fate != "stale listing" || r.Took != fakes3.Applied {
		t.Errorf("recorded as %v", r)
	}
	remove()
	if got := list(t, s, url.Values{}).names(); len(got) != 5 {
		t.Errorf("after the rule: %q", got)
	}
}
