package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a host list, which comes from the environment.
const (
	mostHosts = 1 << 16
	mostName  = 253 // bytes of a host name, RFC 1035
)

// Hosts expands a list of hosts in Slurm's format, such as n[1-3,07-09],login, in its order, the
// order of tasks. Names may have several brackets.
func Hosts(list string) (hosts []string, err error) {
	for len(list) > 0 {
		item := list
		if end := endOf(list); end < len(list) {
			item, list = list[:end], list[end+1:]
			if list == "" {
				return nil, fmt.Errorf("the list of hosts ends with a comma")
			}
		} else {
			list = ""
		}
		if hosts, err = expand(hosts, "", item); err != nil {
			return nil, fmt.Errorf("hosts %.60q: %w", item, err)
		}
	}
	return hosts, nil
}

// endOf is the end of a list's first item: a comma outside of brackets.
func endOf(list string) int {
	inside := false
	for i, r := range list {
		switch {
		case r == '[':
			inside = true
		case r == ']':
			inside = false
		case r == ',' && !inside:
			return i
		}
	}
	return len(list)
}

// expand adds the names that begin with done, followed by the expansion of item.
func expand(hosts []string, done, item string) ([]string, error) {
	name, rest, more := strings.Cut(item, "[")
	if strings.Contains(name, "]") {
		return nil, fmt.Errorf("a bracket closes that was not opened")
	}
	done += name
	if len(done) > mostName {
		return nil, fmt.Errorf("a name of more than %d letters", mostName)
	}
	if !more {
		switch {
		case done == "" || strings.ContainsAny(done, " \t\r\n\x00"):
			return nil, fmt.Errorf("a name is empty, or has spaces")
		case len(hosts) >= mostHosts:
			return nil, fmt.Errorf("more than %d hosts", mostHosts)
		}
		return append(hosts, done), nil
	}
	ranges, rest, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, fmt.Errorf("a bracket is not closed")
	}
	for _, r := range strings.Split(ranges, ",") {
		first, last, several := strings.Cut(r, "-")
		if !several {
			last = first
		}
		from, err := number(first)
		if err != nil {
			return nil, err
		}
		to, err := number(last)
		if err != nil {
			return nil, err
		}
		if to < from || to-from >= mostHosts {
			return nil, fmt.Errorf("%s is no range of hosts", r)
		}
		for n := from; n <= to; n++ {
			if hosts, err = expand(hosts, done+fmt.Sprintf("%0*d", len(first), n), rest); err != nil {
				return nil, err
			}
		}
	}
	return hosts, nil
}

func number(digits string) (uint64, error) {
	if strings.Trim(digits, "0123456789") != "" || len(digits) > 18 {
		return 0, fmt.Errorf("%.20q is no number", digits)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.20q is no number", digits)
	}
	return n, nil
}
