package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/taulop/taulop/numa"
)

// units of sizes, powers of two as the field has them; the longest spelling of
// each first.
var units = []struct {
	names []string
	bytes int
}{
	{[]string{"GIB", "GB", "G"}, 1 << 30},
	{[]string{"MIB", "MB", "M"}, 1 << 20},
	{[]string{"KIB", "KB", "K"}, 1 << 10},
	{[]string{"B"}, 1},
}

// fitsMemory refuses a size that is more than all memory that this process may take.
// What is no size is refused by who reads it.
func fitsMemory(name, text string) error {
	size, _, err := parseSize(text, 1)
	if err != nil {
		return nil
	}
	if free, err := numa.FreeMemoryBytes("/"); err == nil && int64(size) > free {
		return usagef("%s %s is too much of the %d MB of memory that this process may take: give a smaller one", name, text, free>>20)
	}
	return nil
}

// parseSize reads a size with a unit (64B, 8K, 1M), or without one in units of
// `unit` bytes. Its label is what to call it: 8KB for 8 KiB, as the paper does.
func parseSize(text string, unit int) (bytes int, label string, err error) {
	number, name := strings.ToUpper(strings.TrimSpace(text)), ""
search:
	for _, u := range units {
		for _, n := range u.names {
			if rest, found := strings.CutSuffix(number, n); found {
				number, name, unit = rest, n, u.bytes
				break search
			}
		}
	}
	if name == "" {
		name = map[int]string{1: "B", 1 << 10: "K"}[unit]
	}
	n, err := strconv.ParseUint(number, 10, 63)
	switch {
	case err != nil && strings.Trim(number, "0123456789") == "" && number != "", err == nil && n > uint64(math.MaxInt/unit):
		return 0, "", fmt.Errorf("size %q is too large", text)
	case err != nil:
		return 0, "", fmt.Errorf("size %q is not a size: write a whole number with a unit, like 64B, 8K or 1M", text)
	}
	if n == 0 {
		return 0, "0B", nil
	}
	letter := name[:1]
	if letter != "B" {
		letter += "B"
	}
	return int(n) * unit, strconv.FormatUint(n, 10) + letter, nil
}
