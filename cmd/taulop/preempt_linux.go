package main

import (
	"os"
	"strings"
	"syscall"
)

// rerunWithoutPreemption replaces the process with itself under
// GODEBUG=asyncpreemptoff=1, which the runtime reads once, at its start.
// Without it a worker in a batch that lasts over 10 ms gets a signal and pays
// two thread switches. Where the kernel refuses, the batches show it.
func rerunWithoutPreemption() {
	const off = "asyncpreemptoff=1"
	debug := os.Getenv("GODEBUG")
	if strings.Contains(debug, off) {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	if debug != "" {
		debug += ","
	}
	os.Setenv("GODEBUG", debug+off)
	syscall.Exec(exe, os.Args, os.Environ())
}
