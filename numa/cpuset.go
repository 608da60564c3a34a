package numa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/sysfs"
)

// A CPUSet is a set of CPU or node numbers, ascending and without duplicates. Its text is the
// kernel's: 0-3,8.
type CPUSet []int

// maxCPU is the largest valid CPU number: kernels are built for at most 8192 CPUs. It also bounds
// tables with an entry for each pair of CPUs.
const maxCPU = 1<<13 - 1

// mostWords is the number of 32-bit words in a mask of all CPUs.
const mostWords = (maxCPU + 1) / 32

// SetOf returns the set of the given CPUs, which may be in any order.
func SetOf(cpus ...int) CPUSet { return lists.Rising(cpus) }

// ParseList reads the kernel's list format, "0-3,8"; an empty list is an empty
// set.
func ParseList(list string) (CPUSet, error) {
	var spans []span
	for field := range strings.SplitSeq(sysfs.Trim(list), ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		s, err := parseSpan(field)
		if err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	// Spans are merged before they are expanded, so that repetition takes no memory.
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	var set CPUSet
	next := 0
	for _, s := range spans {
		for cpu := max(s.first, next); cpu <= s.last; cpu++ {
			set = append(set, cpu)
		}
		next = max(next, s.last+1)
	}
	return set, nil
}

// ParseMask reads the kernel's hexadecimal format, "ff,00000000": words of 32 bits, the highest
// first.
func ParseMask(mask string) (CPUSet, error) {
	mask = sysfs.Trim(mask)
	if mask == "" {
		return nil, nil
	}
	words := strings.SplitN(mask, ",", mostWords+2)
	if len(words) > mostWords {
		return nil, fmt.Errorf("CPU mask has more than %d words of 32 bits, which no kernel writes", mostWords)
	}
	var set CPUSet
	for i, word := range slices.Backward(words) {
		bits, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("CPU mask has %.40q where a hexadecimal word of 32 bits belongs", word)
		}
		for bit := range 32 {
			if bits>>bit&1 != 0 {
				set = append(set, (len(words)-1-i)*32+bit)
			}
		}
	}
	return set, nil
}

// ParseOrder reads a user's list and keeps its order: in "2,0,4-7" CPU 2 is the first.
func ParseOrder(list string) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		return nil, fmt.Errorf("the list of CPUs is empty: name at least one, like 0,2 or 0-3")
	}
	var cpus []int
	seen := make(map[int]bool)
	for field := range strings.SplitSeq(list, ",") {
		s, err := parseSpan(strings.TrimSpace(field))
		if err != nil {
			return nil, err
		}
		for cpu := s.first; cpu <= s.last; cpu++ {
			if seen[cpu] {
				return nil, fmt.Errorf("CPU %d is twice in %s: name each CPU once", cpu, abbreviate(list))
			}
			seen[cpu] = true
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// Len is the number of CPUs in the set.
func (s CPUSet) Len() int { return len(s) }

// Contains reports whether a CPU is in the set.
func (s CPUSet) Contains(cpu int) bool {
	_, found := slices.BinarySearch(s, cpu)
	return found
}

// And returns the CPUs that are in both sets.
func (s CPUSet) And(other CPUSet) CPUSet { return lists.Filter(s, other.Contains) }

// String writes the set in the kernel's format, "0-3,8".
func (s CPUSet) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		first := i
		for i++; i < len(s) && s[i] == s[i-1]+1; i++ {
		}
		if first > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[first]))
		if last := i - 1; last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(s[last]))
		}
	}
	return b.String()
}

// MarshalText writes the set as String does.
func (s CPUSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *CPUSet) UnmarshalText(text []byte) (err error) {
	*s, err = ParseList(string(text))
	return err
}

// A span is one field of a list: "8" or "0-3".
type span struct{ first, last int }

func parseSpan(field string) (span, error) {
	low, high, ranged := strings.Cut(field, "-")
	first, err := parseCPU(low)
	if err != nil || !ranged {
		return span{first, first}, err
	}
	last, err := parseCPU(high)
	if err != nil {
		return span{}, err
	}
	if last < first {
		return span{}, fmt.Errorf("range %d-%d runs backwards: write %d-%d, or name the CPUs one by one", first, last, last, first)
	}
	return span{first, last}, nil
}

func parseCPU(digits string) (int, error) {
	cpu, err := strconv.ParseUint(digits, 10, 32)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s is no CPU number: write numbers and ranges, like 0,2 or 0-3", abbreviate(digits))
	case cpu > maxCPU:
		return 0, fmt.Errorf("CPU number %d is beyond %d, the largest that makes sense", cpu, maxCPU)
	}
	return int(cpu), nil
}

// abbreviate quotes the beginning of a user's or a file's text.
func abbreviate(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return strconv.Quote(text)
}
