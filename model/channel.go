package model

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// A Channel is where the bytes of a transfer are, and the pattern of its workers: these decide its
// cost (Ramos and Hoefler, "Modeling communication in cache-coherent SMP systems", HPDC 2013). The zero
// value is the channel of the paper, where ranks send and receive in turn, over the data just sent;
// it stands in for all channels that were not measured.
type Channel struct {
	Level               int // of the node, between the ranks' cores; see TauLop.Level
	Transport           params.Transport
	Way                 Way
	Source, Destination Place
}

// A Way is the pattern of a transfer's workers.
type Way int

const (
	Strict   Way = iota // the paper's, for all transfers
	Exchange            // each worker sends and receives, in turn
	OneWay              // each worker only sends or only receives
	Alone               // each worker copies within its own memory
)

// A Place is where the source or the destination of a transfer is.
type Place int

const (
	Untouched  Place = iota // user data that the call has not touched: off cache memory, else the rank's cache
	OwnCache                // the rank's own cache, with data that the call has touched
	OtherCache              // the cache of another core, whose rank wrote the data in the same call
)

// String is the channel's marks behind the letter of a parameter in formulas, see Marks.
func (c Channel) String() string {
	way := [...]string{Exchange: "⇄", OneWay: "→", Alone: ""}[c.Way]
	if c.Source != Untouched || c.Destination != Untouched {
		way = cmp.Or(way, "→")
		if c.Source != Untouched {
			way = "°" + way
		}
		way += printable.If(c.Destination != Untouched, "°")
	}
	return way + strings.Repeat("*", c.Level) + printable.If(c.Transport == params.CMA, "¹")
}

// A Mark is a mark behind the letters of parameters.
type Mark struct{ Letters, Mark, Meaning string }

// Marks are all marks of formulas.
var Marks = []Mark{
	{"Lyc", "→", "one way, as ping has transfers"},
	{"Lyo", "⇄", "exchanges, which receive beside what they send, as sendrecv has them, unless ° says otherwise; their o(m) may be below zero"},
	{"Lyc", "°", "what the call has touched, which is in a core's cache: before an arrow the source, behind it the destination"},
	{"Lyo", "*", "between parts of a node, such as its NUMA nodes; each further * is a level farther apart"},
	{"L", "¹", "single copies by the kernel"},
	{"Lo", "₁", "between nodes, through the network"},
}

// Of are the letters with the mark in a formula.
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

var markedLetter = regexp.MustCompile(`([Lyoc])([^a-z(\s]*)\(`)

// A curve is a time of m bytes among τ.
type curve func(m, tau int) (seconds float64, extrapolated bool)

// Transfers are the parameters of one channel.
type Transfers struct {
	l curve                                              // L(m,τ); of Alone c(m,τ)
	y func(tau int) (seconds float64, extrapolated bool) // nil: L(0,τ)
}

// flag is y(τ), the time of waiting for a flag.
func (t Transfers) flag(tau int) (seconds float64, extrapolated bool) {
	if t.y == nil {
		return t.l(0, tau)
	}
	return t.y(tau)
}

// Channels are the parameters of a machine, by channel.
type Channels struct {
	transfers map[Channel]Transfers
	overheads map[Channel]func(m int) (seconds float64, extrapolated bool) // o(m) of Strict and Exchange, by level
}

// Uniform is a machine with the same parameters for all channels.
func Uniform(p Parameters) *Channels {
	c := newChannels()
	c.transfers[Channel{}] = Transfers{l: p.L}
	c.overheads[Channel{}] = p.O
	return c
}

func newChannels() *Channels {
	return &Channels{transfers: make(map[Channel]Transfers), overheads: make(map[Channel]func(int) (float64, bool))}
}

func (c *Channels) has(channel Channel) bool {
	_, has := c.transfers[channel]
	return has
}

// Nearest is the measured channel that represents one: itself, else with an untouched destination, then
// also an untouched source, then the level's Strict one, at last the Strict one over shared buffers.
func (c *Channels) Nearest(channel Channel) Channel {
	for _, generalise := range []func(){
		func() { channel.Destination = Untouched }, func() { channel.Source = Untouched }, func() { channel.Way = Strict }, func() { channel.Transport = params.InSegments },
	} {
		if c.has(channel) {
			break
		}
		generalise()
	}
	return channel
}

// Transfers are the parameters of the Nearest channel.
func (c *Channels) Transfers(channel Channel) Transfers { return c.transfers[c.Nearest(channel)] }

// overheadOf is the channel with the o(m) of a level: of its exchanges only if this was measured.
func (c *Channels) overheadOf(level int, exchange bool) Channel {
	of := Channel{Level: level, Way: Exchange}
	if !exchange || c.overheads[of] == nil {
		of.Way = Strict
	}
	return of
}
