package fakes3

import (
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// How a checksum of a multipart object comes about: over its bytes, or over the checksums of its parts.
const (
	fullObject = "FULL_OBJECT"
	composite  = "COMPOSITE"
)

// minPart is how many bytes each part but the last must have.
const minPart = 5 << 20

// upload is a multipart upload that is neither completed nor aborted. It lives in its bucket, under the lock of the store.
type upload struct {
	id        gofakes3.UploadID
	key       string
	header    map[string]string // for the object, as in there
	algorithm string            // of the checksums that the parts must have; "" for none
	sumType   string            // fullObject or composite; "" without algorithm
	parts     map[int]*part
	initiated time.Time
}

type part struct {
	body      []byte
	etag      string // quoted
	checksums map[string]string
	modified  time.Time
}

func (b backend) CreateMultipartUpload(bucketName, key string, _ map[string]string) (gofakes3.UploadID, error) {
	h := b.x.http.Header
	header, wrong := headersOf(h)
	if wrong != nil {
		return "", b.x.refuse(wrong)
	}
	u := &upload{
		id: gofakes3.UploadID(fmt.Sprintf("upload-%d", b.x.record.N)), key: key, header: header,
		parts: map[int]*part{}, initiated: time.Now(),
		algorithm: strings.ToLower(h.Get("X-Amz-Checksum-Algorithm")),
		sumType:   h.Get("X-Amz-Checksum-Type"),
	}
	if wrong := u.chooseSumType(); wrong != nil {
		return "", b.x.refuse(wrong)
	}
	err := b.x.write(bucketName, func(bk *bucket) error {
		bk.uploads[u.id] = u
		return nil
	})
	if u.algorithm != "" {
		b.x.answer.header.Set("X-Amz-Checksum-Algorithm", strings.ToUpper(u.algorithm))
		b.x.answer.header.Set("X-Amz-Checksum-Type", u.sumType)
	}
	return u.id, err
}

// chooseSumType checks the algorithm and fills in the default of sumType.
func (u *upload) chooseSumType() *refusal {
	linear := strings.HasPrefix(u.algorithm, "crc")
	switch {
	case u.algorithm == "" && u.sumType != "":
		return invalidRequest("x-amz-checksum-type without x-amz-checksum-algorithm")
	case u.algorithm == "":
		return nil
	case newHash(u.algorithm) == nil:
		return notImplemented("the checksum algorithm " + u.algorithm)
	}
	if u.sumType == "" {
		u.sumType = composite
		if u.algorithm == "crc64nvme" {
			u.sumType = fullObject
		}
	}
	switch {
	case u.sumType != fullObject && u.sumType != composite,
		u.sumType == fullObject && !linear,
		u.sumType == composite && u.algorithm == "crc64nvme":
		return invalidRequest("there is no " + u.sumType + " checksum of " + u.algorithm)
	}
	return nil
}

// upload finds an upload of a key. The bucket is locked.
func (bk *bucket) upload(key string, id gofakes3.UploadID) (*upload, error) {
	if u := bk.uploads[id]; u != nil && u.key == key {
		return u, nil
	}
	return nil, &refusal{status: http.StatusNotFound, code: "NoSuchUpload", message: "there is no upload " + strconv.Quote(string(id)) + " of this key"}
}

func (b backend) UploadPart(bucketName, key string, id gofakes3.UploadID, number int, _ int64, _ io.Reader) (etag string, err error) {
	sum := md5.Sum(b.x.record.Body)
	p := &part{
		body: b.x.record.Body, etag: `"` + hex.EncodeToString(sum[:]) + `"`,
		checksums: b.x.record.Checksums, modified: time.Now(),
	}
	err = b.x.write(bucketName, func(bk *bucket) error {
		u, err := bk.upload(key, id)
		if err != nil {
			return err
		}
		if _, ok := p.checksums[u.algorithm]; u.algorithm != "" && !ok {
			return invalidRequest("the upload wants parts with a checksum of " + u.algorithm)
		}
		u.parts[number] = p
		return nil
	})
	for algorithm, sum := range p.checksums {
		b.x.answer.header.Set(checksumPrefix+algorithm, sum)
	}
	return p.etag, err
}

func (b backend) AbortMultipartUpload(bucketName, key string, id gofakes3.UploadID) error {
	return b.x.write(bucketName, func(bk *bucket) error {
		if _, err := bk.upload(key, id); err != nil {
			return err
		}
		delete(bk.uploads, id)
		return nil
	})
}

func (b backend) ListParts(bucketName, key string, id gofakes3.UploadID, marker int, limit int64) (*gofakes3.ListMultipartUploadPartsResult, error) {
	out := &gofakes3.ListMultipartUploadPartsResult{
		Bucket: bucketName, Key: key, UploadID: id, PartNumberMarker: marker, MaxParts: limit,
	}
	err := b.x.read(bucketName, func(bk *bucket) error {
		u, err := bk.upload(key, id)
		if err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(u.parts)) {
			if n <= marker {
				continue
			}
			if int64(len(out.Parts)) == limit {
				out.IsTruncated = true
				break
			}
			p := u.parts[n]
			out.Parts = append(out.Parts, gofakes3.ListMultipartUploadPartItem{
				PartNumber: n, ETag: p.etag, Size: int64(len(p.body)), LastModified: gofakes3.NewContentTime(p.modified),
			})
			out.NextPartNumberMarker = n
		}
		return nil
	})
	return out, err
}

