package shm

import "unsafe"

// Flush takes lines out of all caches of the machine, as far as they lie before the point
// at which all its processors see the same: what is read of them next comes from memory.
// It is false where no instruction for that is known.
func Flush(lines []unsafe.Pointer) bool {
	for _, line := range lines {
		flushLine(line)
	}
	flushed()
	return flushes
}
