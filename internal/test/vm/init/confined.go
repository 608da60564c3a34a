//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

// confined takes something away from this process and replaces it with the
// command that follows. It returns only an error.
func confined(args []string) error {
	var (
		flags   = flag.NewFlagSet("confined", flag.ContinueOnError)
		cpus    = flags.String("cpus", "", "leave these CPUs")
		address = flags.Uint64("address", 0, "leave so many bytes of address space")
		without = flags.String("without", "", "unmount this directory")
		policy  = flags.Bool("nopolicy", false, "refuse the system calls of memory policies")
		fetch   = flags.Bool("nofetch", false, "refuse the system call that reads another process's memory")
		group   = flags.String("group", "", "join the control group in this directory")
		user    = flags.Int("user", 0, "become this user")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	// Most of this is of the thread that execs.
	runtime.LockOSThread()
	var errs []error
	if *group != "" {
		errs = append(errs, write(*group, "cgroup.procs", fmt.Sprint(os.Getpid())))
	}
	if *without != "" {
		errs = append(errs, unmount(*without))
	}
	if *cpus != "" {
		errs = append(errs, leave(*cpus))
	}
	if *user != 0 {
		errs = append(errs, unix.Setgroups(nil), unix.Setgid(*user), unix.Setuid(*user))
	}
	if *policy {
		errs = append(errs, refuse(unix.SYS_MBIND, unix.SYS_MOVE_PAGES, unix.SYS_SET_MEMPOLICY))
	}
	if *fetch {
		errs = append(errs, refuse(unix.SYS_PROCESS_VM_READV))
	}
	if *address != 0 {
		errs = append(errs, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: *address, Max: *address}))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	command := flags.Args()
	return fmt.Errorf("%v: %w", command, syscall.Exec(command[0], command, os.Environ()))
}

// unmount takes a directory out of the sight of this thread only.
func unmount(dir string) error {
	return errors.Join(
		unix.Unshare(unix.CLONE_NEWNS),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Unmount(dir, unix.MNT_DETACH),
	)
}

func leave(cpus string) error {
	list, err := numa.ParseList(cpus)
	if err != nil {
		return err
	}
	var mask unix.CPUSet
	for _, cpu := range list {
		mask.Set(cpu)
	}
	return unix.SchedSetaffinity(0, &mask)
}

// refuse has the kernel answer these system calls with EPERM, as the filters
// of containers do.
func refuse(calls ...uint32) error {
	const number = 0 // offset in struct seccomp_data
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for _, call := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
