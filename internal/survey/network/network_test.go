package network

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

var secret = Secret("correct horse battery staple")

// noLoopback is the error that keeps tests from the interface lo; nil if they have it.
var noLoopback error

func needsLoopback(t *testing.T) {
	t.Helper()
	skip.If(t, noLoopback != nil, "needs the interface lo: %v", noLoopback)
}

// shake runs a handshake and returns the errors of both ends.
func shake(t *testing.T, connects func(net.Conn) error, listens func(net.Conn) error) (connecting, listening error) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan error, 1)
	go func() {
		defer b.Close()
		done <- listens(b)
	}()
	connecting = connects(a)
	a.Close()
	return connecting, <-done
}

func with(s Secret, a answer) func(net.Conn) error {
	return func(c net.Conn) error {
		_, err := receive(c, s, func(hello) answer { return a })
		return err
	}
}

func to(s Secret) func(net.Conn) error {
	return func(c net.Conn) error { return introduce(c, s, hello{Purpose: controlling}) }
}

func TestHandshake(t *testing.T) {
	older := func(c net.Conn) error {
		var h hello
		binary.Read(c, binary.BigEndian, &h)
		return binary.Write(c, binary.BigEndian, challenge{Magic: magic, Version: protocol + 1})
	}
	newer := func(c net.Conn) error {
		binary.Write(c, binary.BigEndian, hello{Magic: magic, Version: protocol + 1})
		var ch challenge
		return binary.Read(c, binary.BigEndian, &ch)
	}
	web := func(c net.Conn) error {
		io.CopyN(io.Discard, c, int64(binary.Size(hello{})))
		_, err := io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n")
		return err
	}
	// A host without the secret repeats the peer's proof.
	mirror := func(c net.Conn) error {
		var h hello
		binary.Read(c, binary.BigEndian, &h)
		binary.Write(c, binary.BigEndian, challenge{Magic: magic, Version: protocol, Nonce: h.Nonce})
		var v verdict
		io.ReadFull(c, v.Proof[:])
		return binary.Write(c, binary.BigEndian, v)
	}
	for name, tt := range map[string]struct {
		connects, listens     func(net.Conn) error
		connecting, listening string // in its error; none
	}{
		"same secret":  {to(secret), with(secret, welcome), "", ""},
		"other secret": {to(Secret("another secret, as long")), with(secret, welcome), "another secret", "another secret"},
		"engaged":      {to(secret), with(secret, engaged), "another run", "another run"},
		"newer there":  {to(secret), older, "version 4 of the protocol", ""},
		"newer here":   {newer, with(secret, welcome), "", "version 4 of the protocol"},
		"a web server": {to(secret), web, "not taulop net", ""},
		"no secret":    {to(secret), mirror, "another secret", ""},
		"hangs up":     {to(secret), func(c net.Conn) error { return nil }, "", ""},
		"a web browser": {func(c net.Conn) error {
			_, err := io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\n", 8))
			return err
		}, with(secret, welcome), "", "not taulop net"},
	} {
		connecting, listening := shake(t, tt.connects, tt.listens)
		if tt.connecting != "" || name == "same secret" {
			contains.Error(t, connecting, tt.connecting)
		}
		if tt.listening != "" || name == "same secret" {
			contains.Error(t, listening, tt.listening)
		}
	}
}

// A proof does not hold in another handshake, or in the other direction.
func TestProofs(t *testing.T) {
	h, c := hello{Nonce: nonce()}, challenge{Nonce: nonce()}
	p := secret.proof("connects", h, c)
	again, other, late := h, c, secret.proof("listens", h, c)
	again.Nonce, other.Nonce = nonce(), nonce()
	check.True(t, p != secret.proof("connects", again, c) && p != secret.proof("connects", h, other) && p != late && p == secret.proof("connects", h, c),
		"different handshakes have equal proofs")
}

// A canned connection reads given bytes and ignores writes.
type canned struct {
	net.Conn
	io.Reader
}

func (c canned) Read(b []byte) (int, error)  { return c.Reader.Read(b) }
func (c canned) Write(b []byte) (int, error) { return len(b), nil }
func (c canned) SetDeadline(time.Time) error { return nil }

