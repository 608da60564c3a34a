package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

// checkLimits fails if the system's limits leave too little. Without a file, thread or address space the Go
// runtime aborts, which cannot be caught. Measuring commands start processes, whose threads count too.
func checkLimits(measures bool) error {
	files, threads, mb := 12, 8, 128
	if measures {
		files, threads, mb = 24, 24, 512
	}
	if left := filesLeft(files); left < files {
		return fmt.Errorf("this process may open %d more files and needs %d: allow more (ulimit -n)", left, files)
	}
	if left := addressSpaceLeft() >> 20; left < int64(mb) {
		return fmt.Errorf("this process may map %d MB more of memory and needs %d MB: allow more address space (ulimit -v)", left, mb)
	}
	if left := threadsLeft(); left < threads {
		return fmt.Errorf("this process may begin %d more threads and needs %d: allow more processes (ulimit -u), in a container a higher pids.max, or end some", max(0, left), threads)
	}
	return nil
}

// filesLeft is the number of files that can be opened, up to most.
func filesLeft(most int) (n int) {
	for ; n < most; n++ {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // standard input: the Go runtime opens it if it is closed
		if err != nil {
			break
		}
		defer unix.Close(fd)
	}
	return n
}

// addressSpaceLeft is the number of bytes that RLIMIT_AS leaves.
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

// manyThreads is a limit from which existing threads need not be counted.
const manyThreads = 4096

// threadsLeft is the number of threads that control groups, and RLIMIT_NPROC to this user, leave. The
// kernel limits root by the first alone.
func threadsLeft() int {
	groups, user := numa.ThreadsLeft("/"), os.Getuid()
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur >= manyThreads || user == 0 {
		return groups
	}
	left := int(limit.Cur)
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
	return min(left, groups)
}
