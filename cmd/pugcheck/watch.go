package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/watch"
)

// rerunFlags are the flags of a suite that can be run again and again, as given.
type rerunFlags struct {
	on    bool
	files []string
}

func (w *rerunFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&w.on, "watch", false, "run again whenever a file changes, and show what that changed")
	flags.StringArrayVar(&w.files, "watch-file", nil, "watch `GLOB` too (quoted; ** for any depth): files, or all files below a directory; repeatable; implies --watch")
}

// reruns are a suite that is run again whenever files change.
type reruns struct {
	prepare func() (*judgement, error)
	named   func(*judgement) []string // the files that a judgement depends on, as far as it knows
	further []string                  // patterns of others
	targets []report.Target

	seed     uint64          // of all runs, lest the difference be that of chance
	last     *report.Result  // of the last complete run
	watched  []string        // patterns
	changes  <-chan []string // what changed
	unfollow func()          // ends the watch
}

// judgeWatching judges, and judges anew whenever a file changes. It ends with the first
// interrupt, with the status of the last run that came to its end.
func judgeWatching(f suiteFlags, w rerunFlags, prepare func() (*judgement, error), named func(*judgement) []string) error {
	targets, err := report.ParseTargets(f.reports)
	if err != nil {
		return usageError(err)
	}
	for _, t := range targets {
		if t.Path == "-" {
			return usageError(errors.New("--watch: a report on standard output would be one of many; write it to a file"))
		}
	}
	s := &reruns{named: named, further: w.files, targets: targets}
	s.prepare = func() (*judgement, error) {
		j, err := prepare()
		if err != nil {
			return nil, err
		}
		return j, j.knownFailures()
	}
	j, err := s.prepare()
	if err != nil {
		return usageError(err)
	}
	if err := j.startable(); err != nil {
		return err
	}
	s.seed = j.seed
	ctx, stop := interruptible()
	defer stop()
	if err := s.watch(ctx, j); err != nil {
		return usageError(err)
	}
	defer func() { s.unfollow() }()
	return s.loop(ctx, j)
}

// loop runs judgements until the context ends, the first of which is there already.
func (s *reruns) loop(ctx context.Context, j *judgement) error {
	var because []string
	for {
		if j != nil {
			changed, err := s.once(ctx, j, because)
			if err != nil || ctx.Err() != nil {
				return cmp.Or(err, s.status())
			}
			because = changed
		}
		if len(because) == 0 {
			fmt.Fprintf(os.Stderr, "watching %s (Ctrl-C ends)\n", enumerated(s.watched))
			select {
			case <-ctx.Done():
				return s.status()
			case changed, open := <-s.changes:
				if !open {
					return &exitError{exitTrouble, errors.New("the files cannot be watched any more")}
				}
				because = changed
			}
		}
		j = s.anew(ctx)
		if j == nil {
			because = nil // told; the next change may mend it
		}
	}
}

// status is what the last complete run leads to. Without any there is no statement.
func (s *reruns) status() error {
	if s.last == nil {
		return &exitError{exitTrouble, nil}
	}
	return statusOf(s.last)
}

// once makes one run and tells of it. A change ends it before its end: then it returns
// what changed, and nothing is told.
func (s *reruns) once(ctx context.Context, j *judgement, because []string) ([]string, error) {
	type ended struct {
		result  *report.Result
		outcome runner.Result
		err     error
	}
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	kept := s.targets
	if s.last != nil {
		kept = nil // a run that another one takes the place of leaves the reports as they are
	}
	done := make(chan ended, 1)
	go func() {
		result, outcome, err := j.run(run, kept)
		done <- ended{result, outcome, err}
	}()
	select {
	case changed, open := <-s.changes:
		if open {
			end(fmt.Errorf("%w (%s)", errChanged, enumerated(changed)))
			<-done
			return changed, nil
		}
		end(nil)
		<-done
		return nil, &exitError{exitTrouble, errors.New("the files cannot be watched any more")}
	case r := <-done:
		if r.err != nil && r.result != nil { // something could not be kept, and all is known nevertheless
			fmt.Fprintf(os.Stderr, "pugcheck: %v\n", r.err)
		}
		switch {
		case r.result == nil:
			return nil, r.err
		case ctx.Err() != nil && s.last == nil:
			return nil, j.conclude(r.result, r.outcome, s.targets) // what there is
		case ctx.Err() != nil:
			return nil, nil
		}
		return nil, s.tell(j, r.result, r.outcome, because)
	}
}

