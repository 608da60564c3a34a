package model

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/params"
)

// plain is a channel with distinct values for all terms: L(m,τ) = (m+1)·τ^0.7, o(m) = 1000 + m/7. Beyond 16
// transfers it extrapolates.
type plain struct{}

func (plain) L(m, tau int) (float64, bool) {
	return float64(m+1) * math.Pow(float64(tau), 0.7), tau > 16
}
func (plain) O(m int) (float64, bool) { return 1000 + float64(m)/7, false }

func (plain) Gamma(operator string, m, tau int) (float64, bool, error) {
	if operator != "sum" {
		return 0, false, errors.New("unknown operator " + operator)
	}
	return float64(m) / 3 * math.Sqrt(float64(tau)), false, nil
}

func l(m, tau int) float64 { v, _ := plain{}.L(m, tau); return v }
func o(m int) float64      { v, _ := plain{}.O(m); return v }
func g(m, tau int) float64 { v, _, _ := plain{}.Gamma("sum", m, tau); return v }

const segment = 8192

// The paper's equations, in its notation and as numbers.
func TestEquations(t *testing.T) {
	const m = 4 * segment
	try := func(equation, algorithm string, call collective.Call, transport params.Transport, formula string, want float64) {
		t.Run(equation, func(t *testing.T) {
			m := TauLop{Channels: Uniform(plain{}), Reductions: plain{}, Transport: transport, Segment: segment}
			expect(t, m, algorithm, call, 1e9*want, formula)
		})
	}
	try("(10)", "bcast:linear", collective.Call{P: 2, M: m}, Segmented,
		"o(m) + 2L(S,1) + (k−1)L(S,2)", o(m)+2*l(segment, 1)+3*l(segment, 2))
	try("(10), last segment short", "bcast:linear", collective.Call{P: 2, M: 2*segment + 100}, Segmented,
		"o(m) + L(S,1) + 2L(S,2) + L(100 B,1)", o(2*segment+100)+l(segment, 1)+2*l(segment, 2)+l(100, 1))
	try("(11)", "bcast:linear", collective.Call{P: 2, M: 100}, Segmented, "o(m) + 2L(m,1)", o(100)+2*l(100, 1))
	try("(11), whole", "bcast:linear", collective.Call{P: 2, M: m}, Whole, "o(m) + 2L(m,1)", o(m)+2*l(m, 1))
	try("(11), n = 1", "bcast:linear", collective.Call{P: 2, M: m}, SingleCopy, "o(m) + L(m,1)", o(m)+l(m, 1))
	try("(22)", "bcast:linear", collective.Call{P: 2, M: m}, Steady, "o(m) + kL(S,2)", o(m)+4*l(segment, 2))
	try("(14)", "bcast:binomial", collective.Call{P: 8, M: m}, Segmented,
		"3o(m) + 2L(S,1) + (k+1)L(S,2) + (k+1)L(S,4) + (k−1)L(S,8)",
		3*o(m)+2*l(segment, 1)+5*l(segment, 2)+5*l(segment, 4)+3*l(segment, 8))
	try("(15), P no power of two", "bcast:binomial", collective.Call{P: 7, M: m}, Whole,
		"3o(m) + 2L(m,1) + 2L(m,2) + 2L(m,3)", 3*o(m)+2*(l(m, 1)+l(m, 2)+l(m, 3)))
	try("(17)", "allgather:ring", collective.Call{P: 2, M: m}, Segmented, "o(m) + 2kL(S,2)", o(m)+8*l(segment, 2))
	try("(17), k = 1", "allgather:ring", collective.Call{P: 2, M: 100}, Segmented, "o(m) + 2L(m,2)", o(100)+2*l(100, 2))
	try("(21)", "allgather:ring", collective.Call{P: 5, M: m}, Segmented, "4o(m) + 8kL(S,5)", 4*o(m)+32*l(segment, 5))
	try("(23)", "scatter:binomial", collective.Call{P: 8, M: m}, Steady,
		"o(4m) + 4kL(S,2) + o(2m) + 2kL(S,4) + o(m) + kL(S,8)",
		o(4*m)+o(2*m)+o(m)+16*l(segment, 2)+8*l(segment, 4)+4*l(segment, 8))
	try("(24)", "allgather:recursive-doubling", collective.Call{P: 8, M: m}, Steady,
		"o(m) + 14kL(S,8) + o(2m) + o(4m)", o(m)+o(2*m)+o(4*m)+56*l(segment, 8))
	try("(16) and (21) of m/P", "bcast:scatter-ring", collective.Call{P: 4, M: 4 * m}, Steady,
		"o(2·m/P) + 2kL(S,2) + 4o(m/P) + 7kL(S,4)", o(2*m)+4*o(m)+8*l(segment, 2)+28*l(segment, 4))
	try("reductions", "allreduce:recursive-doubling", collective.Call{P: 4, M: m}, Whole,
		"2o(m) + 4L(m,4) + 2γ(m,4)", 2*o(m)+4*l(m, 4)+2*g(m, 4))
	try("no data", "barrier:dissemination", collective.Call{P: 8}, Segmented, "3o(0 B) + 6L(0 B,8)", 3*o(0)+6*l(0, 8))
	try("a single rank", "allreduce:ring", collective.Call{P: 1, M: m}, Segmented, "0", 0)
}

