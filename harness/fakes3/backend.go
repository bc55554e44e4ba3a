package fakes3

import (
	"bytes"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// backend is the store as gofakes3 sees it for one request. What gofakes3 does not hand on, such as conditions, it takes
// from the request; what is wrong it leaves with the request, whose answer it becomes.
type backend struct{ x *exchange }

var (
	_ gofakes3.Backend          = backend{}
	_ gofakes3.MultipartBackend = backend{}
)

func (b backend) ListBuckets() ([]gofakes3.BucketInfo, error) {
	s := b.x.server.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	b.x.applied = time.Now()
	var out []gofakes3.BucketInfo
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		out = append(out, gofakes3.BucketInfo{Name: name, CreationDate: gofakes3.NewContentTime(s.buckets[name].created)})
	}
	return out, nil
}

// ListBucket is never called: the server answers listings before gofakes3, which has no encoding-type. It would list
// the same.
func (b backend) ListBucket(name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	q := listing{after: page.Marker, max: int(page.MaxKeys)}
	if prefix != nil {
		q.prefix, q.delimiter = prefix.Prefix, prefix.Delimiter
	}
	out := gofakes3.NewObjectList()
	err := b.x.read(name, func(bk *bucket) error {
		found := bk.list(q)
		for _, e := range found.entries {
			if e.object == nil {
				out.AddPrefix(e.name)
				continue
			}
			out.Add(&gofakes3.Content{Key: e.name, LastModified: gofakes3.NewContentTime(e.object.modified),
				ETag: e.object.etag(), Size: int64(len(e.object.body))})
		}
		if out.IsTruncated = found.truncated; found.truncated {
			out.NextMarker = found.last()
		}
		return nil
	})
	return out, err
}

func (b backend) CreateBucket(name string) error {
	err := b.x.refuse(b.x.server.store.createBucket(name))
	if err == nil {
		b.x.applied = time.Now()
	}
	return err
}

func (b backend) BucketExists(name string) (bool, error) {
	err := b.x.refuse(b.x.server.store.read(name, func(*bucket) error { return nil }))
	if err == nil && b.x.record.Op == OpHeadBucket {
		b.x.applied = time.Now()
	}
	return err == nil, nil
}

func (b backend) DeleteBucket(name string) error {
	s := b.x.server.store
	return b.x.write(name, func(bk *bucket) error {
		if bk.objects.Len() > 0 {
			return &refusal{status: http.StatusConflict, code: "BucketNotEmpty", message: "there are objects in the bucket"}
		}
		delete(s.buckets, name)
		return nil
	})
}

// ForceDeleteBucket is never called: the header that asks for it is not passed on.
func (b backend) ForceDeleteBucket(name string) error {
	s := b.x.server.store
	return b.x.write(name, func(*bucket) error {
		delete(s.buckets, name)
		return nil
	})
}

// find looks an object up for a GET or HEAD, under the conditions of the request.
func (b backend) find(bucketName, key string) (*object, error) {
	var found *object
	err := b.x.read(bucketName, func(bk *bucket) error {
		o, ok := bk.objects.Get(key)
		if !ok {
			return noSuchKey(key)
		}
		if r := (conditions{header: b.x.http.Header}).forRead(o); r != nil {
			return r
		}
		found = o
		return nil
	})
	b.x.found = found
	return found, err
}

// forGofakes3 returns the object as gofakes3 wants it, with that part of the body.
func (o *object) forGofakes3(key string, body []byte, part *gofakes3.ObjectRange) *gofakes3.Object {
	header := maps.Clone(o.header)
	header["Last-Modified"] = o.modified.UTC().Format(http.TimeFormat)
	sum, _, _ := strings.Cut(strings.Trim(o.etag(), `"`), "-")
	hash, _ := hex.DecodeString(sum) // made by EncodeToString
	return &gofakes3.Object{
		Name: key, Metadata: header, Size: int64(len(o.body)), Hash: hash, Range: part,
		Contents: io.NopCloser(bytes.NewReader(body)),
	}
}

func (b backend) GetObject(bucketName, key string, want *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	o, err := b.find(bucketName, key)
	if err != nil {
		return nil, err
	}
	size := int64(len(o.body))
	if tag := b.x.http.Header.Get("If-Range"); tag != "" && !b.unchanged(tag, o) {
		want = nil
	}
	if want != nil && want.FromEnd {
		want = &gofakes3.ObjectRangeRequest{FromEnd: true, End: min(want.End, size)} // the last 100 of 3 bytes are these 3
	}
	part, err := want.Range(size)
	if err != nil {
		return nil, b.x.refuse(invalidRange())
	}
	body := o.body
	if part != nil {
		body = body[part.Start : part.Start+part.Length]
	}
	b.x.answer.lent = body
	return o.forGofakes3(key, body, part), nil
}

