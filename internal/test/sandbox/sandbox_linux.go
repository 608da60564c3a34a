// Package sandbox runs functions of tests where files behave as they do elsewhere:
// for another user, on file systems of their own, without some system calls. What
// it changes is of one thread, which ends with the function.
package sandbox

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// run runs f on a thread that is confined. T's own methods work there, except those
// that end a test.
func run(t testing.TB, confine func() error, f func()) {
	t.Helper()
	why := make(chan error, 1)
	go func() {
		defer close(why)
		runtime.LockOSThread() // and never unlocked
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

// Nobody is a user and a group without rights.
const Nobody = 65534

// User runs f as Nobody. A user who is not root runs f as it is.
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

// Mount runs f where a temporary file system of its own is mounted on dir.
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

// Without runs f where a system call fails with an error.
func Without(t testing.TB, call uint32, errno unix.Errno, f func()) {
	t.Helper()
	run(t, func() error {
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: 0, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		if _, _, err := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); err != 0 {
			return err
		}
		return nil
	}, f)
}