// tell writes the whole report the first time, and then what changed.
func (s *reruns) tell(j *judgement, result *report.Result, outcome runner.Result, because []string) error {
	if why := unstartable(outcome); why != "" {
		fmt.Fprintf(os.Stderr, "pugcheck: %s\n", why)
		return nil
	}
	before := s.last
	show := report.Terminal.Write
	if before != nil {
		note := ""
		if len(because) > 0 {
			note = ", after a change of " + enumerated(because)
		}
		show = func(t report.Terminal, w io.Writer, r *report.Result) error {
			return t.WriteChanges(w, before, r, note)
		}
	}
	if err := j.tell(result, outcome, s.targets, show); err != nil {
		return err
	}
	if result.Complete {
		s.last = result
	}
	return nil
}

// comesUp is how long a service that was just restarted may take until it listens.
const comesUp = 5 * time.Second

// anew prepares the next run, with the files as they are now. It is nil where that cannot
// be: the reason is told.
func (s *reruns) anew(ctx context.Context) *judgement {
	began := time.Now()
	for {
		j, err := s.prepare()
		if errors.Is(err, errUnreachable) && time.Since(began) < comesUp && ctx.Err() == nil {
			pause := time.NewTimer(50 * time.Millisecond)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
			continue
		}
		if err == nil {
			err = j.startable()
		}
		if err == nil {
			err = s.watch(ctx, j)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "pugcheck: %v\n", err)
			return nil
		}
		j.seed = s.seed
		return j
	}
}

// watch begins to watch the files that the judgement depends on, unless they are those
// that are watched already.
func (s *reruns) watch(ctx context.Context, j *judgement) error {
	patterns := slices.Concat(s.named(j), s.further)
	if j.known != nil {
		patterns = append(patterns, j.known.File)
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	if s.watches(patterns) {
		return nil
	}
	if len(patterns) == 0 {
		return errors.New("--watch: no file is named in the command; say which ones to watch by --watch-file")
	}
	var written []string
	for _, t := range s.targets {
		written = append(written, t.Path)
	}
	if dir := j.flags.artifacts; dir != "" {
		written = append(written, dir)
	}
	files, err := watch.Open(patterns, written)
	if err != nil {
		return err
	}
	if s.unfollow != nil {
		s.unfollow()
	}
	s.watched = patterns
	s.changes, s.unfollow = follow(ctx, files)
	return nil
}

// watches tells whether the patterns are watched already, and beside them none but files
// that are gone: whoever removes a file often writes it anew.
func (s *reruns) watches(patterns []string) bool {
	further := func(p string) bool { return !slices.Contains(s.watched, p) }
	back := func(p string) bool { return !slices.Contains(patterns, p) && exists(p) }
	return len(s.watched) > 0 && !slices.ContainsFunc(patterns, further) && !slices.ContainsFunc(s.watched, back)
}

// follow passes on what changes until the context ends or end is called. The channel is
// closed where the files cannot be watched any more, which is told.
func follow(ctx context.Context, files *watch.Files) (changes <-chan []string, end func()) {
	ctx, stop := context.WithCancel(ctx)
	out, ended := make(chan []string), make(chan struct{})
	go func() {
		defer close(ended)
		defer files.Close()
		for {
			changed, err := files.Next(ctx)
			if err != nil {
				if ctx.Err() == nil {
					fmt.Fprintf(os.Stderr, "pugcheck: %v\n", err)
					close(out)
				}
				return
			}
			select {
			case out <- changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, func() { stop(); <-ended }
}

// enumerated names the first few of many.
func enumerated(names []string) string {
	const shown = 4
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}
