package shm

import "unsafe"

// Flush removes lines from all caches above the point of coherency: their next load comes from memory. It
// returns false on processors without a known instruction for it.
func Flush(lines []unsafe.Pointer) bool {
	for _, line := range lines {
		flushLine(line)
	}
	flushed()
	return flushes
}