// Equations of the baseline models. With L = 1, o = 10, g = 100, G = 1000 each digit of a cost counts a
// parameter; with o(m) = m+1 log_nP counts bytes.
func TestBaselines(t *testing.T) {
	const S, k = 10, 3
	baseline := LogGP{Latency: 1, Overhead: 10, Gap: 100, GapPerByte: 1000, Segment: S}
	whole := baseline
	whole.Segment = 0
	overhead := func(m int) (float64, bool) { return float64(m) + 1, m > 100 }
	converted := must.Get(LogNPOf(TauLop{Channels: Uniform(plain{}), Segment: segment})) // ignores concurrency
	lone := o(4*segment) + 2*l(segment, 1) + 3*l(segment, 2)
	p2p := 2.*10 + 1 + (S-1)*1000 + (k-1)*(100+(S-1)*1000)
	try := func(equation, algorithm string, call collective.Call, model Coster, want float64, formula string) {
		t.Run(equation, func(t *testing.T) { expect(t, model, algorithm, call, 1e9*want, formula) })
	}
	try("(1)", "bcast:linear", collective.Call{P: 2, M: 30}, whole, 2*10+1+29*1000, "2o + L + 29G")
	try("(2)", "bcast:linear", collective.Call{P: 2, M: k * S}, baseline, p2p, "2o + L + 2g + 27G")
	try("(2), last segment short", "bcast:linear", collective.Call{P: 2, M: 24}, baseline, 20+1+200+(9+9+3)*1000, "2o + L + 2g + 21G")
	try("(3)", "bcast:binomial", collective.Call{P: 9, M: k * S}, baseline, 4*p2p, "8o + 4L + 8g + 108G")
	try("(7)", "scatter:binomial", collective.Call{P: 8, M: k * S}, baseline,
		3*(1+2*10-100)+7*k*(100+(S-1)*1000), "6o + 3L + 18g + 189G")
	try("(19)", "allgather:recursive-doubling", collective.Call{P: 8, M: k * S}, baseline,
		7*k*(10+(S-1)*1000+100), "21o + 21max{L+o,g} + 189G")
	try("section 4.2", "bcast:sm-tree", collective.Call{P: 8, M: k * S, Segment: S}, baseline, 4*p2p, "8o + 4L + 8g + 108G")
	try("no data", "barrier:dissemination", collective.Call{P: 2}, whole, 10+100, "o + max{L+o,g}")
	try("(5)", "bcast:linear", collective.Call{P: 2, M: 30}, LogNP{Overhead: overhead}, 2*31, "2o(m)")
	try("(6)", "bcast:binomial", collective.Call{P: 9, M: 30}, LogNP{Overhead: overhead}, 4*2*31, "8o(m)")
	try("(6) of τ-Lop's lone message", "bcast:binomial", collective.Call{P: 2, M: 4 * segment}, converted, lone, "2o(m)")
	try("(6) of τ-Lop's lone message", "bcast:binomial", collective.Call{P: 8, M: 4 * segment}, converted, 3*lone, "6o(m)")
	try("(20)", "allgather:recursive-doubling", collective.Call{P: 8, M: 30}, LogNP{Overhead: overhead},
		2*31+2*61+2*121, "2o(m) + 2o(2m) + 2o(4m)")
	try("section 4.2", "bcast:sm-tree", collective.Call{P: 8, M: 30, Segment: S}, LogNP{Overhead: overhead}, 4*2*31, "8o(m)")
	try("reductions", "reduce:binomial", collective.Call{P: 4, M: 30}, LogNP{Overhead: overhead, Reductions: plain{}},
		2*(2*31+g(30, 1)), "4o(m) + 2γ(m,1)")
	try("reductions", "reduce:linear", collective.Call{P: 3, M: 9}, LogGP{Overhead: 1, Reductions: plain{}},
		2*(2+g(9, 1)), "4o + 2L + 16G + 2γ(m,1)")
	check.Error(t, must.Err(LogNPOf(TauLop{Channels: Uniform(plain{})})), "log_nP of segments of 0 bytes was accepted")
}

