package store

import "strings"

// Pager builds a Page out of keys offered in ascending order, for backends that walk their keys themselves.
type Pager struct {
	prefix    string
	delimiter string
	from      string // keys and groups up to here are on earlier pages, or excluded by After
	room      int
	page      Page
	last      string
}

// defaultPage is how many entries a page has where the caller names no limit.
const defaultPage = 1000

// NewPager starts the page of one List call.
func NewPager(prefix string, options ListOptions) *Pager {
	room := options.Max
	if room <= 0 {
		room = defaultPage
	}
	return &Pager{
		prefix:    prefix,
		delimiter: options.Delimiter,
		from:      max(options.After, options.Token),
		room:      room,
	}
}

// Start is a key from which on offering is worthwhile; smaller ones are ignored.
func (p *Pager) Start() string { return max(p.prefix, p.from) }

// Offer takes the next key. It gives false when the page is complete. Otherwise next, where it is not empty, is a key
// before which all further ones would be ignored, so that the walk may jump there.
func (p *Pager) Offer(key string) (next string, more bool) {
	if !strings.HasPrefix(key, p.prefix) {
		return "", key < p.prefix
	}
	if p.delimiter != "" {
		if i := strings.Index(key[len(p.prefix):], p.delimiter); i >= 0 {
			return p.offerGroup(key[:len(p.prefix)+i+len(p.delimiter)])
		}
	}
	if key <= p.from {
		return "", true
	}
	if !p.take(key) {
		return "", false
	}
	p.page.Keys = append(p.page.Keys, key)
	return "", true
}

func (p *Pager) offerGroup(group string) (next string, more bool) {
	next = after(group)
	if group == p.last || group <= p.from {
		return next, true
	}
	if !p.take(group) {
		return "", false
	}
	p.page.Prefixes = append(p.page.Prefixes, group)
	return next, true
}

func (p *Pager) take(entry string) bool {
	if p.room == 0 {
		p.page.Next = p.last
		return false
	}
	p.room--
	p.last = entry
	return true
}

// Page gives the finished page.
func (p *Pager) Page() Page { return p.page }

// after gives the least string that is greater than every string with the prefix, "" where there is none.
func after(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 {
		if b[len(b)-1] < 0xff {
			b[len(b)-1]++
			return string(b)
		}
		b = b[:len(b)-1]
	}
	return ""
}
