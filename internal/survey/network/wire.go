package network

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// protocol is the version of the wire format, equal on both ends. Every change of the format
// increments it.
const protocol = 3

// magic begins the first bytes of either end: it tells a taulop of another version from another
// service.
var magic = [8]byte{'t', 'a', 'u', 'l', 'o', 'p', 0, '\n'}

// Bounds on what an end accepts from the other.
const (
	handshakeTime = 5 * time.Second
	mostFrame     = 1 << 20 // bytes of a frame
	mostMessage   = 1 << 28 // bytes of a message
	mostFlows     = 1 << 10 // between two hosts
	mostTimes     = 1 << 20 // messages in a batch
)

// A purpose is the use of a connection.
type purpose uint8

const (
	controlling purpose = 1 + iota // a run, which ends with the connection
	flowing                        // the messages of a flow
)

// A hello is the first message of the connecting end.
type hello struct {
	Magic   [8]byte
	Version uint16
	Purpose purpose
	_       uint8
	Flow    uint32   // of flowing: the flow's number
	Launch  uint64   // of flowing: flows of one launch start messages together
	Run     [16]byte // ID
	Nonce   [16]byte
}

// A challenge answers a hello.
type challenge struct {
	Magic   [8]byte
	Version uint16
	_       [6]byte
	Nonce   [16]byte
}

// A verdict ends a handshake.
type verdict struct {
	Answer answer
	_      [7]byte
	Proof  [sha256.Size]byte // that the listening end has the secret too
}

// An answer tells whether a host takes part.
type answer uint8

const (
	welcome answer = iota
	stranger
	engaged
	full
)

// A Secret is shared by the hosts of a run.
type Secret []byte

// proof authenticates a handshake with the secret. It includes the end's name, so that a peer cannot
// send the other end's proof back.
func (s Secret) proof(end string, h hello, c challenge) (p [sha256.Size]byte) {
	mac := hmac.New(sha256.New, s)
	fmt.Fprintf(mac, "taulop net %s\n", end)
	binary.Write(mac, binary.BigEndian, h) // a hash returns no error
	binary.Write(mac, binary.BigEndian, c)
	mac.Sum(p[:0])
	return p
}

// Errors of a handshake, about the other end.
var (
	errStranger = errors.New("it has another secret: give both hosts the same file")
	errEngaged  = errors.New("it takes part in another run: wait for its end, or listen on another port")
)

// refused are the errors of answers other than welcome.
var refused = map[answer]error{stranger: errStranger, engaged: errEngaged, full: fmt.Errorf("it has %d flows already: choose fewer", mostFlows)}

// A versionError is a peer's protocol version that differs from this one.
type versionError uint16

func (v versionError) Error() string {
	return fmt.Sprintf("it speaks version %d of the protocol and this taulop version %d: have the same taulop on all hosts", uint16(v), protocol)
}

// introduce is the handshake of the connecting end.
func introduce(c net.Conn, s Secret, h hello) error {
	c.SetDeadline(time.Now().Add(handshakeTime))
	defer c.SetDeadline(time.Time{})
	h.Magic, h.Version, h.Nonce = magic, protocol, nonce()
	if err := binary.Write(c, binary.BigEndian, h); err != nil {
		return silent(err)
	}
	var ch challenge
	if err := binary.Read(c, binary.BigEndian, &ch); err != nil {
		return silent(err)
	}
	switch {
	case ch.Magic != magic:
		return errors.New("what answers there is not taulop net: is the port right?")
	case ch.Version != protocol:
		return versionError(ch.Version)
	}
	proof := s.proof("connects", h, ch)
	if _, err := c.Write(proof[:]); err != nil {
		return silent(err)
	}
	var v verdict
	if err := binary.Read(c, binary.BigEndian, &v); err != nil {
		return silent(err)
	}
	want := s.proof("listens", h, ch)
	if v.Answer == welcome && hmac.Equal(v.Proof[:], want[:]) {
		return nil
	}
	return cmp.Or(refused[v.Answer], errStranger)
}

