package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
)

// process is the hub's end of the connection to a probe.
type process struct {
	conn net.Conn
	inv  *Invocation

	sendMu sync.Mutex

	mu      sync.Mutex
	id      uint32
	waiting map[uint32]chan frame // for answers; each holds one
}

// A RemoteError is what went wrong with an act at the remote side. Where it was
// a system call, errors.Is finds its number: syscall.EPIPE after a write to an
// output that nobody reads any more.
type RemoteError struct {
	Act   string
	Text  string
	Errno syscall.Errno // 0 if not known
}

func (e *RemoteError) Error() string { return e.Act + " in the probe: " + e.Text }

func (e *RemoteError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// receive handles frames until the connection ends.
func (p *process) receive(r io.Reader) {
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		switch f.kind {
		case kindInput, kindInputEnd:
			at, rest, err := takeMoment(f.payload)
			switch {
			case err != nil:
				return
			case f.kind == kindInput:
				p.inv.in.add(at, rest)
			case len(rest) == 0:
				p.inv.in.end(at, io.EOF)
			default:
				p.inv.in.end(at, &RemoteError{Act: "reading standard input", Text: string(rest)})
			}
		case kindSignal:
			p.inv.caught(string(f.payload))
		case kindDone, kindFetched:
			p.mu.Lock()
			ch := p.waiting[f.id]
			delete(p.waiting, f.id)
			p.mu.Unlock()
			if ch != nil {
				ch <- f
			}
		}
	}
}

func (p *process) send(k kind, id uint32, payload []byte) error {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	if _, err := p.conn.Write(appendFrame(k, id, payload)); err != nil {
		return ErrGone
	}
	return nil
}

// call sends a frame and waits for its answer.
func (p *process) call(ctx context.Context, k kind, payload []byte) (frame, error) {
	if p.inv.Gone() {
		return frame{}, ErrGone
	}
	answer := make(chan frame, 1)
	p.mu.Lock()
	p.id++
	id := p.id
	p.waiting[id] = answer
	p.mu.Unlock()
	if err := p.send(k, id, payload); err != nil {
		return frame{}, err
	}
	select {
	case f := <-answer:
		return f, nil
	case <-p.inv.done:
		select { // the answer may have come just before the end
		case f := <-answer:
			return f, nil
		default:
			return frame{}, ErrGone
		}
	case <-ctx.Done():
		if k == kindFetch {
			_ = p.send(kindCancelFetch, id, nil)
		}
		return frame{}, ctx.Err()
	}
}

// do makes an act whose answer is only whether it succeeded.
func (p *process) do(act string, k kind, payload []byte) error {
	f, err := p.call(context.Background(), k, payload)
	if err != nil {
		return err
	}
	u := unpacker{b: f.payload}
	errno, text := u.num(), u.str()
	if u.err != nil {
		return fmt.Errorf("%s: answer of the probe: %w", act, u.err)
	}
	if text != "" {
		return &RemoteError{Act: act, Text: text, Errno: syscall.Errno(errno)}
	}
	return nil
}

func (p *process) pieces(act string, k kind, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writePiece)
		if err := p.do(act, k, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (p *process) write(b []byte) error {
	return p.pieces("writing to standard output", kindWrite, b)
}

func (p *process) writeStderr(b []byte) error {
	return p.pieces("writing to standard error", kindWriteStderr, b)
}

func (p *process) closeOutput() error {
	return p.do("closing standard output", kindCloseOutput, nil)
}

func (p *process) closeInput() error {
	return p.do("closing standard input", kindCloseInput, nil)
}

func (p *process) fetch(ctx context.Context, r FetchRequest) (FetchResult, error) {
	f, err := p.call(ctx, kindFetch, r.pack())
	if err != nil {
		return FetchResult{}, err
	}
	res, err := unpackFetchResult(f.payload)
	if err != nil {
		return FetchResult{}, fmt.Errorf("fetching %s: answer of the probe: %w", r.URL, err)
	}
	return res, nil
}

func (p *process) exit(code int) error {
	if p.inv.Gone() {
		return ErrGone
	}
	var pk packer
	pk.num(int64(code))
	if err := p.send(kindExit, 0, pk.b); err != nil {
		return err
	}
	<-p.inv.done
	return nil
}

func (p *process) die(sig syscall.Signal) error {
	var pk packer
	pk.num(int64(sig))
	// The answer of a process that died is the end of the connection.
	gone := p.inv.Gone()
	err := p.do(fmt.Sprintf("dying by signal %d", int(sig)), kindDie, pk.b)
	if err == ErrGone && !gone {
		return nil
	}
	return err
}
