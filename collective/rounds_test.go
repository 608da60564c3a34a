package collective

import (
	"math/rand/v2"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// Every message is sent once, from and to bytes of its own, and a rank sends and receives at most one in a round.
func TestRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		p := 1 + random.IntN(12)
		var messages []Envelope
		want := make(map[[2]int]int)
		for from := range p {
			for to := range p {
				if from != to && random.IntN(3) > 0 {
					m := Envelope{from, to, 1 + random.IntN(1<<random.IntN(8))}
					messages, want[[2]int{from, to}] = append(messages, m), m.Bytes
				}
			}
		}
		random.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		s := must.Get(Rounds(p, messages))
		carryOut(t, s)
		checkSteps(t, s)
		for _, step := range s.Steps() {
			sends, receives := make(map[int]bool), make(map[int]bool)
			least, most := 1<<30, 0
			for m := range step.Messages() {
				check.Need(t, !sends[m.From] && !receives[m.To], "rank %d sends or %d receives twice in a round", m.From, m.To)
				sends[m.From], receives[m.To] = true, true
				key := [2]int{m.From, m.To}
				check.Need(t, want[key] == m.Bytes(), "%v: want %d bytes", m, want[key])
				delete(want, key)
				least, most = min(least, m.Bytes()), max(most, m.Bytes())
			}
			check.True(t, most < 2*least, "messages of %d and %d bytes in one round", least, most)
		}
		check.Equal(t, len(want), 0, "messages left out")
	}
}

// An all-to-all has one round for each distance.
func TestRoundsOfAll(t *testing.T) {
	for _, p := range []int{2, 3, 8, 13, 64} {
		var messages []Envelope
		for i := range p * (p - 1) {
			messages = append(messages, Envelope{i % p, (i + 1 + i/p) % p, 1000})
		}
		check.Equal(t, must.Get(Rounds(p, messages)).Len(), p-1, "rounds among %d ranks", p)
	}
}

func TestRoundsRefused(t *testing.T) {
	contains.Error(t, must.Err(Rounds(4, []Envelope{{0, 0, 1}})), "give two of the ranks 0 … 3")
	contains.Error(t, must.Err(Rounds(4, []Envelope{{0, 4, 1}})), "give two of the ranks 0 … 3")
	contains.Error(t, must.Err(Rounds(4, []Envelope{{0, 1, -1}})), "bytes from 0")
	contains.Error(t, must.Err(Rounds(4, []Envelope{{0, 1, 1}, {0, 1, 2}})), "twice")
	contains.Error(t, must.Err(Rounds(4, []Envelope{{0, 1, maxBytes}, {0, 2, 1}})), "in all")
	check.Error(t, must.Err(Rounds(-1, nil)), "messages among -1 ranks have rounds")
}