// receive is the handshake of the listening end. admit decides on a peer that knows the secret; only
// an admitted peer gets a proof that this end knows it.
func receive(c net.Conn, s Secret, admit func(hello) answer) (h hello, err error) {
	c.SetDeadline(time.Now().Add(handshakeTime))
	defer c.SetDeadline(time.Time{})
	if err := binary.Read(c, binary.BigEndian, &h); err != nil {
		return h, silent(err)
	}
	if h.Magic != magic {
		return h, errors.New("it is not taulop net")
	}
	ch := challenge{Magic: magic, Version: protocol, Nonce: nonce()}
	if err := binary.Write(c, binary.BigEndian, ch); err != nil {
		return h, silent(err)
	}
	if h.Version != protocol {
		return h, versionError(h.Version)
	}
	var proof [sha256.Size]byte
	if _, err := io.ReadFull(c, proof[:]); err != nil {
		return h, silent(err)
	}
	var v verdict
	if want := s.proof("connects", h, ch); !hmac.Equal(proof[:], want[:]) {
		v.Answer = stranger
	} else if v.Answer = admit(h); v.Answer == welcome {
		v.Proof = s.proof("listens", h, ch)
	}
	err = binary.Write(c, binary.BigEndian, v)
	return h, cmp.Or(refused[v.Answer], err)
}

// cutOff: the handshake ended before the verdict; a retry may succeed.
type cutOff struct{ error }

// silent turns errors of a broken handshake into cutOff.
func silent(err error) error {
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout():
		return cutOff{fmt.Errorf("it said nothing for %v", handshakeTime)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return cutOff{errors.New("it hung up")}
	}
	return err
}

func nonce() (n [16]byte) {
	rand.Read(n[:]) // never fails
	return n
}

// writeFrame sends a value as JSON, after its length.
func writeFrame(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > mostFrame {
		return fmt.Errorf("%d bytes are more than a frame holds", len(text))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// readFrame reads what writeFrame wrote.
func readFrame(r io.Reader, v any) error {
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil {
		return err
	}
	if n > mostFrame {
		return fmt.Errorf("a frame of %d bytes; the most is %d", n, mostFrame)
	}
	// Memory grows with received bytes, not with the announced length.
	var text bytes.Buffer
	if _, err := io.CopyN(&text, r, int64(n)); err != nil {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(text.Bytes(), v)
}

// An operation is the message pattern of a batch.
type operation uint8

const (
	exchange operation = 1 + iota // a message, and one of the same size back
	stream                        // consecutive messages in one direction
	alone                         // one message at a time, read after all of it has arrived
	ignored                       // messages arrive while the receiver computes
	lastOperation
)

// An order opens a batch on a flow.
type order struct {
	Operation operation
	_         uint8
	Tau       uint16 // flows that take part
	Warm      uint32 // messages before the timed ones
	Times     uint32
	Bytes     uint32 // of a message
	Batch     uint32 // of the launch
	Seed      uint64 // of what is sent
}

const orderBytes = 28

func decodeOrder(b []byte) (o order, err error) {
	if _, err := binary.Decode(b, binary.BigEndian, &o); err != nil {
		return o, err
	}
	switch {
	case o.Operation < exchange || o.Operation >= lastOperation:
		return o, fmt.Errorf("operation %d is unknown", o.Operation)
	case o.Tau < 1 || o.Tau > mostFlows:
		return o, fmt.Errorf("a batch of %d flows; want 1 to %d", o.Tau, mostFlows)
	case o.Bytes < 1 || o.Bytes > mostMessage:
		return o, fmt.Errorf("a message of %d bytes; want 1 to %d", o.Bytes, mostMessage)
	case o.Times < 1 || o.Times > mostTimes || o.Warm > mostTimes:
		return o, fmt.Errorf("%d messages after %d; want 1 to %d", o.Times, o.Warm, mostTimes)
	}
	return o, nil
}

// A result is the listening end's report after a batch.
type result struct {
	Wrong uint8 // 1: received bytes differ from those sent
	_     [7]byte
	NS    uint64 // of stream, alone and ignored: time at the listening end
	_     [8]byte
}

const resultBytes = 24

// encoded is an order or a result on the wire.
func encoded[T order | result](what T) []byte {
	b, _ := binary.Append(nil, binary.BigEndian, what) // fixed size: no error
	return b
}
