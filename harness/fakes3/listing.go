package fakes3

import "strings"

// listing asks for one page of a bucket.
type listing struct {
	prefix    string
	delimiter string            // rolls up what it ends after the prefix; "" for none
	after     string            // list what comes after this key or group; "" for all
	max       int               // how many entries at most
	hide      func(string) bool // keys to leave out; nil for none
}

// page is what a listing found: keys and groups in ascending order of their bytes.
type page struct {
	entries   []entry
	truncated bool // there is more to come
}

// entry is a key with its object, or a group with none: a prefix up to and with a delimiter.
type entry struct {
	name   string
	object *object
}

// last returns the name after which the next page starts; "" for an empty page.
func (p *page) last() string {
	if len(p.entries) == 0 {
		return ""
	}
	return p.entries[len(p.entries)-1].name
}

// list finds one page in O(log n) for each group and O(1) for each key on it, wherever in the bucket it lies. The bucket
// is locked for reading.
func (b *bucket) list(q listing) page {
	var out page
	if q.max <= 0 {
		return out
	}
	objects := b.objects.Iter()
	for ok := objects.Seek(q.start()); ok; {
		key := objects.Key()
		if !strings.HasPrefix(key, q.prefix) {
			break
		}
		if q.hide != nil && q.hide(key) {
			ok = objects.Next()
			continue
		}
		if len(out.entries) == q.max {
			out.truncated = true
			break
		}
		if group, in := q.group(key); in {
			out.entries = append(out.entries, entry{name: group})
			after, more := pastPrefix(group)
			ok = more && objects.Seek(after)
			continue
		}
		out.entries = append(out.entries, entry{name: key, object: objects.Value()})
		ok = objects.Next()
	}
	return out
}

// group returns the group that a key with the prefix is rolled up into.
func (q *listing) group(key string) (group string, in bool) {
	if q.delimiter == "" {
		return "", false
	}
	i := strings.Index(key[len(q.prefix):], q.delimiter)
	if i < 0 {
		return "", false
	}
	return key[:len(q.prefix)+i+len(q.delimiter)], true
}

// start returns the least string that may be listed.
func (q *listing) start() string {
	if q.after == "" || q.after < q.prefix {
		return q.prefix
	}
	if strings.HasPrefix(q.after, q.prefix) {
		// A page that ends in a group, or a client that starts within one, goes on after all of it.
		if group, in := q.group(q.after); in {
			if past, ok := pastPrefix(group); ok {
				return past
			}
		}
	}
	return q.after + "\x00" // the very next string
}

// pastPrefix returns the least string above all that start with prefix; false if there is none.
func pastPrefix(prefix string) (string, bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1}), true
		}
	}
	return "", false
}
