package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

type kind byte

const (
	// From the probe.
	kindHello    kind = 1 + iota // token, dir, args, env, pid
	kindInput                    // time, bytes read from standard input
	kindInputEnd                 // time, error text (empty: regular end)
	kindSignal                   // name of a caught signal
	kindDone                     // answer: error number (0: none known), error text (empty: done)
	kindFetched                  // answer: result of a fetch

	// From the hub.
	kindWrite       kind = 64 + iota // bytes for standard output
	kindWriteStderr                  // bytes for standard error
	kindCloseOutput                  //
	kindCloseInput                   //
	kindFetch                        // a request
	kindCancelFetch                  // number is that of the fetch
	kindExit                         // status
	kindDie                          // signal number
)

const (
	frameHead  = 9 // length, kind, number
	maxFrame   = FetchLimit + 16<<20
	writePiece = 1 << 20 // bytes of output on their way to a probe at most
	inputPiece = 64 << 10
)

var errFrame = errors.New("malformed frame")

type frame struct {
	kind    kind
	id      uint32
	payload []byte
}

// putHead fills the first frameHead bytes of b, which holds a whole frame.
func putHead(b []byte, k kind, id uint32) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	b[4] = byte(k)
	binary.BigEndian.PutUint32(b[5:], id)
}

func appendFrame(k kind, id uint32, payload []byte) []byte {
	b := make([]byte, frameHead, frameHead+len(payload))
	b = append(b, payload...)
	putHead(b, k, id)
	return b
}

func readFrame(r io.Reader) (frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < frameHead-4 || n > maxFrame {
		return frame{}, fmt.Errorf("%w: length %d", errFrame, n)
	}
	f := frame{kind: kind(head[4]), id: binary.BigEndian.Uint32(head[5:])}
	f.payload = make([]byte, n-(frameHead-4))
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return frame{}, err
	}
	return f, nil
}

// A packer appends the values of a payload; an unpacker takes them off in the
// same order. Strings and lists are preceded by their length as a varint, so any
// byte may occur in them.
type packer struct{ b []byte }

func (p *packer) num(n int64)    { p.b = binary.AppendVarint(p.b, n) }
func (p *packer) bytes(s []byte) { p.num(int64(len(s))); p.b = append(p.b, s...) }
func (p *packer) str(s string)   { p.num(int64(len(s))); p.b = append(p.b, s...) }

func (p *packer) strs(l []string) {
	p.num(int64(len(l)))
	for _, s := range l {
		p.str(s)
	}
}

type unpacker struct {
	b   []byte
	err error
}

func (u *unpacker) num() int64 {
	n, w := binary.Varint(u.b)
	if w <= 0 {
		u.err = errFrame
		u.b = nil
		return 0
	}
	u.b = u.b[w:]
	return n
}

func (u *unpacker) bytes() []byte {
	n := u.num()
	if n < 0 || n > int64(len(u.b)) {
		u.err = errFrame
		u.b = nil
		return nil
	}
	s := u.b[:n:n]
	u.b = u.b[n:]
	return s
}

func (u *unpacker) str() string { return string(u.bytes()) }

func (u *unpacker) strs() []string {
	n := u.num()
	if n < 0 || n > int64(len(u.b)) { // each takes at least its length byte
		u.err = errFrame
		return nil
	}
	l := make([]string, 0, n)
	for range n {
		l = append(l, u.str())
	}
	return l
}

// Moments are sent as nanoseconds since 1970: both ends read the same clock.
const momentSize = 8

func putMoment(b []byte, t time.Time) { binary.BigEndian.PutUint64(b, uint64(t.UnixNano())) }

func takeMoment(b []byte) (time.Time, []byte, error) {
	if len(b) < momentSize {
		return time.Time{}, nil, errFrame
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b))), b[momentSize:], nil
}
