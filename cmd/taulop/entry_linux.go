//go:build amd64 || arm64

package main

// Below some 750 MB of address space, and now and then between 1200 and 1660 MB, Go 1.26's runtime
// ends with a trace before any command runs. Release builds begin at entry (-ldflags=-E=entry), which
// says it in a sentence.
var (
	//lint:ignore U1000 entry_linux_*.s reads it
	leastAddressSpace uint64 = 1700 << 20 // bytes
	//lint:ignore U1000 entry_linux_*.s prints it
	noAddressSpace = "taulop: this process may map less than 1700 MB of memory, too little for any command: allow more address space (ulimit -v)\n"
)
