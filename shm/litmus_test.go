package shm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// Litmus tests of what transfers rely on: a worker that sees a raised flag sees what was written before, and a reader
// that hands a segment back has read it. Hardware or a compiler that reorders writes or reads would show here. amd64,
// and an emulator on it, reorder only a store before a load; there a protocol is found to be wrong if it raises a
// flag too early or hands back too early.

const (
	litmusRounds = 1_000_000 // of each case, if there is time for them
	litmusWords  = 32        // four lines
	// litmusEnv is the time for a case, 500ms where it is not set.
	litmusEnv = "TAULOP_LITMUS"
)

// litmus is how much of a case there is time for.
func litmus(tb testing.TB) (rounds int, end time.Time) {
	rounds = litmusRounds
	if testing.Short() {
		rounds /= 20
	}
	limit, err := time.ParseDuration(cmp.Or(os.Getenv(litmusEnv), "500ms"))
	check.Need(tb, err == nil && limit > 0, "%s: give a time like 10s, not %q", litmusEnv, os.Getenv(litmusEnv))
	return rounds, time.Now().Add(limit)
}

// A passing is messages from one writer to readers; message n consists of the number n. Send
// and receive are the protocol.
type passing struct {
	segments, readers int
	send              func(s *Sender, src []byte) bool
	receive           func(r *Receiver, dst []byte) bool
}

// run returns how many messages were sent, and one word that was wrong.
func (p passing) run(tb testing.TB) (sent int, wrong string) {
	const length = 8 * litmusWords
	size := must.Get(ChannelBytes(p.segments, length, p.readers))
	c := NewChannel(region(tb, size), p.segments, length, p.readers)
	rounds, end := litmus(tb)
	var stop atomic.Bool
	var found atomic.Pointer[string]
	var wg sync.WaitGroup
	for reader := range p.readers {
		wg.Go(func() {
			in, dst := c.Receiver(reader, NewWaiter(&stop, true)), make([]byte, length)
			for n := range uint64(rounds) {
				if !p.receive(in, dst) {
					return
				}
				for at := 0; at < length; at += 8 {
					if got := binary.NativeEndian.Uint64(dst[at:]); got != n {
						text := fmt.Sprintf("reader %d: word %d of message %d is of message %d", reader, at/8, n, got)
						found.Store(&text)
						stop.Store(true)
						return
					}
				}
			}
		})
	}
	out, src := c.Sender(NewWaiter(&stop, true)), make([]byte, length)
	for n := range uint64(rounds) {
		for at := 0; at < length; at += 8 {
			binary.NativeEndian.PutUint64(src[at:], n)
		}
		if stop.Load() || !p.send(out, src) {
			break
		}
		if sent++; sent%(1<<12) == 0 && time.Now().After(end) {
			stop.Store(true)
		}
	}
	wg.Wait()
	if text := found.Load(); text != nil {
		wrong = *text
	}
	return sent, wrong
}

// Every word of a message is there when its flag is, and is not overwritten before it was read.
func TestLitmusMessages(t *testing.T) {
	for _, p := range []passing{{segments: 1, readers: 1}, {segments: 2, readers: 1}, {segments: 8, readers: 1}, {segments: 2, readers: 3}} {
		p.send, p.receive = (*Sender).Send, (*Receiver).Receive
		sent, wrong := p.run(t)
		t.Logf("%d segments, %d readers: %d messages", p.segments, p.readers, sent)
		check.Equal(t, wrong, "", "%d segments, %d readers", p.segments, p.readers)
	}
}

// The test finds a flag that is raised before the data are there, a writer that does not wait, and a reader that hands
// a segment back before it has read it. They yield the CPU in between, or a busy machine would seldom show the fault.
func TestLitmusFindsBrokenMessages(t *testing.T) {
	skip.Short(t, "broken on purpose: the race detector finds it by other means, and ends the test")
	onCPUs(t, 2, func(int) {}) // workers show the faults only at the same time
	for name, p := range map[string]passing{
		"flag before data": {segments: 2, send: func(s *Sender, src []byte) bool {
			c := s.c
			if s.sent >= uint64(c.segments) && c.emptied[0].Await(s.sent-uint64(c.segments)+1, s.w) <= s.sent-uint64(c.segments) {
				return false
			}
			c.filled.Set(s.sent + 1)
			s.w.relax()
			Copy(c.data[s.offset:], src)
			s.sent++
			s.offset = (s.offset + c.stride) % (c.stride * c.segments)
			return true
		}},
		"writer does not wait": {segments: 2, send: func(s *Sender, src []byte) bool { s.free = s.sent + 1; return s.Send(src) }},
		"handed back unread": {segments: 1, receive: func(r *Receiver, dst []byte) bool {
			if r.c.filled.Await(r.received+1, r.w) <= r.received {
				return false
			}
			r.received++
			r.emptied.Set(r.received)
			r.w.relax()
			Copy(dst, r.c.data)
			return true
		}},
	} {
		p.readers = 1
		if p.send == nil {
			p.send = (*Sender).Send
		} else {
			p.receive = (*Receiver).Receive
		}
		sent, wrong := p.run(t)
		t.Logf("%s: after %d messages: %s", name, sent, wrong)
		check.True(t, wrong != "", "%s: not found in %d messages", name, sent)
	}
}
