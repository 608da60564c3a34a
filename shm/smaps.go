package shm

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// hugeBytes reads smaps and returns the number of bytes of [begin, end) in huge pages, anonymous or
// shared.
func hugeBytes(smaps io.Reader, begin, end uint64) (int, error) {
	var from, to uint64 // of the current mapping
	var total float64   // of the range
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if low, high, ok := strings.Cut(name, "-"); ok {
			var err1, err2 error
			from, err1 = strconv.ParseUint(low, 16, 64)
			to, err2 = strconv.ParseUint(high, 16, 64)
			if err1 != nil || err2 != nil || to <= from {
				return 0, fmt.Errorf("smaps: %q is no range of addresses", name)
			}
			continue
		}
		overlap := min(to, end) - min(max(from, begin), min(to, end))
		if overlap == 0 || name != "AnonHugePages:" && name != "ShmemPmdMapped:" {
			continue
		}
		kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 44)
		if err != nil {
			return 0, fmt.Errorf("smaps: %q is no size", value)
		}
		total += float64(kb<<10) * float64(overlap) / float64(to-from)
	}
	return int(total), lines.Err()
}
