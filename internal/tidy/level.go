package tidy

import (
	"strings"
	"unicode"
)

// What two cores can share, the closest first; network is what nodes share.
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

// units are the words of levels' names for them.
var units = map[string]int{
	"core": smt, "smt": smt, "sibling": smt, "thread": smt, "hyperthread": smt,
	"l1": l1, "l2": l2, "l3": l3, "ccx": l3, "llc": l3, "cache": l3,
	"ccd": ccd, "cluster": ccd, "die": ccd, "tile": ccd,
	"numa": numaNode, "numanode": numaNode, "snc": numaNode, "cmg": numaNode,
	"socket": socket, "package": socket, "pkg": socket, "chip": socket, "processor": socket, "cpu": socket,
	"node": node, "host": node, "server": node, "machine": node,
	"network": network, "net": network, "rack": network, "switch": network, "fabric": network, "infiniband": network, "ib": network, "ethernet": network,
}

// relations are the words for whether two cores are in the same unit; the first that fits begins
// a word such as intranode.
var relations = []struct {
	word  string
	apart bool
}{
	{"same", false}, {"one", false}, {"on", false}, {"intra", false}, {"within", false}, {"inside", false}, {"in", false},
	{"local", false}, {"single", false}, {"shared", false}, {"share", false}, {"common", false},
	{"other", true}, {"inter", true}, {"cross", true}, {"across", true}, {"different", true}, {"diff", true}, {"remote", true},
	{"between", true}, {"off", true}, {"two", true}, {"outside", true}, {"far", true}, {"another", true},
}

// A relation is what a level's name says of two cores: they share a unit, or they are apart, in
// two of them.
type relation struct {
	unit  int // −1: the name says nothing
	apart bool
}

// order is how far two cores are from each other: those that share a unit are closer than those
// that are in two of them, and these closer than any that share the next larger one.
func (r relation) order() int {
	if r.apart {
		return 2*r.unit + 1
	}
	return 2 * r.unit
}

// between tells whether the cores are on different nodes.
func (r relation) between() bool { return r.order() > 2*node }

// relationOf is what a level's name says. Of several units the cores share the smallest that it
// says they share, such as same_socket_other_numa, and else are in two of the largest. Where it
// has no word for whether they share it they do, up to the memory, and not so a socket or a
// node, as mpirun's mapping by socket has it.
func relationOf(level string) relation {
	found := relation{unit: -1}
	told, apart, not := false, false, false
	take := func(unit int) {
		apart := apart
		if !told {
			apart = unit >= socket && unit <= node
		}
		switch {
		case unit == node && found.unit == numaNode: // NUMA node
		case found.unit < 0, found.apart && (!apart || unit > found.unit), !found.apart && !apart && unit < found.unit:
			found = relation{unit, apart}
		}
		not = false
	}
	unitOf := func(word string) (unit int, is bool) {
		for _, word := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimRight(word, "0123456789")} {
			if unit, is = units[word]; is {
				return unit, true
			}
		}
		return 0, false
	}
	for _, word := range words(level) {
		if unit, is := unitOf(word); is {
			take(unit)
			continue
		}
		if word == "not" || word == "no" || word == "non" {
			not = true
			continue
		}
		for _, r := range relations {
			rest, is := strings.CutPrefix(word, r.word)
			unit, joined := unitOf(rest)
			if !is || rest != "" && !joined {
				continue
			}
			before := !told && found.unit >= 0 // the unit came first, as in numa_remote
			if told, apart = true, r.apart != not; joined {
				take(unit)
			} else if before {
				found.apart = apart
			}
			break
		}
	}
	return found
}

// words are those of a name such as same_numa, same-numa or sameNuma, in small letters.
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
