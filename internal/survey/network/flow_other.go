//go:build !linux

package network

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// A flow needs Linux.
type flow struct{}

var errLinux = errors.New("measuring a network needs Linux")

func newFlow(*net.TCPConn) (*flow, error) { return nil, errLinux }

func (*flow) wait(time.Duration) error { return errLinux }

func (*flow) read([]byte) error { return errLinux }

func (*flow) write([]byte) error { return errLinux }

func (*flow) waiting() (int, error) { return 0, errLinux }

func (*flow) unsent() (int, error) { return 0, errLinux }

func (*flow) receiver() (int, error) { return 0, errLinux }

func (*flow) queue() (now, least time.Duration, err error) { return 0, 0, errLinux }

func segment(*net.TCPConn) (int, error) { return 0, errLinux }

func keeps(*net.TCPConn) (int, error) { return 0, errLinux }

func (*flow) stop() {}

func (*flow) close() {}

func sleep(*atomic.Uint32, uint32) {}

func wake(*atomic.Uint32) {}

func yield() {}
