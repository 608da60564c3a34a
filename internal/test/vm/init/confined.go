//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/numa"
)

// confined confines this process and executes the command in the arguments. It returns errors only.
func confined(args []string) error {
	var (
		flags   = flag.NewFlagSet("confined", flag.ContinueOnError)
		cpus    = flags.String("cpus", "", "leave these CPUs")
		address = flags.Uint64("address", 0, "leave this number of bytes of address space")
		without = flags.String("without", "", "unmount this directory")
		policy  = flags.Bool("nopolicy", false, "refuse the system calls of memory policies")
		fetch   = flags.Bool("nofetch", false, "refuse the system call that reads another process's memory")
		group   = flags.String("group", "", "join the control group in this directory")
		user    = flags.Int("user", 0, "become this user")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	// Most confinements hold for the thread that execs.
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
		errs = append(errs, sandbox.Refuse(unix.EPERM, unix.SYS_MBIND, unix.SYS_MOVE_PAGES, unix.SYS_SET_MEMPOLICY))
	}
	if *fetch {
		errs = append(errs, sandbox.Refuse(unix.EPERM, unix.SYS_PROCESS_VM_READV))
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

// unmount unmounts a directory for this thread only.
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
