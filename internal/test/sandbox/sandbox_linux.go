// Package sandbox runs functions of tests as another user, on a temporary file system, in a network
// namespace or without some system calls. It confines one thread, which ends with the function.
package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// run runs f on a confined thread, where methods of T work that do not end the test.
func run(t testing.TB, confine func() error, f func()) {
	t.Helper()
	why := make(chan error, 1)
	go func() {
		defer close(why)
		runtime.LockOSThread() // never unlocked
		if err := confine(); err != nil {
			why <- err
			return
		}
		f()
	}()
	if err := <-why; err != nil {
		t.Skipf("this system lets no test be confined: %v", err)
	}
}

// Nobody is the number of the user and group nobody, without rights.
const Nobody = 65534

// User runs f as Nobody, or without root as the current user.
func User(t testing.TB, f func()) {
	t.Helper()
	if unix.Geteuid() != 0 {
		f()
		return
	}
	run(t, func() error {
		for _, call := range [][2]uintptr{{unix.SYS_SETGROUPS, 0}, {unix.SYS_SETRESGID, Nobody}, {unix.SYS_SETRESUID, Nobody}} {
			if _, _, err := unix.RawSyscall(call[0], call[1], call[1], call[1]); err != 0 {
				return err
			}
		}
		return nil
	}, f)
}

// Mount runs f with a temporary file system mounted on dir.
func Mount(t testing.TB, dir, options string, f func()) {
	t.Helper()
	run(t, func() error {
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		return unix.Mount("tmpfs", dir, "tmpfs", 0, options)
	}, f)
}

// Networks makes two network namespaces, connected by virtual interfaces veth0 with the addresses
// 10.77.0.1 and 10.77.0.2, both with a queueing discipline in tc's syntax, if not "".
func Networks(t testing.TB, qdisc string) (near, far Network) {
	t.Helper()
	both := [2]Network{Network(fmt.Sprintf("taulop-%d-a", unix.Getpid())), Network(fmt.Sprintf("taulop-%d-b", unix.Getpid()))}
	t.Cleanup(func() { // also deletes the interfaces
		for _, n := range both {
			exec.Command("ip", "netns", "del", string(n)).Run()
		}
	})
	tell := func(line string, args ...any) {
		words := strings.Fields(fmt.Sprintf(line, args...))
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Skipf("this system joins no network namespaces: %v: %v %s", words, err, bytes.TrimSpace(out))
		}
	}
	for _, n := range both {
		tell("ip netns add %s", n)
	}
	tell("ip link add veth0 netns %s type veth peer name veth0 netns %s", both[0], both[1])
	for i, n := range both {
		tell("ip -netns %s addr add 10.77.0.%d/24 dev veth0", n, i+1)
		tell("ip -netns %s link set veth0 up", n)
		if qdisc != "" {
			tell("tc -netns %s qdisc add dev veth0 root %s", n, qdisc)
		}
	}
	return both[0], both[1]
}

// A Network is a namespace.
type Network string

// In runs f with the namespace's sockets.
func (n Network) In(t testing.TB, f func()) {
	t.Helper()
	run(t, func() error {
		file, err := os.Open("/run/netns/" + string(n))
		if err != nil {
			return err
		}
		defer file.Close()
		return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
	}, f)
}

// Drop makes the namespace drop packets to an address.
func (n Network) Drop(t testing.TB, address string) {
	t.Helper()
	if out, err := exec.Command("ip", "-netns", string(n), "route", "replace", "blackhole", address).CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

// Without runs f with a system call that fails.
func Without(t testing.TB, call uint32, errno unix.Errno, f func()) {
	t.Helper()
	run(t, func() error { return Refuse(errno, call) }, f)
}

// Refuse makes system calls of this thread fail, like the filters of containers.
func Refuse(errno unix.Errno, calls ...uint32) error {
	const number = 0 // offset in struct seccomp_data
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for _, call := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, err := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter))); err != 0 {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
