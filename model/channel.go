package model

import (
	"regexp"
	"strings"

	"github.com/taulop/taulop/params"
)

// A Channel is where the bytes of a transfer are, and how the workers go: what decides what
// it costs (Ramos and Hoefler, "Modeling communication in cache-coherent SMP systems", HPDC
// 2013). Its zero value is the channel of the paper, where ranks send and receive in turn,
// over what they have just sent; it stands in for all that a machine does not tell apart.
type Channel struct {
	Level               int              // of the node, between the ranks' cores; see TauLop.Level
	Transport           params.Transport // what carries the bytes
	Way                 Way
	Source, Destination Place
}

// A Way is how the workers of a transfer go.
type Way int

const (
	Strict   Way = iota // as the paper has all transfers
	Exchange            // each worker sends and receives, in turn
	OneWay              // each worker only sends or only receives
	Alone               // each worker copies within its own memory
)

// A Place is where one end of a transfer is.
type Place int

const (
	// Untouched is where the program has its data: the call was not there before. Off cache
	// that is memory, and in cache the rank's cache.
	Untouched Place = iota
	// OwnCache is the rank's own cache, which has what the call touched last.
	OwnCache
	// OtherCache is the cache of another core, whose rank wrote there in the same call.
	OtherCache
)

// String is the channel's short name, which stands behind the letter of a parameter in
// formulas, see Marks.
func (c Channel) String() string {
	way := [...]string{Exchange: "⇄", OneWay: "→", Alone: ""}[c.Way]
	if c.Source != Untouched || c.Destination != Untouched {
		if way == "" {
			way = "→"
		}
		if c.Source != Untouched {
			way = "°" + way
		}
		if c.Destination != Untouched {
			way += "°"
		}
	}
	way += strings.Repeat("*", c.Level)
	if c.Transport == params.CMA {
		way += "¹"
	}
	return way
}

// A Mark is a part of a channel's short name.
type Mark struct{ Letters, Mark, Meaning string }

// Marks are all, as they may stand behind letters of formulas.
var Marks = []Mark{
	{"Lyc", "→", "one way, as ping has transfers"},
	{"Lyo", "⇄", "exchanges, which receive beside what they send, as sendrecv has them, unless ° says otherwise; their o(m) may be below zero"},
	{"Lycγ", "°", "what the call has touched, which is in a core's cache: before an arrow the source, behind it the destination"},
	{"Lyo", "*", "between parts of a node, such as its NUMA nodes; each further * is a level farther apart"},
	{"L", "¹", "single copies by the kernel"},
	{"Lo", "₁", "between nodes, through the network"},
}

// Of are the letters that have the mark in a formula, each with its mark.
func (m Mark) Of(formula string) (marked []string) {
	for _, letter := range m.Letters {
		for _, found := range markedLetter.FindAllStringSubmatch(formula, -1) {
			if found[1] == string(letter) && strings.Contains(found[2], m.Mark) {
				marked = append(marked, string(letter)+m.Mark)
				break
			}
		}
	}
	return marked
}

var markedLetter = regexp.MustCompile(`([Lyocγ])([^a-z(\s]*)\(`)

// A curve is a time of m bytes among τ, in seconds, and whether it is beyond what was measured.
type curve func(m, tau int) (seconds float64, extrapolated bool)

// Transfers are the parameters of one channel.
type Transfers struct {
	l curve                                              // L(m,τ); of Alone c(m,τ)
	y func(tau int) (seconds float64, extrapolated bool) // of a flag; nil: L(0,τ)
}

// flag is y(τ), which waiting for a flag takes.
func (t Transfers) flag(tau int) (seconds float64, extrapolated bool) {
	if t.y == nil {
		return t.l(0, tau)
	}
	return t.y(tau)
}

// Channels are the parameters of a machine, by channel.
type Channels struct {
	transfers map[Channel]Transfers
	overheads map[Channel]func(m int) (seconds float64, extrapolated bool) // o(m), by level; of Exchange, between two ranks
}

// Uniform is a machine all of whose channels have the same parameters.
func Uniform(p Parameters) *Channels {
	c := newChannels()
	c.transfers[Channel{}] = Transfers{l: p.L}
	c.overheads[Channel{}] = p.O
	return c
}

func newChannels() *Channels {
	return &Channels{transfers: make(map[Channel]Transfers), overheads: make(map[Channel]func(int) (float64, bool))}
}

func (c *Channels) has(of Channel) bool {
	_, has := c.transfers[of]
	return has
}

// Nearest is the channel asked for if it was measured. Else it is the one whose destination, then
// whose source, the call has not touched, and at last the one of all transfers at the level.
func (c *Channels) Nearest(asked Channel) Channel {
	of := asked
	for _, farther := range []func(){
		func() {}, func() { of.Destination = Untouched }, func() { of.Source = Untouched }, func() { of.Way = Strict }, func() { of.Transport = params.InSegments },
	} {
		if farther(); c.has(of) {
			break
		}
	}
	return of
}

// Transfers are the parameters of the channel that stands in for one, see Nearest.
func (c *Channels) Transfers(asked Channel) Transfers { return c.transfers[c.Nearest(asked)] }

// overheadOf is the channel of o(m) that stands in for one: Exchange where such were
// measured at its level.
func (c *Channels) overheadOf(asked Channel) Channel {
	of := Channel{Level: asked.Level, Way: Exchange}
	if _, has := c.overheads[of]; asked.Way != Exchange || !has {
		of.Way = Strict
	}
	return of
}