// A barrier costs synchronisation and o. Of two isolated empty transfers one waits for a flag.
func TestSynchronised(t *testing.T) {
	for _, tt := range []struct {
		isolated  bool
		algorithm string
		p         int
		want      float64
	}{{false, "barrier:dissemination", 4, 2*o(0) + 4*28}, {true, "barrier:linear", 2, 2*o(0) + 2*7}} {
		flags := &measured{y: &params.Curve{Sizes: []int{1}, Taus: []int{1, 2, 4}, Times: [][]float64{{7, 14, 28}}}, isolated: tt.isolated}
		m := TauLop{Channels: Uniform(plain{}), Segment: segment}
		m.Channels.transfers[Channel{}] = flags.transfers(plain{}.L)
		expect(t, m, tt.algorithm, collective.Call{P: tt.p}, 1e9*tt.want, "")
		got, _ := m.Channels.Transfers(Channel{}).l(100, 4)
		check.Equal(t, got, l(100, 4), "L(100,4)")
	}
}

// Stages with a cost are numbered in order, and a cost says what the symbols of its formula are.
func TestStagesAndSymbols(t *testing.T) {
	type stage struct{ first, every, repeat int }
	try := func(name string, call collective.Call, symbols string, want []stage) { // want: nil: not told
		t.Helper()
		c := costOf(t, TauLop{Channels: Uniform(plain{}), Segment: segment}, name, call)
		got := lists.Map(c.Stages, func(s StageCost) stage { return stage{s.First, s.Every, s.Repeat} })
		check.True(t, c.Symbols.String() == symbols && (want == nil || slices.Equal(got, want)), "%s: %v, %s; want %v, %s", name, got, c.Symbols, want, symbols)
	}
	try("bcast:scatter-ring", collective.Call{P: 4, M: 8 * segment}, "P = 4, m = 65536 B, S = 8192 B, k = m/P/S = 2", []stage{{1, 1, 1}, {2, 1, 1}, {3, 1, 3}})
	try("allgather:ring", collective.Call{P: 4, M: 4096}, "P = 4, m = 4096 B, S = 8192 B", []stage{{1, 1, 3}})
	try("bcast:sm-tree", collective.Call{P: 8, M: 8 * segment}, "P = 8, m = 65536 B, S = 8192 B, k = m/S = 8", // Fig. 14 with k = 8
		[]stage{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 2, 5}, {5, 2, 5}, {14, 1, 1}, {15, 1, 1}, {16, 1, 1}, {17, 1, 1}, {18, 1, 1}})
	try("bcast:binomial", collective.Call{P: 4, M: 4*segment + 1}, "P = 4, m = 32769 B, S = 8192 B", nil)
	try("bcast:scatter-ring", collective.Call{P: 3, M: 6*segment - 1}, "P = 3, m = 49151 B, S = 8192 B, k = ⌈m/P⌉/S = 2", nil)
}

