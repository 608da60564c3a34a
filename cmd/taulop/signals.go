package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/process"
)

// stops are the signals that end a command. After the first it saves and prints its results; the
// second ends it at once.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// The times that a command may continue after the first signal. Reading commands have nothing to
// save; measuring commands print and save their results; files in progress are completed.
const (
	readingStops   = time.Second
	measuringStops = 4 * time.Second
	writingStops   = time.Minute
)

// stopped is the cause of a command's context after a signal.
type stopped struct{ signal syscall.Signal }

func (s stopped) Error() string {
	return "stopped by " + map[syscall.Signal]string{
		syscall.SIGINT: "Ctrl-C", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT", syscall.SIGPIPE: "its closed output",
	}[s.signal]
}

func (s stopped) Unwrap() error { return context.Canceled }

// status is a shell's exit status for a signal.
func (s stopped) status() int { return 128 + int(s.signal) }

// supervise runs a command and returns the exit status. It returns some time after a signal even if
// the command does not, because it opens a pipe without a writer or computes without a context.
func supervise(cmd command, args []string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, slices.DeleteFunc(slices.Clone(stops), func(s os.Signal) bool {
		return s == syscall.SIGHUP && signal.Ignored(s) // nohup
	})...)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out, errOut := &printer{patient: newPatient(ctx, os.Stdout), closed: losesOutput(args)}, newPatient(ctx, os.Stderr)
	if cmd.measures { // a closed reader must not lose the file
		process.IgnoreBrokenPipes()
		out.broken = func() { cancel(stopped{syscall.SIGPIPE}) }
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.runAndTell(ctx, out, errOut, args) }()
	var first stopped
	select {
	case err := <-ended:
		if cause, ok := context.Cause(ctx).(stopped); ok && errors.Is(err, context.Canceled) || errors.Is(err, syscall.EPIPE) {
			return cmp.Or(cause, stopped{syscall.SIGPIPE}).status()
		}
		return cmd.status(err)
	case s := <-signals:
		first.signal = s.(syscall.Signal)
		cancel(first)
	}
	grace := readingStops
	if cmd.measures {
		grace = measuringStops
	}
	for limit := time.Now().Add(writingStops); ; grace = 100 * time.Millisecond {
		select {
		case err := <-ended:
			if errors.Is(err, context.Canceled) {
				return first.status()
			}
			return cmd.status(err)
		case s := <-signals:
			return stopped{s.(syscall.Signal)}.status()
		case <-time.After(grace):
		}
		if !outfile.Writing() || time.Now().After(limit) {
			fmt.Fprintf(newPatient(ctx, os.Stderr), "taulop: %v before there was a result\n", first)
			return first.status()
		}
	}
}

// runAndTell runs a command, and prints its error.
func (c command) runAndTell(ctx context.Context, out *printer, errOut *patient, args []string) error {
	text, errText := escape(out), escape(errOut)
	err := c.run(ctx, text, errText, args)
	text.Close()
	readerGone := errors.As(err, new(verdict)) && errors.Is(out.err, syscall.EPIPE)
	switch {
	case out.err != nil && !errors.Is(err, context.Canceled) && !readerGone: // err follows from out.err
		err = out.err
	case errors.Is(err, flag.ErrHelp):
		err = nil
	}
	if errors.Is(err, context.Canceled) && !errors.As(err, new(interrupted)) {
		err = context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.As(err, new(verdict)) {
		tell(errText, "%v", err)
	}
	return err
}

// A patient writer waits for its reader, such as a full pipe or a terminal after Ctrl-S, until a signal
// ends the command.
type patient struct {
	file    *os.File
	ctx     context.Context
	written chan result
	gone    bool
}

type result struct {
	n   int
	err error
}

// unread is the time that a writer waits for its reader after a signal.
const unread = 500 * time.Millisecond

var errUnread = interrupted("nobody reads it")

func newPatient(ctx context.Context, f *os.File) *patient {
	return &patient{file: f, ctx: ctx, written: make(chan result, 1)}
}

func (p *patient) Write(text []byte) (int, error) {
	if p.gone {
		return 0, errUnread
	}
	own := slices.Clone(text) // the write may outlive this call
	go func() {
		n, err := p.file.Write(own)
		p.written <- result{n, err}
	}()
	select {
	case r := <-p.written:
		return r.n, r.err
	case <-p.ctx.Done():
	}
	select {
	case r := <-p.written:
		return r.n, r.err
	case <-time.After(unread):
		p.gone = true
		return 0, errUnread
	}
}

// Fd is for isTerminal.
func (p *patient) Fd() uintptr { return p.file.Fd() }