// Any bytes of the other end cause no panic, prove nothing and take little memory.
func FuzzWire(f *testing.F) {
	for _, v := range []any{hello{Magic: magic, Version: protocol, Purpose: flowing}, challenge{Magic: magic, Version: protocol}, order{Operation: exchange, Tau: 1, Times: 1, Bytes: 1}, result{}} {
		var b bytes.Buffer
		binary.Write(&b, binary.BigEndian, v)
		f.Add(append(b.Bytes(), make([]byte, 100)...))
	}
	var frame bytes.Buffer
	writeFrame(&frame, Facts{CPUs: 4, Provenance: params.Provenance{Hostname: "n1"}})
	f.Add(frame.Bytes())
	f.Fuzz(func(t *testing.T, received []byte) {
		check.Error(t, introduce(canned{Reader: bytes.NewReader(received)}, secret, hello{}), "a host without the secret was believed")
		check.Error(t, must.Err(receive(canned{Reader: bytes.NewReader(received)}, secret, func(hello) answer { return welcome })), "a stranger was let in")
		var facts Facts
		check.True(t, readFrame(bytes.NewReader(received), &facts) != nil || len(received) <= 4+mostFrame, "a frame is too long")
		o, err := decodeOrder(received)
		check.True(t, err != nil || o.Tau >= 1 && o.Tau <= mostFlows && o.Bytes <= mostMessage && o.Times <= mostTimes, "%+v", o)
	})
}

// hosts starts a host in this process, on loopback, for the test's time.
func hosts(t *testing.T, wait time.Duration) (*net.TCPListener, <-chan error) {
	return hosting(t, &Host{Wait: wait, Facts: Facts{Memory: 4 << 20}})
}

func hosting(t *testing.T, h *Host) (*net.TCPListener, <-chan error) {
	t.Helper()
	needsLoopback(t)
	return serving(t, h, "127.0.0.1:0")
}

func serving(t *testing.T, h *Host, address string) (*net.TCPListener, <-chan error) {
	t.Helper()
	l, err := Listen(address)
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	ended := make(chan error, 1)
	cpus := surveytest.Machine(t, 1).Allowed
	h.Secret, h.CPUs, h.Facts.CPUs = secret, cpus[len(cpus)-1:], 1
	go func() { ended <- h.Serve(t.Context(), l) }()
	return l, ended
}

// begin begins a run with a listening host.
func begin(t *testing.T, l *net.TCPListener) *Run {
	t.Helper()
	return must.Get(Begin(t.Context(), []Target{{"there", l.Addr().String()}}, secret, time.Minute))
}

// ends ends a run, and its hosts with it.
func ends(t *testing.T, run *Run, hosts ...<-chan error) {
	t.Helper()
	run.End(nil)
	for _, ended := range hosts {
		check.NoError(t, <-ended, "the host")
	}
}

// lead is a launch of a run.
func lead(t *testing.T, targets []Target, run *Run) *sampler {
	t.Helper()
	cpus := must.Get(CPUs(surveytest.Machine(t, 1)))
	return &sampler{Request: Request{Targets: targets, Run: run.ID, Secret: secret}, cpus: cpus, launch: rand.Uint64(), links: make(map[int]*link)}
}

var smallExchange = params.Key{Kind: params.NetCell, Tau: 2, Bytes: 100}.Named("lo:L")

// All cells of a small plan are measured, the file has the parameters of models, and the hosts end with the run.
func TestMeasures(t *testing.T) {
	m := surveytest.Machine(t, 1)
	l, ended := hosts(t, time.Minute)
	farther, endedToo := hosts(t, time.Minute)
	run := must.Get(Begin(t.Context(), []Target{{"there", l.Addr().String()}, {"farther", farther.Addr().String()}}, secret, time.Minute))
	r := Request{Name: run.Interface, Targets: run.Targets, Run: run.ID, Secret: secret, Sizes: []int{1, 1 << 20}, Taus: []int{1, 2}, Segment: run.Segment, Unread: run.Unread}
	f := surveytest.Run(t, m, Survey, r, params.Network{Name: r.Name, Kind: "tcp", Hosts: []string{"here", "there", "farther"}})
	ends(t, run, ended, endedToo)
	_, table, err := f.Network("")
	must.Do(err)
	small, _ := table.L(1, 1)
	check.AtMost(t, small, 1, "s of a byte")
	one, _ := table.L(1<<20, 1)
	two, _ := table.L(1<<20, 2)
	check.True(t, one > 0 && two > 0, "L(1M,1) = %g, L(1M,2) = %g", one, two)
	tam, err := f.Tam("")
	check.True(t, err == nil && tam.Packet == min(run.Segment, mostPacket) && tam.Send.At(1) > 0 && tam.SendGap.At(1000) > 0, "%+v, %v", tam, err)
	text := "\n" + must.Text(func(w io.Writer) { view.WriteTables(w, Tables(f)) })
	for _, want := range []string{"L(m,2) of lo: 2 messages at once", "o = ", "\nfarther ", "O_r(m)", "B_L is "} {
		check.True(t, strings.Contains(text, want) || want == "B_L is " && tam.Buffer <= 0, "tables lack %q:\n%s", want, text)
	}
}

