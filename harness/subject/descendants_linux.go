package subject

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A claim says which processes belong to a subject, or to a whole run.
type claim struct {
	scope string // the cookie
	sid   int    // Unix session, also the process group; 0 for a run
	since uint64 // start of the subject, in clock ticks since boot
}

// of completes the claim of the process that was just started.
func (c *claim) of(pid int) {
	c.sid = pid
	if s, err := readStat(pid); err == nil {
		c.since = s.start
	}
}

// stat is what is used of /proc/PID/stat.
type stat struct {
	pid, ppid, group, sid int
	state                 byte
	kernel                bool
	start                 uint64 // clock ticks since boot
}

func readStat(pid int) (stat, error) {
	var room [1024]byte // a line of 52 numbers and a name of at most 64 bytes
	b, err := readProcess(pid, "/stat", room[:])
	if err != nil {
		return stat{}, err
	}
	// The name, in parentheses, may hold spaces and parentheses itself.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat: %d fields after the name", pid, len(f))
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	const kernelThread = 0x00200000
	s := stat{pid: pid, state: f[0][0], ppid: num(1), group: num(2), sid: num(3), kernel: num(6)&kernelThread != 0}
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err
}

// readProcess reads a file of /proc/PID into b, as far as it fits. Package os would do
// twice the system calls, and Kill reads such a file for each process of the machine.
func readProcess(pid int, name string, b []byte) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + name
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	n := 0
	for n < len(b) {
		m, err := unix.Read(fd, b[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if m == 0 {
			break
		}
		n += m
	}
	return b[:n], nil
}

// gone tells whether only the entry in the process table is left.
func (s stat) gone() bool { return s.state == 'Z' || s.state == 'X' }

func allStats() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var l []stat
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if s, err := readStat(pid); err == nil { // else it has just ended
				l = append(l, s)
			}
		}
	}
	return l
}

// members returns the living processes that belong to the claim. Undecided is
// the number of processes whose environment could not be seen because they are
// just executing a program (or have none).
func (c *claim) members() (in []stat, undecided int) {
	alone, release := aloneWith(c.sid)
	defer release()
	all := allStats()
	reused := false // the number of the session belongs to another process by now
	for _, s := range all {
		if s.pid == c.sid && s.start != c.since {
			reused = true
		}
	}
	self := os.Getpid()
	found := map[int]bool{}
	var rest []stat
	for _, s := range all {
		if s.pid == self || s.gone() || s.kernel || s.start < c.since {
			continue
		}
		switch m := c.mark(s.pid); {
		case m == ours,
			c.sid != 0 && !reused && (s.sid == c.sid || s.group == c.sid),
			alone && m != others && s.ppid == self && s.pid != c.sid:
			found[s.pid] = true
			in = append(in, s)
		default:
			if m == unseen {
				undecided++
			}
			rest = append(rest, s)
		}
	}
	for more := true; more; {
		more = false
		for i, s := range rest {
			if s.pid != 0 && (found[s.ppid] || found[s.sid]) {
				found[s.pid], rest[i].pid, more = true, 0, true
				in = append(in, s)
			}
		}
	}
	return in, undecided
}

// mark is whose cookie a process carries.
type mark int

const (
	unmarked mark = iota // nobody's
	unseen               // its environment is empty, or hidden for the moment of an exec
	ours
	others
)

// mark reads the environment of a process. That of another user's process cannot be
// read, and is not ours.
func (c *claim) mark(pid int) mark {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return unmarked
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(CookieVariable+"=")); ok {
			if carries(string(v), c.scope) {
				return ours
			}
			return others
		}
	}
	if len(env) == 0 {
		return unseen
	}
	return unmarked
}

func commandLine(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/cmdline")
	if err != nil || len(b) == 0 {
		b, _ = os.ReadFile(dir + "/comm")
		return "[" + strings.TrimSpace(string(b)) + "]"
	}
	return string(bytes.ReplaceAll(bytes.TrimRight(b, "\x00"), []byte{0}, []byte{' '}))
}

const (
	// killPatience bounds the wait for killed processes; only one that is stuck
	// in the kernel takes longer than a moment.
	killPatience = 10 * time.Second

	// secondLooks are made, a millisecond apart, where processes were undecided.
	// The kernel shows no environment for some microseconds of an exec.
	secondLooks = 3
)

// kill ends everything that belongs to the claim until nothing is left, main
// first, which has been waited for when gone is closed. It returns a line for each
// process besides the main one.
func (c *claim) kill(main func(), gone <-chan struct{}) (lines []string) {
	type identity struct {
		pid   int
		start uint64
	}
	told := map[identity]bool{}
	looks := 0
	for deadline := time.Now().Add(killPatience); ; {
		if childless() {
			return lines
		}
		in, undecided := c.members()
		for _, s := range in {
			id := identity{s.pid, s.start}
			if !told[id] && s.pid != c.sid {
				lines = append(lines, fmt.Sprintf("%d %s", s.pid, commandLine(s.pid)))
			}
			told[id] = true
		}
		if main != nil {
			main()
		}
		var handles []unix.PollFd
		for _, s := range in {
			if fd := killOne(s); fd >= 0 {
				handles = append(handles, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
			}
		}
		if len(in) == 0 {
			if looks++; undecided == 0 || looks > secondLooks {
				return lines
			}
			time.Sleep(time.Millisecond)
			continue
		}
		awaitGone(handles, time.Until(deadline))
		if main != nil {
			select {
			case <-gone:
			case <-time.After(time.Until(deadline)):
			}
		}
		if time.Now().After(deadline) {
			for _, s := range in {
				lines = append(lines, fmt.Sprintf("%d %s (still there after SIGKILL)", s.pid, commandLine(s.pid)))
			}
			return lines
		}
	}
}

// killOne kills the process and returns a pidfd that becomes readable with its
// end, or -1. The second look at its start makes sure that the pid has not been
// given to another process in the meantime.
func killOne(s stat) int {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		if err != unix.ESRCH { // a kernel without pidfd
			_ = syscall.Kill(s.pid, syscall.SIGKILL)
		}
		return -1
	}
	if again, err := readStat(s.pid); err == nil && again.start == s.start {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	return fd
}

// awaitGone waits until all processes have ended, and closes their pidfds.
func awaitGone(handles []unix.PollFd, patience time.Duration) {
	deadline := time.Now().Add(patience)
	if len(handles) == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, h := range handles {
		one := []unix.PollFd{h}
		for {
			left := time.Until(deadline)
			if left <= 0 {
				break
			}
			if _, err := unix.Poll(one, int(left/time.Millisecond)+1); err != unix.EINTR {
				break
			}
		}
		_ = unix.Close(int(h.Fd))
	}
}

// signalGroup signals those who are left of the process group.
func (c *claim) signalGroup(sig syscall.Signal) error {
	in, _ := c.members()
	err := os.ErrProcessDone
	for _, s := range in {
		if s.group == c.sid {
			err = syscall.Kill(s.pid, sig)
		}
	}
	return err
}
