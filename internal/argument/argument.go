// Package argument parses flags and operands: sizes, shares, lists of numbers and names.
// Errors say what to write instead.
package argument

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// units of sizes in bytes. KB is 1024 bytes, as in the paper.
var units = map[string]int{
	"B": 1, "K": 1 << 10, "KB": 1 << 10, "KIB": 1 << 10,
	"M": 1 << 20, "MB": 1 << 20, "MIB": 1 << 20, "G": 1 << 30, "GB": 1 << 30, "GIB": 1 << 30,
}

// Size reads a size with a unit (64B, 8K, 1M); a number alone counts units of `unit` bytes.
// The label is the size in the paper's notation: 8KB for 8 KiB.
func Size(text string, unit int) (bytes int, label string, err error) {
	number := strings.ToUpper(strings.TrimSpace(text))
	name := strings.TrimLeft(number, "0123456789")
	if bytes, known := units[name]; known {
		number, unit = strings.TrimSuffix(number, name), bytes
	} else {
		name = map[int]string{1: "B", 1 << 10: "K"}[unit]
	}
	n, err := strconv.ParseUint(number, 10, 63)
	switch {
	case err != nil && strings.Trim(number, "0123456789") == "" && number != "", err == nil && n > uint64(math.MaxInt/unit):
		return 0, "", fmt.Errorf("size %q is too large", text)
	case err != nil:
		return 0, "", fmt.Errorf("size %q is not a size: write a whole number with one of the units B, K, M and G, like 64B or 8K", text)
	}
	if n == 0 {
		return 0, "0B", nil
	}
	letter := name[:1]
	return int(n) * unit, strconv.FormatUint(n, 10) + letter + printable.If(letter != "B", "B"), nil
}

// Bytes reads a size; a number alone is in bytes.
func Bytes(text string) (int, error) {
	m, _, err := Size(text, 1)
	return m, err
}

// Bandwidth reads GB/s, 10⁹ bytes a second.
func Bandwidth(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= params.MostPeakGBs) {
		return 0, fmt.Errorf("%q is no bandwidth: give GB/s above 0, at most %.0f, like 204.8", text, params.MostPeakGBs)
	}
	return v, nil
}

// Share reads a share from 0 to most: 10%, 10 and 0.1 are a tenth. 1 is ambiguous and an error.
func Share(most float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		ambiguous := v == 1 && !percent
		if percent || v > 1 {
			v /= 100
		}
		switch {
		case err != nil || !(v >= 0):
			return 0, fmt.Errorf("%q is no percentage: give one like 10%%", text)
		case ambiguous:
			return 0, fmt.Errorf("%q may be 1 %% or all: give 1%% or 100%%", text)
		case v > most:
			return 0, fmt.Errorf("%q is too much: give a percentage from 0 to %g, like 10%%", text, 100*most)
		}
		return v, nil
	}
}

// Some reads a size of one byte or more.
func Some(text string) (int, error) {
	m, err := Bytes(text)
	if err == nil && m < 1 {
		err = fmt.Errorf("%q: give 1 or more", text)
	}
	return m, err
}

// Ranks reads a list of numbers of ranks, each `least` or more.
func Ranks(least int) func(string) ([]int, error) {
	return listOf(true, func(text string) (int, error) {
		p, err := strconv.Atoi(text)
		switch {
		case err != nil || p < least && least > 1:
			return 0, fmt.Errorf("%q is not a number of ranks from %d up, like 2,4,8 or 2-16", text, least)
		case p < least:
			return 0, fmt.Errorf("a collective needs at least one rank, got P = %d", p)
		}
		return p, nil
	})
}

// Messages reads a list of message sizes, each `least` bytes or more.
func Messages(least int) func(string) ([]int, error) {
	return listOf(false, func(text string) (int, error) {
		m, err := Bytes(text)
		if err == nil && m < least || strings.HasPrefix(text, "-") {
			err = fmt.Errorf("a message has %s or more, got m = %s", printable.Count(least, "byte"), text)
		}
		return m, err
	})
}

