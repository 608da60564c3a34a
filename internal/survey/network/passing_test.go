package network

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/params"
)

// passing is a target whose connections pass hands on to a listening host, until end is called.
func passing(t *testing.T, name string, l net.Listener, pass func(c net.Conn, address string)) (to []Target, end func()) {
	t.Helper()
	between := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := between.Accept()
			if err != nil {
				return
			}
			all.Go(func() { pass(c, l.Addr().String()) })
		}
	})
	return []Target{{name, between.Addr().String()}}, func() { between.Close(); all.Wait() }
}

// A bit flipped in transit is detected.
func TestChangedBit(t *testing.T) {
	l, _ := hosts(t, time.Minute)
	to, end := passing(t, "forged", l, forge)
	defer end()
	run := begin(t, l)
	defer run.End(nil)
	s := lead(t, to, run)
	defer s.Close()
	_, err := s.Sample(t.Context(), params.Key{Kind: params.NetCell, Tau: 1, Bytes: 100 << 10}.Named("lo:L"), 0)
	if !errors.Is(err, errCorrupt) || !strings.HasPrefix(err.Error(), "forged: ") {
		t.Errorf("%v, want %v", err, errCorrupt)
	}
}

// forge flips a bit of the first timed message, which follows two untimed ones.
func forge(c net.Conn, address string) {
	defer c.Close()
	d, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer d.Close()
	back := make(chan struct{})
	go func() {
		defer close(back)
		io.Copy(c, d)
		c.Close()
	}()
	io.CopyN(d, c, 250<<10)
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err == nil {
		b[0] ^= 4
		d.Write(b[:])
	}
	io.Copy(d, c)
	d.Close()
	<-back
}
