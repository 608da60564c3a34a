package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/printable"
)

// parseRanks reads -P, numbers of ranks from the least up.
func parseRanks(list string, least int) ([]int, error) {
	ps, err := argument.List(list, true, func(text string) (int, error) {
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
	ms, err := argument.List(list, false, func(text string) (int, error) {
		m, err := argument.Bytes(text)
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

// parseCaches reads -cache.
func parseCaches(list string) ([]bool, error) {
	caches, err := argument.Caches("-cache", list)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return caches, nil
}