// A chart has a line for each τ.
func TestProfiles(t *testing.T) {
	cell := func(tau int, parameter string) params.Cell {
		return params.Cell{Key: params.Key{Kind: params.NetCell, Tau: tau, Bytes: 8, Variant: params.Parameter{Of: "lo", Name: parameter}}, Time: fit.Estimate{Center: 5}}
	}
	lines := Survey.Drawing.Profiles([]params.Cell{cell(1, params.NetTransfer), cell(1, params.NetOverhead), cell(2, params.NetTransfer), cell(2, params.NetOverhead)})
	check.True(t, len(lines) == 2 && lines[0].Line == "τ = 1" && lines[1].Line == "τ = 2" && lines[0].Time == "L(m,τ)", "%+v", lines)
}

// A note explains L = 0.
func TestTablesOfZero(t *testing.T) {
	f := &params.File{Networks: []params.Network{{Name: "lo", Kind: "tcp"}}}
	for i, ns := range []float64{0, 5000} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NetCell, Tau: 1, Bytes: 1 + 1024*i}.Named("lo:L"), Time: fit.Estimate{Center: ns}})
	}
	const note = "where L is 0, o already contains the whole way"
	for _, want := range []bool{true, false} {
		text := must.Text(func(w io.Writer) { view.WriteTables(w, Tables(f)) })
		check.Equal(t, strings.Contains(text, note), want, "%q is in\n%s", note, text)
		f.Cells[0].Time.Center = 3
	}
}

// The answer has a sentence for each network.
func TestAnswer(t *testing.T) {
	f := &params.File{Networks: []params.Network{{Name: "lo", Kind: "tcp"}, {Name: "ib0", Kind: "ib"}}}
	for _, name := range []string{"lo:L", "ib0:L"} {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.NetCell, Tau: 1, Bytes: 1000}.Named(name), Time: fit.Unbounded(1e4)})
	}
	const takes = "a message of 1000 B takes 10.0 µs after o one way; a message of 1000 B: 100 MB/s."
	check.Equal(t, Answer(f), "lo: "+takes+"\nib0: "+takes, "Answer")
}

// Only parameters that need more unread bytes than the kernel keeps are left out.
func TestSmallBuffers(t *testing.T) {
	r := Request{Name: "lo", Sizes: []int{1, 1 << 20}, Taus: []int{1, 2}, Segment: 1448, Unread: 6 << 10}
	all, warnings, err := r.Cells(nil)
	check.True(t, err == nil && len(warnings) == 0, "6 KB are enough: %v, %v", warnings, err)
	r.Unread = 1000
	some, warnings, err := r.Cells(nil)
	// O_r of 362, 724 and 1448 bytes, and U_r of the last.
	check.True(t, err == nil && len(warnings) == 4 && len(some) == len(all)-4 && strings.HasPrefix(warnings[0].Error(), "O_r of packets of 362 bytes is left out: "),
		"%d of %d cells, %v, %v", len(some), len(all), warnings, err)
}

// Both ends report why a flow ended.
func TestWhy(t *testing.T) {
	l, ended := hosts(t, time.Minute)
	run := begin(t, l)
	s := lead(t, run.Targets, run)
	defer s.Close()
	to := must.Get(s.link(t.Context(), 0, 1))
	_, err := s.once(to, order{Operation: ignored, Tau: 1, Bytes: mostIgnored, Times: 2}, parts[params.TamReceive])
	const reason = "the messages to be ignored are more than the kernel keeps"
	err = run.Why(err)
	check.True(t, errors.Is(err, errHungUp) && strings.HasPrefix(err.Error(), "there: ") && strings.Contains(err.Error(), "there says: ") && strings.HasSuffix(err.Error(), reason),
		"the end that leads: %v", err)
	run.End(err)
	err = <-ended
	check.True(t, err != nil && strings.HasPrefix(err.Error(), "a flow from ") && strings.HasSuffix(err.Error(), reason), "the host: %v", err)
}

