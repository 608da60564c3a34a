package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
)

// parseList reads a list of numbers with commas and ranges: low:high doubles,
// and low-high, where it means anything, takes every number. Both ends belong
// to a range. No number comes twice.
func parseList(text string, every bool, parse func(string) (int, error)) (list []int, err error) {
	const most = 1 << 14
	for _, field := range strings.Split(text, ",") {
		field = strings.TrimSpace(field)
		low, high, doubling := strings.Cut(field, ":")
		ranged := doubling
		if !doubling && every && !strings.HasPrefix(field, "-") {
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

// parseRanks reads -P, numbers of ranks from the least up.
func parseRanks(list string, least int) ([]int, error) {
	ps, err := parseList(list, true, func(text string) (int, error) {
		p, err := strconv.Atoi(text)
		switch {
		case err != nil || p < least && least > 1:
			return 0, fmt.Errorf("%q is not a number of ranks from %d up, like 2,4,8 or 2-16", text, least)
		case p < least:
			return 0, fmt.Errorf("a collective needs at least one rank, got P = %d", p)
		}
		return p, nil
	})
	if err != nil {
		return nil, usagef("-P: %v", err)
	}
	return ps, nil
}

// parseSizes reads -m, sizes of messages from the least up.
func parseSizes(list string, least int) ([]int, error) {
	ms, err := parseList(list, false, func(text string) (int, error) {
		m, _, err := parseSize(text, 1)
		if err == nil && m < least || strings.HasPrefix(text, "-") {
			err = fmt.Errorf("a message has %s or more, got m = %s", printable.Count(least, "byte"), text)
		}
		return m, err
	})
	if err != nil {
		return nil, usagef("-m: %v", err)
	}
	return ms, nil
}

// numbers parses a list of numbers from 1, and sorts it.
func numbers(name, list string, one func(string) (int, error)) ([]int, error) {
	var ns []int
	for _, field := range strings.Split(list, ",") {
		n, err := one(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return nil, usagef("%s: %q is not a number from 1", name, field)
		}
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return slices.Compact(ns), nil
}

// parseCaches parses a list of where user buffers are: false in cache, true off
// cache, in this order.
func parseCaches(list string) (offCache []bool, err error) {
	found := make(map[string]bool)
	for _, c := range strings.Split(list, ",") {
		c = strings.TrimSpace(c)
		if c != "in" && c != "off" {
			return nil, usagef("-cache: %q is neither in nor off", c)
		}
		found[c] = true
	}
	if found["in"] {
		offCache = append(offCache, false)
	}
	if found["off"] {
		offCache = append(offCache, true)
	}
	return offCache, nil
}

// fields are the parts of a list between commas.
func fields(list string) (parts []string) {
	for _, part := range strings.Split(list, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}