// pipeline equals a walk through every step with every message by itself.
func TestPipelineEqualsStepByStep(t *testing.T) {
	const S = 10
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var stage collective.Stage
		stage.Pattern = []collective.Pattern{collective.OneWay, collective.Exchange}[random.IntN(2)]
		for bytes := 1 + random.IntN(70); bytes > 0; bytes -= 1 + random.IntN(40) {
			stage.Shape = append(stage.Shape, collective.Batch{Count: 1 + random.IntN(3), Bytes: bytes})
		}
		m := TauLop{Transport: []params.Transport{Segmented, Steady}[random.IntN(2)], Segment: S}

		type transfer struct{ bytes, tau int }
		got, want := map[transfer]int{}, map[transfer]int{}
		m.pipeline(&stage, Symbols{S: S}, func(n Count, bytes, tau int) { got[transfer{bytes, tau}] += n.Fixed })
		for step := range 10 {
			var now transfer
			for _, b := range stage.Shape {
				for range b.Count {
					fills := []int{step}
					if stage.Pattern == collective.OneWay {
						empties := step - 1
						if m.Transport == Steady {
							empties = step
						}
						fills = append(fills, empties)
					}
					for _, i := range fills {
						if i >= 0 && i*S < b.Bytes {
							now.tau++
							now.bytes = max(now.bytes, min(S, b.Bytes-i*S))
						}
					}
				}
			}
			want[now] += map[collective.Pattern]int{collective.OneWay: 1, collective.Exchange: 2}[stage.Pattern]
		}
		delete(want, transfer{})
		check.Need(t, maps.Equal(got, want), "%v %v %v: %v, want %v", m.Transport, stage.Pattern, stage.Shape, got, want)
	}
}

// The terms, and the stages, of every algorithm add up to its cost under every model.
func TestTermsAddUp(t *testing.T) {
	models := map[string]Coster{
		"LogGP":  LogGP{Latency: 1, Overhead: 2, Gap: 3, GapPerByte: 4, Segment: 64, Reductions: plain{}},
		"log_nP": LogNP{Overhead: plain{}.O, Reductions: plain{}},
	}
	for _, transport := range Transports[:4] {
		models[transport.String()] = TauLop{Channels: withChannels(plain{}.L, Channel{Way: Alone}), Reductions: plain{}, Transport: transport, Segment: 64}
	}
	for name, model := range models {
		for _, a := range collective.All() {
			for _, p := range []int{1, 2, 3, 8, 16, 33} {
				for _, m := range []int{0, 1, 64, 1000, 64 * 32} {
					if !a.Among.Has(p) {
						continue
					}
					s := schedule(t, a.String(), collective.Call{P: p, M: m, Segment: 64})
					c := priced(t, model, s)
					var terms float64
					for _, term := range c.Terms {
						check.True(t, term.Times > 0 && term.Times == term.Count.value(float64(c.Symbols.K)), "%s %s P = %d m = %d: term %+v", name, a, p, m, term)
						terms += term.Times * term.Seconds
					}
					stages := lists.Sum(c.Stages, func(st StageCost) float64 { return float64(st.Repeat) * st.Seconds() })
					check.Near(t, terms, c.Seconds, 1e-9*terms, "%s %s P = %d m = %d: terms", name, a, p, m)
					check.Near(t, stages, c.Seconds, 1e-9*terms, "%s %s P = %d m = %d: stages", name, a, p, m)
				}
			}
		}
	}
}

func TestExtrapolatedIsMarked(t *testing.T) {
	for _, tt := range []struct {
		name        string
		p           int
		first, last bool
	}{{"allgather:ring", 16, false, false}, {"allgather:ring", 17, true, true}, {"gather:binomial", 64, true, false}} { // whose first stages have the most messages
		c := costOf(t, TauLop{Channels: Uniform(plain{}), Transport: Whole}, tt.name, collective.Call{P: tt.p, M: 1})
		check.True(t, c.Extrapolated == tt.first && !c.Terms[0].Extrapolated && c.Terms[1].Extrapolated == tt.first && c.Stages[0].Terms[1].Extrapolated == tt.first && c.Terms[len(c.Terms)-1].Extrapolated == tt.last,
			"%s, P = %d: %+v", tt.name, tt.p, c)
	}
}

