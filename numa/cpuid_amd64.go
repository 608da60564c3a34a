package numa

// cpuid asks the CPU that the thread is on.
func cpuid(leaf, sub uint32) (a, b, c, d uint32)