func (b backend) ListMultipartUploads(bucketName string, marker *gofakes3.UploadListMarker, prefix gofakes3.Prefix, limit int64) (*gofakes3.ListMultipartUploadsResult, error) {
	out := &gofakes3.ListMultipartUploadsResult{Bucket: bucketName, Prefix: prefix.Prefix, MaxUploads: limit}
	if marker == nil {
		marker = &gofakes3.UploadListMarker{}
	}
	out.KeyMarker, out.UploadIDMarker = marker.Object, marker.UploadID
	err := b.x.read(bucketName, func(bk *bucket) error {
		all := slices.SortedFunc(maps.Values(bk.uploads), func(u, v *upload) int {
			return cmp.Or(cmp.Compare(u.key, v.key), u.initiated.Compare(v.initiated))
		})
		past := false // the upload that the marker names
		for _, u := range all {
			switch {
			case !strings.HasPrefix(u.key, prefix.Prefix), u.key < marker.Object:
				continue
			case u.key == marker.Object && marker.Object != "":
				if marker.UploadID == "" || !past {
					past = past || u.id == marker.UploadID
					continue
				}
			}
			if int64(len(out.Uploads)) == limit {
				out.IsTruncated = true
				break
			}
			out.Uploads = append(out.Uploads, gofakes3.ListMultipartUploadItem{
				Key: u.key, UploadID: u.id, Initiated: gofakes3.NewContentTime(u.initiated),
			})
			out.NextKeyMarker, out.NextUploadIDMarker = u.key, u.id
		}
		if !out.IsTruncated {
			out.NextKeyMarker, out.NextUploadIDMarker = "", ""
		}
		return nil
	})
	return out, err
}

// completion is the body of a CompleteMultipartUpload.
type completion struct {
	Parts []completedPart `xml:"Part"`
}

type completedPart struct {
	PartNumber int
	ETag       string
	Rest       []struct {
		XMLName xml.Name
		Text    string `xml:",chardata"`
	} `xml:",any"`
}

// checksums returns those of the part, by lower-case algorithm.
func (p *completedPart) checksums() map[string]string {
	sums := map[string]string{}
	for _, e := range p.Rest {
		if algorithm, ok := strings.CutPrefix(e.XMLName.Local, "Checksum"); ok {
			sums[strings.ToLower(algorithm)] = e.Text
		}
	}
	return sums
}

