package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Exit statuses of a probe that was not told to exit.
const (
	ExitUsage   = 2
	ExitHubGone = 113 // the hub cannot be reached, or went away
)

// dialGrace bounds the connection to the hub, which listens on this machine.
const dialGrace = 10 * time.Second

// Main is the probe process: args are ADDRESS, TOKEN and whatever else the
// program that started it added. It returns the exit status; the caller exits
// with it at once, which also ends what Main leaves running.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) < 2 {
		fmt.Fprintln(stderr, "pugcheck probe: usage: pugcheck probe ADDRESS TOKEN [ARGUMENT…] (run by pugcheck itself)")
		return ExitUsage
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, reported()...)
	signal.Ignore(syscall.SIGPIPE) // a failed write is the answer to the act

	conn, err := net.DialTimeout("tcp", args[0], dialGrace)
	if err != nil {
		fmt.Fprintf(stderr, "pugcheck probe: cannot reach the scenario that plays this handler: %v\n", err)
		return ExitHubGone
	}
	p := &remote{conn: conn, stdin: stdin, fetches: map[uint32]context.CancelFunc{}}
	p.hello(args)
	go p.reportSignals(signals)
	if p.wakeR, p.wakeW, err = os.Pipe(); err != nil {
		fmt.Fprintf(stderr, "pugcheck probe: %v\n", err)
		return ExitHubGone
	}
	go p.readInput()
	out := p.stream(stdout)
	errs := p.stream(stderr)

	r := bufio.NewReaderSize(conn, inputPiece)
	for {
		f, err := readFrame(r)
		if err != nil {
			fmt.Fprintf(stderr, "pugcheck probe: the scenario that plays this handler is gone (%s)\n", args[0])
			return ExitHubGone
		}
		switch f.kind {
		case kindWrite, kindCloseOutput:
			out <- f
		case kindWriteStderr:
			errs <- f
		case kindCloseInput:
			p.closeInput(f.id)
		case kindFetch:
			p.startFetch(f)
		case kindCancelFetch:
			p.cancelFetch(f.id)
		case kindExit:
			u := unpacker{b: f.payload}
			return int(u.num())
		case kindDie:
			u := unpacker{b: f.payload}
			p.answer(f.id, die(syscall.Signal(u.num())))
		}
	}
}

// remote is the probe's end of the connection.
type remote struct {
	conn   net.Conn
	sendMu sync.Mutex

	stdin        *os.File
	wakeR, wakeW *os.File // wakes readInput for closeInput

	mu      sync.Mutex
	closing []uint32 // numbers of closeInput requests to answer
	closed  bool     // readInput has closed standard input
	fetches map[uint32]context.CancelFunc
}

// send gives up silently: the loop in Main notices a lost hub.
func (p *remote) send(frame []byte) {
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	_, _ = p.conn.Write(frame)
}

func (p *remote) answer(id uint32, err error) {
	var pk packer
	var errno syscall.Errno
	text := ""
	if err != nil {
		errors.As(err, &errno)
		if text = err.Error(); text == "" {
			text = "unknown error"
		}
	}
	pk.num(int64(errno))
	pk.str(text)
	p.send(appendFrame(kindDone, id, pk.b))
}

func (p *remote) hello(args []string) {
	dir, err := syscall.Getwd() // not os.Getwd, which believes $PWD
	if err != nil {
		dir = ""
	}
	var pk packer
	pk.str(args[1])
	pk.str(dir)
	pk.strs(args[2:])
	pk.strs(environment())
	pk.num(int64(os.Getpid()))
	p.send(appendFrame(kindHello, 0, pk.b))
}

func (p *remote) reportSignals(signals <-chan os.Signal) {
	for s := range signals {
		p.send(appendFrame(kindSignal, 0, []byte(signalName(s.(syscall.Signal)))))
	}
}

// stream starts the writer of one output and returns where its frames go. The
// hub sends the next frame of a stream after the answer to the last, so that
// the loop in Main never waits here.
func (p *remote) stream(f *os.File) chan<- frame {
	frames := make(chan frame, 4)
	go func() {
		for fr := range frames {
			if fr.kind == kindCloseOutput {
				p.answer(fr.id, f.Close())
				continue
			}
			_, err := f.Write(fr.payload)
			p.answer(fr.id, err)
		}
	}()
	return frames
}

func (p *remote) startFetch(f frame) {
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.fetches[f.id] = cancel
	p.mu.Unlock()
	go func() {
		defer p.cancelFetch(f.id)
		r, err := unpackFetchRequest(f.payload)
		res := FetchResult{}
		if err != nil {
			res.Err = err.Error()
		} else {
			res = doFetch(ctx, r)
		}
		p.send(appendFrame(kindFetched, f.id, res.pack()))
	}()
}

func (p *remote) cancelFetch(id uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.fetches[id]; cancel != nil {
		cancel()
		delete(p.fetches, id)
	}
}
