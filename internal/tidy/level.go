package tidy

import (
	"strings"
	"unicode"
)

// Units that two cores can share, the closest first; nodes share the network.
const (
	smt = iota
	l1
	l2
	l3
	ccd
	numaNode
	socket
	node
	network
)

// units are their names in levels.
var units = map[string]int{
	"core": smt, "smt": smt, "sibling": smt, "thread": smt, "hyperthread": smt,
	"l1": l1, "l2": l2, "l3": l3, "ccx": l3, "llc": l3, "cache": l3,
	"ccd": ccd, "cluster": ccd, "die": ccd, "tile": ccd,
	"numa": numaNode, "numanode": numaNode, "numadomain": numaNode, "snc": numaNode, "cmg": numaNode,
	"socket": socket, "package": socket, "pkg": socket, "chip": socket, "processor": socket, "cpu": socket,
	"node": node, "host": node, "server": node, "machine": node,
	"network": network, "net": network, "rack": network, "switch": network, "fabric": network, "infiniband": network, "ib": network, "ethernet": network,
}

// relations are the words for the same unit or two units. The first that is a prefix of a word such as
// intranode counts.
var relations = []struct {
	word  string
	apart bool
}{
	{"same", false}, {"one", false}, {"on", false}, {"intra", false}, {"within", false}, {"inside", false}, {"in", false},
	{"local", false}, {"single", false}, {"shared", false}, {"share", false}, {"common", false},
	{"other", true}, {"inter", true}, {"cross", true}, {"across", true}, {"different", true}, {"diff", true}, {"remote", true},
	{"between", true}, {"off", true}, {"two", true}, {"outside", true}, {"far", true}, {"another", true},
}

// A relation is the meaning of a level's name: two cores share a unit, or are apart, in two of them.
type relation struct {
	unit  int // −1: unknown
	apart bool
}

// order is the distance of two cores: cores that share a unit are closer than cores in two of them, and
// these closer than cores that share the next larger one.
func (r relation) order() int {
	if r.apart {
		return 2*r.unit + 1
	}
	return 2 * r.unit
}

// between reports whether the cores are on different nodes.
func (r relation) between() bool { return r.order() > 2*node }

// relationOf is the meaning of a level's name. Of several units it is the smallest that the cores share, as in
// same_socket_other_numa, else the largest that they do not share. Without a word of relations, the cores
// share a unit up to a NUMA node and are in two sockets or nodes, as with mpirun's mapping by socket.
func relationOf(level string) relation {
	found := relation{unit: -1}
	related, apart, not := false, false, false // a word of relations was found, and its meaning
	take := func(unit int) {
		apart := apart
		if !related {
			apart = unit >= socket && unit <= node
		}
		switch {
		case unit == node && found.unit == numaNode: // the second word of NUMA node
		case found.unit < 0, found.apart && (!apart || unit > found.unit), !found.apart && !apart && unit < found.unit:
			found = relation{unit, apart}
		}
		not = false
	}
	unitOf := func(word string) (unit int, known bool) {
		for _, word := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimRight(word, "0123456789")} {
			if unit, known = units[word]; known {
				return unit, true
			}
		}
		return 0, false
	}
	for _, word := range words(level) {
		if unit, known := unitOf(word); known {
			take(unit)
			continue
		}
		if word == "not" || word == "no" || word == "non" {
			not = true
			continue
		}
		for _, r := range relations {
			rest, match := strings.CutPrefix(word, r.word)
			unit, joined := unitOf(rest)
			if !match || rest != "" && !joined {
				continue
			}
			before := !related && found.unit >= 0 // the unit came first, as in numa_remote
			if related, apart = true, r.apart != not; joined {
				take(unit)
			} else if before {
				found.apart = apart
			}
			break
		}
	}
	return found
}

// words are the words of a name such as same_numa, same-numa or sameNuma, in small letters.
func words(name string) []string {
	var text strings.Builder
	small := false
	for _, r := range name {
		if unicode.IsUpper(r) && small {
			text.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		text.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(text.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