func TestCostRefuses(t *testing.T) {
	reduce, wide := schedule(t, "reduce:binomial", collective.Call{P: 4, M: 8}), schedule(t, "allreduce:ring", collective.Call{P: 2000, M: 11 * 2000})
	tree := schedule(t, "bcast:sm-tree", collective.Call{P: 4, M: 100}) // of ranks that copy from each other's buffers
	table, gamma := smallTables()
	several, n := small(0)
	several.Cluster = cluster(t, "block", 2, n)
	try := func(model Coster, of *collective.Schedule, says string) {
		t.Helper()
		_, err := model.Cost(of)
		check.True(t, err != nil && strings.Contains(err.Error(), says) && errors.Is(err, ErrOneNode) == (of == tree),
			"%T: error %v, want one with %q", model, err, says)
	}
	try(TauLop{Channels: Uniform(plain{}), Transport: Whole}, reduce, `reduce:binomial: it reduces, and the parameters have no γ of operator "sum"`)
	try(TauLop{Channels: Uniform(plain{}), Reductions: plain{}, Operator: "xor", Transport: Whole}, reduce, "unknown operator xor")
	try(TauLop{Channels: Uniform(plain{}), Reductions: plain{}}, reduce, "segment of at least one byte, got 0")
	try(TauLop{Channels: Uniform(plain{}), Reductions: plain{}, Transport: "pigeon"}, reduce, "unknown transport pigeon")
	try(LogGP{}, reduce, `no γ of operator "sum"`)
	try(LogNP{Overhead: plain{}.O, Operator: "max"}, reduce, `no γ of operator "max"`)
	try(Libtaulop{Table: table}, wide, `no γ of operator "sum"`)
	try(Libtaulop{Table: table, Gamma: gamma, Operator: "xor"}, wide, "measured are sum, max")
	try(Libtaulop{Table: table, Gamma: gamma, Operator: "max"}, wide, "γ has 1 sizes and L has 2")
	try(Libtaulop{Table: table, Gamma: gamma}, wide, "at most 1024 ranks, got P = 2000")
	try(several, tree, ErrOneNode.Error())
	try(Libtaulop{Table: table, Cluster: several.Cluster}, tree, ErrOneNode.Error())
	for _, transport := range Transports {
		check.Equal(t, must.Get(ParseTransport(transport.String())), transport, "ParseTransport")
	}
	contains.Error(t, must.Err(ParseTransport("pigeon")), "steady")
}

// A million ranks take at most two bytes of memory each, on ten thousand nodes at most 100.
func TestMillionRanks(t *testing.T) {
	one := TauLop{Reductions: plain{}, Segment: segment,
		Channels: withChannels(plain{}.L, slices.Concat(oneWays, exchanges, copies)...)}
	several, n := small(0)
	several.Cluster = cluster(t, "block", 10000, n)
	priced := func(m TauLop, name string, p, most int) {
		t.Helper()
		var c Cost
		got := check.Allocated(func() { c = costOf(t, m, name, collective.Call{P: p, M: 1 << 16}) })
		check.True(t, got <= uint64(most) && c.Seconds > 0 && !math.IsInf(c.Seconds, 0), "%s: %d bytes allocated, cost %v", name, got, c.Seconds)
	}
	for _, a := range collective.All() {
		p := map[collective.Among]int{collective.PowerOfTwo: 1 << 20, collective.TwoRanks: 2, collective.Thousands: 1 << 13}[a.Among]
		priced(one, a.String(), cmp.Or(p, 1_000_000), 2<<20)
	}
	for _, name := range []string{"bcast:binomial", "allgather:ring", "alltoall:linear", "allreduce:rabenseifner"} {
		if !testing.Short() {
			priced(several, name, 1_000_000, 100<<20)
		}
	}
}

// Strided messages are packed before their first transfer and unpacked after their last, under log_nP too.
func TestPacking(t *testing.T) {
	m := TauLop{Channels: Uniform(plain{}), Segment: 64}
	strided := m
	strided.Stride, strided.Packing = 512, func(m int) (float64, bool) { return 10 * float64(m), false }
	// Three stages, each with messages of m.
	s := schedule(t, "bcast:binomial", collective.Call{P: 8, M: 640})
	with := priced(t, strided, s)
	got := with.Seconds - priced(t, m, s).Seconds
	check.True(t, math.Abs(got-3*2*6400) <= 1e-6 && strings.Contains(with.Formula(), "6p(m,512)"),
		"three stages cost %v more strided, want %v: %s", got, 3*2*6400, with.Formula())
	one, other := must.Get(LogNPOf(m)), must.Get(LogNPOf(strided))
	check.Near(t, priced(t, other, s).Seconds-priced(t, one, s).Seconds, 3*2*6400, 1e-6, "log_nP: more strided")
	empty := schedule(t, "barrier:dissemination", collective.Call{P: 8})
	check.Equal(t, priced(t, strided, empty).Seconds, priced(t, m, empty).Seconds, "cost of empty messages")
	check.ErrorIs(t, must.Err(strided.Cost(schedule(t, "bcast:sm-tree", collective.Call{P: 8, M: 640, Segment: 64}))), ErrContiguous, "a tree of transfers")
}

