package numa

// cpuid executes CPUID on the CPU that the thread runs on.
func cpuid(leaf, sub uint32) (a, b, c, d uint32)
