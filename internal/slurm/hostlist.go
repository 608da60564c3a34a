package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of a host list, which comes from the environment.
const (
	mostHosts = 1 << 16
	mostName  = 253 // bytes of a host name, RFC 1035
)

// The grammar of a host list: names with numbers and ranges in brackets, and commas between names.
const (
	span = `[0-9]{1,18}(-[0-9]{1,18})?`
	name = `([^][,\s\x00]|\[` + span + `(,` + span + `)*\])+`
)

var oneName, names = regexp.MustCompile(name), regexp.MustCompile(`^(` + name + `(,` + name + `)*)?$`)

// Hosts expands a list of hosts in Slurm's format, such as n[1-3,07-09],login, in its order, the
// order of tasks. Names may have several brackets.
func Hosts(list string) (hosts []string, err error) {
	if !names.MatchString(list) {
		return nil, fmt.Errorf("%.60q is no list of hosts, such as n[1-3,07-09],login", list)
	}
	for _, item := range oneName.FindAllString(list, -1) {
		if hosts, err = expand(hosts, "", item); err != nil {
			return nil, fmt.Errorf("hosts %.60q: %w", item, err)
		}
	}
	return hosts, nil
}

// expand adds the names that begin with done, followed by the expansion of item.
func expand(hosts []string, done, item string) ([]string, error) {
	before, rest, more := strings.Cut(item, "[")
	switch done += before; {
	case len(done) > mostName:
		return nil, fmt.Errorf("a name of more than %d letters", mostName)
	case !more && len(hosts) >= mostHosts:
		return nil, fmt.Errorf("more than %d hosts", mostHosts)
	case !more:
		return append(hosts, done), nil
	}
	ranges, rest, _ := strings.Cut(rest, "]")
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, several := strings.Cut(r, "-")
		if !several {
			last = first
		}
		from, low := strconv.Atoi(first)
		to, high := strconv.Atoi(last)
		if low != nil || high != nil || to < from || to-from >= mostHosts {
			return nil, fmt.Errorf("%s is no range of hosts", r)
		}
		for n := from; n <= to; n++ {
			var err error
			if hosts, err = expand(hosts, done+fmt.Sprintf("%0*d", len(first), n), rest); err != nil {
				return nil, err
			}
		}
	}
	return hosts, nil
}
