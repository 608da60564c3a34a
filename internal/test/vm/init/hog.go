//go:build linux

package main

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/numa"
)

// hog takes a node's memory from the CPU next to it, as long as there is any to
// be had. It returns only an error.
func hog(number string) error {
	node, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for pinned := false; ; {
		m, err := numa.Discover("/")
		if err != nil {
			return err
		}
		if !pinned {
			if err := numa.Pin(m.Nodes[node].CPUs[0]); err != nil {
				return err
			}
			pinned = true
		}
		const leave, least = 1 << 20, 256 << 10
		piece := int(m.Nodes[node].FreeBytes-leave) / 2
		if piece < least {
			time.Sleep(time.Millisecond)
			continue
		}
		mem, err := unix.Mmap(-1, 0, piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		for at := 0; at < piece; at += os.Getpagesize() {
			mem[at] = 1
		}
	}
}