// Waits for a silent host and for a run are limited. The command's tests have closed ports, ports in
// use and unknown names.
func TestNobodyThere(t *testing.T) {
	needsLoopback(t)
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	silent := Target{"silent", free.Addr().String()} // It queues connections and never answers, like a stopped process.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	check.Error(t, must.Err(Begin(ctx, []Target{silent}, secret, time.Minute)), "a host that says nothing takes part")
	free.Close()
	silent.Name = "127.0.0.1"
	_, err := Begin(t.Context(), []Target{silent}, secret, 100*time.Millisecond)
	check.True(t, err != nil && strings.Count(err.Error(), "127.0.0.1") == 1, "the address is not there once: %v", err)
	_, ended := hosts(t, 100*time.Millisecond)
	contains.Error(t, <-ended, "no run began within 100ms")
}

// A host in a run refuses others.
func TestEngaged(t *testing.T) {
	l, ended := hosts(t, time.Minute)
	run := begin(t, l)
	check.ErrorIs(t, must.Err(Begin(t.Context(), run.Targets, secret, time.Minute)), errEngaged, "a second run")
	check.ErrorIs(t, must.Err(call(t.Context(), run.Targets[0], secret, hello{Purpose: flowing, Run: nonce()}, false)), errEngaged, "a flow of another run")
	check.ErrorIs(t, must.Err(call(t.Context(), run.Targets[0], Secret("incorrect horse battery staple"), hello{Purpose: flowing, Run: run.ID}, false)), errStranger, "a flow with another secret")
	ends(t, run, ended)
}

// A host ends with its context, within a run as well.
func TestContextEnds(t *testing.T) {
	needsLoopback(t)
	var ended <-chan error
	t.Run("host", func(t *testing.T) {
		var l *net.TCPListener
		l, ended = hosts(t, time.Minute)
		begin(t, l)
	})
	check.ErrorIs(t, <-ended, context.Canceled, "the host")
}

// If a host is missing, the others are released.
func TestOneIsMissing(t *testing.T) {
	l, ended := hosts(t, time.Minute)
	missing := Target{"missing", "missing.invalid:1"}
	check.Error(t, must.Err(Begin(t.Context(), []Target{missing, {"there", l.Addr().String()}}, secret, time.Minute)), "a run without one of its hosts")
	contains.Error(t, <-ended, "gave up: missing")
}

func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "secret")
	check.Error(t, must.Err(ReadSecret(path, false)), "a secret without a file")
	var all sync.WaitGroup
	found := make([]Secret, 8)
	for i := range found {
		all.Go(func() { found[i] = must.Get(ReadSecret(path, true)) })
	}
	all.Wait()
	for _, s := range found {
		check.True(t, len(s) >= 32 && bytes.Equal(s, found[0]), "%d bytes; tasks of one job have different secrets", len(s))
	}
	check.Empty(t, must.Get(filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))), "files left")
	must.Do(os.Chmod(path, 0o640))
	contains.Error(t, must.Err(ReadSecret(path, true)), "chmod 600")
	contains.Error(t, must.Err(ReadSecret(t.TempDir(), false)), "is a directory")
	short := filepath.Join(t.TempDir(), "short")
	must.Do(os.WriteFile(short, []byte("secret\n"), 0o600))
	contains.Error(t, must.Err(ReadSecret(short, true)), "6 bytes")
	_, err := ReadSecret(os.DevNull, true)
	check.True(t, err != nil && !strings.Contains(err.Error(), "chmod"), "a device: %v", err)
	check.ErrorIs(t, must.Err(ReadSecret("/proc/nowhere/secret", true)), ErrSecret, "a home that takes no directory")
}

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
	check.True(t, errors.Is(err, errCorrupt) && strings.HasPrefix(err.Error(), "forged: "), "%v, want %v", err, errCorrupt)
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
