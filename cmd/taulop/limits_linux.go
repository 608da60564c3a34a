package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// What a command must have left: the Go runtime ends a program that wants a file, a thread or
// address space and gets none, and this cannot be caught. Commands that measure begin processes,
// whose threads count too.
const (
	leastFiles, leastFilesMeasuring     = 12, 24
	leastThreads, leastThreadsMeasuring = 8, 24
	leastMB, leastMBMeasuring           = 128, 512
)

// checkLimits fails where the system's limits leave too little.
func checkLimits(measures bool) error {
	files, threads, mb := leastFiles, leastThreads, leastMB
	if measures {
		files, threads, mb = leastFilesMeasuring, leastThreadsMeasuring, leastMBMeasuring
	}
	if left := filesLeft(files); left < files {
		return fmt.Errorf("this process may open %d more files and needs %d: allow more (ulimit -n)", left, files)
	}
	if left := addressSpaceLeft() >> 20; left < int64(mb) {
		return fmt.Errorf("this process may map %d MB more of memory and needs %d MB: allow more address space (ulimit -v)", left, mb)
	}
	if left := threadsLeft(); left < threads {
		return fmt.Errorf("this user may begin %d more threads and taulop needs %d: allow more processes (ulimit -u), or end some", max(0, left), threads)
	}
	return nil
}

// filesLeft counts, up to a number, how many files can be opened.
func filesLeft(most int) (n int) {
	for ; n < most; n++ {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // the Go runtime sees to it that there is one
		if err != nil {
			break
		}
		defer unix.Close(fd)
	}
	return n
}

// addressSpaceLeft is what RLIMIT_AS leaves to mappings.
func addressSpaceLeft() int64 {
	const unlimited = 1 << 62
	var limit unix.Rlimit
	statm, err := os.ReadFile("/proc/self/statm")
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur > unlimited || err != nil {
		return unlimited
	}
	pages, _, _ := bytes.Cut(statm, []byte(" "))
	used, _ := strconv.ParseInt(string(pages), 10, 64)
	return max(0, int64(limit.Cur)-used*int64(os.Getpagesize()))
}

// From manyThreads on the existing threads need not be counted.
const manyThreads = 4096

// threadsLeft is what RLIMIT_NPROC leaves to this user, of whom the kernel counts all
// threads but does not hold root to the limit.
func threadsLeft() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur >= manyThreads || os.Getuid() == 0 {
		return manyThreads
	}
	left, user := int(limit.Cur), os.Getuid()
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range all {
		text, _ := os.ReadFile(file)
		var uid, threads int
		for line := range bytes.Lines(text) {
			if word, value, _ := bytes.Cut(line, []byte(":")); string(word) == "Uid" {
				fmt.Sscan(string(value), &uid)
			} else if string(word) == "Threads" {
				fmt.Sscan(string(value), &threads)
			}
		}
		if uid == user && threads > 0 {
			left -= threads
		}
	}
	return left
}
