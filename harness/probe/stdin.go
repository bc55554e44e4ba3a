package probe

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readInput passes standard input on until it ends or is closed. It waits in
// poll rather than in read: a pipe stays open for its writer while a read of it
// is under way, whoever closes the descriptor.
func (p *remote) readInput() {
	buf := make([]byte, frameHead+momentSize+inputPiece)
	fd, wake := descriptor(p.stdin), descriptor(p.wakeR)
	ended := false
	for {
		polled := []unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}, {Fd: int32(fd), Events: unix.POLLIN}}
		if ended {
			polled = polled[:1]
		}
		if _, err := unix.Poll(polled, -1); err != nil && err != syscall.EINTR {
			p.endInput(err)
			ended = true
			continue
		}
		if polled[0].Revents != 0 {
			p.finishClose()
			return
		}
		if ended || polled[1].Revents == 0 {
			continue
		}
		n, err := syscall.Read(fd, buf[frameHead+momentSize:])
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
		case err != nil:
			p.endInput(err)
			ended = true
		case n == 0:
			p.endInput(io.EOF)
			ended = true
		default:
			b := buf[:frameHead+momentSize+n]
			putHead(b, kindInput, 0)
			putMoment(b[frameHead:], time.Now())
			p.send(b)
		}
	}
}

// endInput reports the end; io.EOF is the regular one.
func (p *remote) endInput(err error) {
	b := make([]byte, momentSize)
	putMoment(b, time.Now())
	if err != io.EOF {
		b = append(b, err.Error()...)
	}
	p.send(appendFrame(kindInputEnd, 0, b))
}

// closeInput asks readInput to close standard input and to answer the request.
func (p *remote) closeInput(id uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.answer(id, os.ErrClosed)
		return
	}
	p.closing = append(p.closing, id)
	_, _ = p.wakeW.Write([]byte{0})
}

func (p *remote) finishClose() {
	err := p.stdin.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, id := range p.closing {
		p.answer(id, err)
	}
}

// descriptor is f.Fd without its side effect on the blocking mode, which f may
// share with other processes.
func descriptor(f *os.File) int {
	fd := -1
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(n uintptr) { fd = int(n) })
	}
	return fd
}