// Sizes reads a list of sizes of one byte or more, in the given order.
func Sizes(list string) ([]int, error) { return List(list, false, Some) }

// Taus reads a list of numbers of concurrent transfers, in the given order.
func Taus(list string) ([]int, error) { return Counts("τ", true)(list) }

// Rising sorts the list that `read` returns.
func Rising(read func(string) ([]int, error)) func(string) ([]int, error) {
	return func(list string) ([]int, error) {
		ns, err := read(list)
		slices.Sort(ns)
		return ns, err
	}
}

// Counts reads a list of whole numbers from 1, in the given order. Errors call a number by name.
func Counts(name string, ranges bool) func(string) ([]int, error) {
	return listOf(ranges, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q is not a %s: give whole numbers from 1, like 1,2,4", text, name)
		}
		return n, nil
	})
}

// FitsMemory rejects a size above the memory that this process may use. It leaves malformed
// sizes to the parser of the flag.
func FitsMemory(name, text string) error {
	size, err := Bytes(text)
	if err != nil {
		return nil
	}
	if free, err := numa.FreeMemoryBytes("/"); err == nil && int64(size) > free {
		return fmt.Errorf("%s %s is too much of the %d MB of memory that this process may take: give a smaller one", name, text, free>>20)
	}
	return nil
}

func listOf(dashes bool, parse func(string) (int, error)) func(string) ([]int, error) {
	return func(list string) ([]int, error) { return List(list, dashes, parse) }
}

// List reads comma-separated numbers and ranges, without duplicates. low:high doubles from low
// and ends with high; low-high, if dashes are allowed, is every number.
func List(text string, dashes bool, parse func(string) (int, error)) (list []int, err error) {
	const most = 1 << 14
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		low, high, doubling := strings.Cut(field, ":")
		ranged := doubling
		if !doubling && dashes && !strings.HasPrefix(field, "-") {
			low, high, ranged = strings.Cut(field, "-")
		}
		first, err := parse(low)
		if err != nil {
			return nil, err
		}
		last := first
		if ranged {
			if last, err = parse(high); err != nil {
				return nil, err
			}
			if last < first {
				return nil, fmt.Errorf("range %s runs backwards: give the smaller number first", field)
			}
		}
		for v := first; ; {
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
			if len(list) > most {
				return nil, fmt.Errorf("%q has more than %d values: take fewer, or a range that doubles, like 2:1024", text, most)
			}
			if v == last {
				break
			}
			if doubling {
				v = max(1, v+min(v, last-v))
			} else {
				v++
			}
		}
	}
	return list, nil
}

// Names reads a comma-separated list without duplicates. The error is always nil.
func Names[T ~string](list string) (names []T, err error) {
	for part := range strings.SplitSeq(list, ",") {
		if name := T(strings.TrimSpace(part)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Among reads a list of known names, and returns them in the order of known.
func Among(known []string) func(string) ([]string, error) {
	return func(list string) ([]string, error) {
		given := lists.Map(strings.Split(list, ","), strings.TrimSpace)
		if i := slices.IndexFunc(given, func(name string) bool { return !slices.Contains(known, name) }); i >= 0 {
			return nil, fmt.Errorf("there is no %q: use some of %s", given[i], strings.Join(known, ","))
		}
		return lists.Filter(known, func(k string) bool { return slices.Contains(given, k) }), nil
	}
}

// Cache reads in or off: user buffers in cache or off cache.
func Cache(text string) (offCache bool, err error) {
	if text != "in" && text != "off" {
		return false, fmt.Errorf("%q is neither in nor off: choose one", text)
	}
	return text == "off", nil
}

// Caches reads a list of in and off, and returns false (in cache) before true (off cache).
func Caches(list string) ([]bool, error) {
	names, err := Among([]string{"in", "off"})(list)
	return lists.Map(names, func(name string) bool { return name == "off" }), err
}
