package network

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A flow is a connection whose reads and writes block in the kernel, without the runtime's poller in
// between.
type flow struct {
	file *os.File
	fd   int
}

// newFlow takes over a connection.
func newFlow(c *net.TCPConn) (*flow, error) {
	defer c.Close()
	if err := c.SetNoDelay(true); err != nil {
		return nil, err
	}
	file, err := c.File()
	if err != nil {
		return nil, err
	}
	f := &flow{file: file, fd: int(file.Fd())}
	if err := errors.Join(unix.SetNonblock(f.fd, false), f.wait(patience)); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// wait sets the timeout of reads and writes; 0: none.
func (f *flow) wait(d time.Duration) error {
	t := unix.NsecToTimeval(int64(d))
	return errors.Join(
		unix.SetsockoptTimeval(f.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &t),
		unix.SetsockoptTimeval(f.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &t))
}

// read fills b.
func (f *flow) read(b []byte) error { return f.move(unix.Read, b) }

// write sends all of b.
func (f *flow) write(b []byte) error { return f.move(unix.Write, b) }

// move repeats a call until all of b was read or written.
func (f *flow) move(call func(fd int, b []byte) (int, error), b []byte) error {
	for len(b) > 0 {
		switch n, err := call(f.fd, b); {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return stuck()
		case err == unix.ECONNRESET, err == unix.EPIPE, err == nil && n == 0:
			return errHungUp
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

// waiting is the number of received bytes that are unread.
func (f *flow) waiting() (int, error) { return unix.IoctlGetInt(f.fd, unix.SIOCINQ) }

// unsent is the number of written bytes that have not left for the network.
func (f *flow) unsent() (int, error) { return unix.IoctlGetInt(f.fd, unix.SIOCOUTQNSD) }

// receiver is the CPU on which the kernel last received.
func (f *flow) receiver() (int, error) {
	return unix.GetsockoptInt(f.fd, unix.SOL_SOCKET, unix.SO_INCOMING_CPU)
}

// queue is the round-trip time that TCP measures: now, and the shortest.
func (f *flow) queue() (now, least time.Duration, err error) {
	info, err := unix.GetsockoptTCPInfo(f.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, 0, err
	}
	return time.Duration(info.Rtt) * time.Microsecond, time.Duration(info.Min_rtt) * time.Microsecond, nil
}

// segment is the payload of a connection's packet, bytes.
func segment(c *net.TCPConn) (bytes int, err error) {
	return option(c, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
}

// keeps is the number of unread bytes that the kernel is sure to keep for a connection: three eighths
// of its buffer, half of which is for data, and less of small packets.
func keeps(c *net.TCPConn) (bytes int, err error) {
	bytes, err = option(c, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return min(bytes/8*3, mostIgnored), err
}

// option reads a socket option of a connection.
func option(c *net.TCPConn, level, name int) (value int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Control(func(fd uintptr) { value, err = unix.GetsockoptInt(int(fd), level, name) }); failed != nil {
		return 0, failed
	}
	return value, err
}

// stop wakes a thread that waits in a read or a write.
func (f *flow) stop() { unix.Shutdown(f.fd, unix.SHUT_RDWR) }

func (f *flow) close() { f.file.Close() }

// Operations of futex(2), within this process.
const (
	futexWait = 128
	futexWake = 129
)

// sleep blocks the thread while the word has a value, for at most 50 ms, so that the caller can stop.
func sleep(word *atomic.Uint32, while uint32) {
	most := unix.NsecToTimespec(int64(50 * time.Millisecond))
	// The caller loads the word again, whatever the result.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(while), uintptr(unsafe.Pointer(&most)), 0, 0)
}

// wake wakes all threads that sleep on a word.
func wake(word *atomic.Uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

// yield lets other threads of the CPU run.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