// unchanged tells whether an If-Range, which is an entity tag or a date, is still about this object.
func (b backend) unchanged(ifRange string, o *object) bool {
	if t, err := http.ParseTime(ifRange); err == nil {
		return o.modified.Truncate(time.Second).Equal(t)
	}
	return matchesETag(ifRange, o.etag())
}

func invalidRange() *refusal {
	return &refusal{status: http.StatusRequestedRangeNotSatisfiable, code: "InvalidRange", message: "the range lies outside the object"}
}

func (b backend) HeadObject(bucketName, key string) (*gofakes3.Object, error) {
	if b.x.record.Op == OpCopy { // gofakes3 asks before it copies; CopyObject looks for itself
		return &gofakes3.Object{Name: key, Contents: http.NoBody}, nil
	}
	o, err := b.find(bucketName, key)
	if err != nil {
		return nil, err
	}
	b.clampSuffix(int64(len(o.body)))
	return o.forGofakes3(key, nil, nil), nil
}

// clampSuffix shortens a Range such as bytes=-100 to the size of the object, in the header from which gofakes3 is about
// to read it.
func (b backend) clampSuffix(size int64) {
	digits, ok := strings.CutPrefix(b.x.plain.Header.Get("Range"), "bytes=-")
	if n, err := strconv.ParseInt(digits, 10, 64); ok && err == nil && n > size && size > 0 {
		b.x.plain.Header.Set("Range", "bytes=0-")
	}
}

func (b backend) DeleteObject(bucketName, key string) (gofakes3.ObjectDeleteResult, error) {
	err := b.x.write(bucketName, func(bk *bucket) error {
		o, _ := bk.objects.Get(key)
		if r := (conditions{header: b.x.http.Header}).forDelete(o); r != nil {
			return r
		}
		bk.objects.Delete(key)
		return nil
	})
	return gofakes3.ObjectDeleteResult{}, err
}

func (b backend) PutObject(bucketName, key string, _ map[string]string, _ io.Reader, _ int64, _ *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	var result gofakes3.PutObjectResult
	header, wrong := headersOf(b.x.http.Header)
	if wrong != nil {
		return result, b.x.refuse(wrong)
	}
	o := newObject(b.x.record.Body, header)
	if o.checksums = b.x.record.Checksums; len(o.checksums) > 0 {
		o.checksumType = fullObject
	}
	err := b.x.write(bucketName, func(bk *bucket) error {
		return b.store(bk, key, o)
	})
	if err == nil {
		b.x.found = o
		o.putChecksums(b.x.answer.header)
	}
	return result, err
}

// store puts o in its place if the conditions of the request allow. The bucket is locked for writing.
func (b backend) store(bk *bucket, key string, o *object) error {
	there, _ := bk.objects.Get(key)
	if r := (conditions{header: b.x.http.Header}).forWrite(key, there); r != nil {
		return r
	}
	bk.objects.Set(key, o)
	return nil
}

func (b backend) CopyObject(fromBucket, fromKey, toBucket, toKey string, _ map[string]string) (gofakes3.CopyObjectResult, error) {
	h := b.x.http.Header
	var result gofakes3.CopyObjectResult
	replace := strings.EqualFold(h.Get("X-Amz-Metadata-Directive"), "REPLACE")
	if fromBucket == toBucket && fromKey == toKey && !replace {
		return result, b.x.refuse(invalidRequest("copying an object onto itself without changing it"))
	}
	header, wrong := headersOf(h)
	if wrong != nil {
		return result, b.x.refuse(wrong)
	}
	err := b.x.write(toBucket, func(to *bucket) error {
		from := b.x.server.store.buckets[fromBucket] // one lock for all buckets
		if from == nil {
			return noSuchBucket(fromBucket)
		}
		source, ok := from.objects.Get(fromKey)
		if !ok {
			return noSuchKey(fromKey)
		}
		if r := (conditions{header: h, prefix: "X-Amz-Copy-Source-"}).forRead(source); r != nil {
			return preconditionFailed("x-amz-copy-source-if-…")
		}
		if !replace {
			header = source.header
		}
		o := newObject(source.body, header)
		if source.checksumType == fullObject { // a composite one is about the parts, which the copy has not
			o.checksums, o.checksumType = source.checksums, fullObject
		}
		result.ETag, result.LastModified = o.etag(), gofakes3.NewContentTime(o.modified)
		return b.store(to, toKey, o)
	})
	return result, err
}

func (b backend) DeleteMulti(bucketName string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	var result gofakes3.MultiDeleteResult
	err := b.x.write(bucketName, func(bk *bucket) error {
		for _, key := range keys {
			bk.objects.Delete(key)
			result.Deleted = append(result.Deleted, gofakes3.ObjectID{Key: key})
		}
		return nil
	})
	return result, err
}