func (b backend) CompleteMultipartUpload(bucketName, key string, id gofakes3.UploadID, _ *gofakes3.CompleteMultipartUploadRequest) (gofakes3.VersionID, string, error) {
	var in completion
	if err := xml.Unmarshal(b.x.record.Body, &in); err != nil {
		return "", "", b.x.refuse(malformedXML(err))
	}
	var made *object
	err := b.x.write(bucketName, func(bk *bucket) error {
		u, err := bk.upload(key, id)
		if err != nil {
			return err
		}
		o, wrong := u.assemble(in.Parts)
		if wrong == nil {
			wrong = b.checkWhole(u, o)
		}
		if wrong != nil {
			return wrong
		}
		if err := b.store(bk, key, o); err != nil {
			return err
		}
		delete(bk.uploads, id)
		made = o
		return nil
	})
	if err != nil {
		return "", "", err
	}
	return "", made.etag(), nil
}

// assemble makes the object of the parts that the client names.
func (u *upload) assemble(named []completedPart) (*object, *refusal) {
	if len(named) == 0 {
		return nil, malformedXML(errors.New("no parts"))
	}
	for i, c := range named[1:] {
		if c.PartNumber <= named[i].PartNumber {
			return nil, &refusal{status: http.StatusBadRequest, code: "InvalidPartOrder", message: "the parts are not in ascending order"}
		}
	}
	var body, sums, digests []byte
	for i, c := range named {
		p := u.parts[c.PartNumber]
		if p == nil || !matchesETag(c.ETag, p.etag) {
			return nil, invalidPart(c.PartNumber, "was not uploaded, or not with this ETag")
		}
		for algorithm, sum := range c.checksums() {
			if p.checksums[algorithm] != sum {
				return nil, invalidPart(c.PartNumber, "was not uploaded with this checksum of "+algorithm)
			}
		}
		if len(p.body) < minPart && i < len(named)-1 {
			return nil, &refusal{status: http.StatusBadRequest, code: "EntityTooSmall", message: "a part that is not the last has less than 5 MiB"}
		}
		body = append(body, p.body...)
		digest, _ := hex.DecodeString(strings.Trim(p.etag, `"`)) // both checked or made when the part came
		sum, _ := base64.StdEncoding.DecodeString(p.checksums[u.algorithm])
		digests, sums = append(digests, digest...), append(sums, sum...)
	}
	o := newObject(body, u.header)
	o.setTag(fmt.Sprintf(`"%x-%d"`, md5.Sum(digests), len(named)))
	switch o.checksumType = u.sumType; u.sumType {
	case fullObject:
		o.checksums = map[string]string{u.algorithm: sumOf(u.algorithm, body)}
	case composite:
		o.checksums = map[string]string{u.algorithm: fmt.Sprintf("%s-%d", sumOf(u.algorithm, sums), len(named))}
	}
	return o, nil
}

func invalidPart(number int, what string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "InvalidPart", message: fmt.Sprintf("part %d %s", number, what)}
}

// checkWhole holds the object against what the client says of it as a whole.
func (b backend) checkWhole(u *upload, o *object) *refusal {
	h := b.x.http.Header
	if size := h.Get("X-Amz-Mp-Object-Size"); size != "" && size != strconv.Itoa(len(o.body)) {
		return invalidRequest("the parts make " + strconv.Itoa(len(o.body)) + " bytes, not " + size)
	}
	if sumType := h.Get("X-Amz-Checksum-Type"); sumType != "" && sumType != u.sumType {
		return invalidRequest("the upload was not begun with a checksum of type " + sumType)
	}
	for algorithm, sum := range b.x.record.Checksums {
		if algorithm != u.algorithm {
			return invalidRequest("the upload was not begun with checksums of " + algorithm)
		}
		whole := o.checksums[algorithm]
		if bare, _, _ := strings.Cut(whole, "-"); sum != whole && sum != bare { // some clients leave out the number of parts
			return badDigest("x-amz-checksum-" + algorithm)
		}
	}
	return nil
}