// A lone message, as of a root that receives nothing, is no exchange. A cost below zero is unknown. Without
// o(m) of exchanges at a level its o(m) of messages stands in.
func TestOverheadOfExchanges(t *testing.T) {
	for _, tt := range []struct {
		messages       int
		overhead, want float64
	}{{1, -1.5, 2}, {2, -1.5, 0.5}, {2, -3, -1}} {
		channels := Uniform(channel(func(int, int) float64 { return 1 }))
		channels.overheads[Channel{Way: Exchange}] = func(int) (float64, bool) { return tt.overhead, false }
		p := &Predictor{in: func(*collective.Schedule) Coster { return TauLop{Channels: channels, Transport: Whole} }}
		s := alone(1000)
		stage := &s.Blocks[0].Stages[0]
		stage.Pattern, stage.Shape[0].Count = collective.Exchange, tt.messages
		got := priced(t, p, s)
		check.True(t, got.Seconds == max(0, tt.want) && got.Unknown == (tt.want < 0),
			"%d messages, o⇄ = %g: %g, unknown %v", tt.messages, tt.overhead, got.Seconds, got.Unknown)
		check.Equal(t, channels.overheadOf(1, true), (Channel{Level: 1}), "the channel of o(m) of level 1")
	}
}

func TestMarks(t *testing.T) {
	try := func(formula string, want []string) {
		t.Helper()
		got := lists.Concat(Marks, func(m Mark) []string { return m.Of(formula) })
		check.Slices(t, got, want, "%s", formula)
	}
	try("2L(S,1) + o(m) + own(m) + γ(m,2)", nil)
	try("9y→(1) + 3o(m) + 3L¹(m,4)", []string{"y→", "L¹"})
	try("o⇄*(m) + 2L⇄**(m,2)", []string{"L⇄", "o⇄", "L*", "o*"})
	try("c→°(m,2) + L°⇄°(m,2) + c°→(m,2)", []string{"c→", "L⇄", "L°", "c°"})
	try("L°→¹(m,2) + γ(m,2)", []string{"L→", "L°", "L¹"})
	try("L→°(m,2) + L→¹(m,4,3) + L₁(m,2) + o₁(m)", []string{"L→", "L°", "L¹", "L₁", "o₁"})
}

// A transfer beside a copy within a rank hides its part of the copy's time.
func TestHidden(t *testing.T) {
	times := func(m, tau int) (float64, bool) { return float64(m * tau), false }
	m := TauLop{Transport: Segmented, Segment: 8, Channels: withChannels(times, Channel{Way: OneWay}, Channel{Way: Alone})}
	for _, tt := range []struct {
		copied int
		beside transfer
		want   float64
	}{{20, transfer{}, 20}, {20, transfer{8, 1}, 12}, {20, transfer{8, 2}, 4}, {20, transfer{8, 3}, 0}} {
		c := Term{Parameter: "c", Bytes: tt.copied, Tau: 1, from: source{Channel: Channel{Way: Alone}}, beside: tt.beside}
		got, _, err := m.value(c)
		check.True(t, got == tt.want && err == nil, "a copy of %d bytes beside %+v takes %g s, %v; want %g", tt.copied, tt.beside, got, err, tt.want)
	}
}

// What predicts and what reads parameter files detects no hardware and measures nothing:
// programs that import them need neither.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../params", "../collective", "../fit", "../mapping").Output()
	skip.If(t, err != nil, "no go command: %v", err)
	for dep := range strings.FieldsSeq(string(out)) {
		for _, not := range []string{"jaypipes/ghw", "klauspost/cpuid", "x/sys/cpu", "taulop/reduce", "taulop/shm", "taulop/setups", "internal/engine", "internal/chart"} {
			check.True(t, !strings.Contains(dep, not) || strings.HasPrefix(dep, "vendor/"), "they need %s", dep)
		}
	}
}
