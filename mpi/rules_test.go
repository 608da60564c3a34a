package mpi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/params"
)

// invalid is the first fault for which validate_tree of MPICH's csel.c aborts a program: conditions without a subtree,
// comparisons without a successor, and "any" with one.
func invalid(all []branch) string {
	for i, b := range all {
		key, last := b.condition(), i == len(all)-1
		_, _, compares := compared(key)
		switch {
		case b.algorithm() != "":
			return ""
		case len(b.below) == 0:
			return key + " has nothing below"
		case (compares || key == "count<pow2" || key == "comm_size=pow2") && last:
			return key + " has nothing after it"
		case strings.HasSuffix(key, "=any") && key != "comm_hierarchy=any" && !last:
			return key + " has something after it"
		}
		if why := invalid(b.below); why != "" {
			return key + ": " + why
		}
	}
	return ""
}

// The tree has no algorithm where there is a rule, and MPICH's own elsewhere.
func TestPosixLeavesRulesToTheOtherTree(t *testing.T) {
	rules := []Rule{
		{collective.Bcast, 4, 1, 1024, 8191, Setting{Name: "binomial"}},
		{collective.Bcast, 8, 1, 1, 1 << 20, Setting{Name: "scatter_ring_allgather"}},
	}
	var text bytes.Buffer
	check.True(t, must.Get(mpich4.WriteBeside(&text, rules)), "rules for the other tree are not needed")
	// ReadTree rejects algorithms of the posix layer.
	tree := must.Get(ReadTree(strings.NewReader(strings.ReplaceAll(text.String(), "MPIDI_POSIX_mpi_", "MPIR_")), "posix"))
	check.Equal(t, invalid(tree.branches), "", "what is invalid in\n%s", text.String())
	for p := 2; p < 12; p++ {
		for _, m := range []int{1, 1000, 1023, 1024, 4096, 8191, 8192, 1 << 20, 1<<20 + 1} {
			ruled := p == 4 && m >= 1024 && m < 8192 || p == 8 && m <= 1<<20
			got := tree.choice(collective.Bcast, p, m, 1)
			check.True(t, ruled == (got == "") && (ruled || got == "MPIR_bcast_release_gather"), "P = %d, m = %d: %q", p, m, got)
			check.Equal(t, tree.choice(collective.Named("allreduce"), p, m, 8), "MPIR_allreduce_release_gather", "allreduce, P = %d, m = %d", p, m)
		}
	}
	contains.All(t, mpich4.Use("t.json", true), "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE=t.json.posix")
	rules[0].Collective = collective.Named("allgather")
	check.True(t, !must.Get(mpich4.WriteBeside(&text, rules[:1])), "rules for the other tree are needed for an allgather")
}

// Rules for MPICH 5.1 have circ_graph, in its chunks, and never for communicator sizes with a wrong schedule.
func TestCircGraph(t *testing.T) {
	l := must.Get(Tunable("mpich5.1")).OnBase(tree(t))
	for p, want := range map[int]bool{2: true, 31: true, 32: true, 33: false, 48: false, 64: true, 66: false} {
		for _, c := range []*collective.Collective{collective.Allgather, collective.Bcast, collective.Reduce} {
			settings := func(name string) int {
				return len(slices.DeleteFunc(must.Get(Tunable(name)).Settings(c, p, 1<<20), func(s Setting) bool { return s.Name != "circ_graph" }))
			}
			offered := settings("mpich5.1") > 0 // MPICH 4 aborts on it
			check.True(t, offered == want && settings("mpich4") == 0, "%s, P = %d: circ_graph is offered: %v", c, p, offered)
		}
	}
	for c, want := range map[*collective.Collective]int{collective.Bcast: 8 - 1 + 3, collective.Reduce: 1 + 8 - 1 + 3, collective.Allgather: 1 + 8*7} {
		check.Equal(t, must.Get(l.Schedule(c, Setting{Name: "circ_graph"}, collective.Call{P: 8, M: 1 << 20})).Len(), want, "%s: stages", c)
	}
	for c, want := range map[*collective.Collective]string{
		collective.Bcast:     `"algorithm=MPIR_Bcast_intra_circ_graph"`,
		collective.Reduce:    `"is_commutative=no"`, // another operator would abort the program
		collective.Allgather: `"total_msg_size<=`,
	} {
		var text bytes.Buffer
		must.Do(l.Write(&text, []Rule{{c, 8, 1, 1 << 20, 1 << 22, Setting{Name: "circ_graph"}}}))
		contains.All(t, text.String(), want, "_intra_circ_graph")
	}
}

// readSelection reads what writeSelection writes.
func readSelection(text []byte) (*selection, error) {
	s := &selection{}
	err := params.DecodeJSON(text, "rules", s)
	if err == nil && s.Collectives == nil {
		err = fmt.Errorf("no collectives in %s", text)
	}
	return s, err
}

// Rules of several nodes are for any distribution, except those of one rank a node.
func TestSelectionOfNodes(t *testing.T) {
	binomial := Setting{ID: 6, Name: "binomial"}
	rules := []Rule{{collective.Bcast, 3, 1, 1, 1024, binomial}, {collective.Bcast, 4, 1, 1, 1024, binomial}, {collective.Bcast, 5, 2, 1, 1024, binomial}, {collective.Bcast, 6, 6, 1, 1024, binomial}}
	var text bytes.Buffer
	must.Do(openMPI6.Write(&text, rules))
	got := ""
	for _, of := range must.Get(readSelection(text.Bytes())).Collectives["bcast"] {
		got += fmt.Sprintln(*of.Min, *of.Max, of.Ranks)
	}
	check.Equal(t, got, "3 4 single-node\n5 5 any\n6 6 one-per-node\n", "ranks and distributions of rules")
}

// choice is Open MPI 6's decision with the file for ranks on one node: the first matching rule of the first matching
// range of communicator sizes.
func (s *selection) choice(l *Library, c *collective.Collective, p, m int) (Setting, error) {
	within := func(v int, least, most *int) bool {
		return (least == nil || *least <= v) && (most == nil || v <= *most)
	}
	for _, of := range s.Collectives[c.Name] {
		if !within(p, of.Min, of.Max) || of.Ranks == "one-per-node" {
			continue
		}
		for _, r := range of.Rules {
			if within(m*scale(c, p), r.Min, r.Max) {
				o, _ := l.find(c.Name, func(o offer) bool { return o.name == r.Algorithm }) // none is no setting of a test
				return Setting{o.id, o.name, r.Fan, r.Segment}, nil
			}
		}
		break
	}
	return Setting{}, nil
}

// randomRules are random rules for all collectives of a library.
func randomRules(r *rand.Rand, l *Library) (rules []Rule) {
	for _, c := range l.Collectives() {
		if r.IntN(4) == 0 {
			continue
		}
		for p := 1 + r.IntN(3); p < 40; p += 1 + r.IntN(3)*r.IntN(5) {
			for m, n := r.IntN(3), 0; m < 1<<22 && n < 6; n++ {
				to := m + r.IntN(1<<r.IntN(20))
				if c.Empty() {
					m, to = 0, 0
				}
				if all := l.Settings(c, p, max(m, 1)); r.IntN(3) > 0 && len(all) > 0 {
					rules = append(rules, Rule{c, p, 1 + p/20, m, to, all[r.IntN(len(all))]})
				}
				if m = to + 1; c.Empty() {
					break
				}
			}
		}
	}
	return rules
}

// meant is the setting of a call by the rules; the library's own choice without a rule.
func meant(rules []Rule, c *collective.Collective, p, m int) Setting {
	r := lists.Find(rules, func(r Rule) bool { return r.Collective == c && r.P == p && (c.Empty() || r.From <= m && m <= r.To) })
	return cmp.Or(r, &Rule{}).Setting
}

// read is the decision function of a rules file, as its library reads it.
func read(l *Library, text []byte) (func(c *collective.Collective, p, m int) (Setting, error), error) {
	switch l.Name {
	case "openmpi4", "openmpi5":
		f, err := readClassic(string(text))
		for id, all := range f {
			for _, of := range all {
				if of.rules[0].Bytes != 0 {
					return nil, fmt.Errorf("the first rule of collective %d among %d begins at %d bytes: Open MPI wants 0", id, of.p, of.rules[0].Bytes)
				}
			}
		}
		return func(c *collective.Collective, p, m int) (Setting, error) {
			r := f.lookup(c.Name, p, m*scale(c, p))
			s, there := l.numbered(c.Name, r.Algorithm, r.Fan, r.Segment)
			if !there {
				return s, fmt.Errorf("%s has no algorithm %d of %s", l.Version, r.Algorithm, c)
			}
			return s, nil
		}, err
	case "openmpi6":
		f, err := readSelection(text)
		return func(c *collective.Collective, p, m int) (Setting, error) { return f.choice(l, c, p, m) }, err
	}
	f, err := ReadTree(bytes.NewReader(text), "rules")
	if err == nil {
		if why := invalid(f.branches); why != "" {
			err = errors.New(why)
		}
	}
	return func(c *collective.Collective, p, m int) (Setting, error) {
		s, known := l.OnBase(f).Own(c, p, 1, m)
		if !known {
			return s, fmt.Errorf("the tree has no choice")
		}
		return s, nil
	}, err
}

// A library with the written file decides as the rules say, for all communicator sizes, with and without rules, and
// all message sizes.
func TestLibrariesChooseWhatRulesMean(t *testing.T) {
	r := randtest.New(t)
	for _, l := range known(t) {
		for range 12 {
			rules := randomRules(r, l)
			var text bytes.Buffer
			must.Do(l.Write(&text, rules))
			choose, err := read(l, text.Bytes())
			check.Need(t, err == nil, "%v in\n%s", err, text.String())
			for _, c := range l.Collectives() {
				for p := 1; p < 45; p++ {
					for _, m := range sizesAround(rules, c, p, r) {
						want := meant(rules, c, p, m)
						if l.NeedsBase() && (want.Own() || strings.HasPrefix(want.Name, "reduce_scatter") && m/8 < powerOfTwo(p)) {
							want, _ = l.Own(c, p, 1, m)
						}
						got, err := choose(c, p, m)
						check.Need(t, err == nil && got == want,
							"%s: %s of %d B among %d: %v (%v), want %v, by\n%s", l.Version, c, m, p, got, err, want, text.String())
					}
				}
			}
		}
	}
}

// sizesAround are message sizes at and near the bounds of rules, and others.
func sizesAround(rules []Rule, c *collective.Collective, p int, r *rand.Rand) []int {
	if c.Empty() {
		return []int{0}
	}
	sizes := []int{1, 8, 1 << 24}
	for _, s := range rules {
		if s.Collective == c && s.P >= p-1 && s.P <= p+1 {
			sizes = append(sizes, max(1, s.From-1), max(1, s.From), max(1, s.To), s.To+1, max(1, s.From+r.IntN(s.To-s.From+1)))
		}
	}
	return sizes
}

func TestClassicLookup(t *testing.T) {
	f := must.Get(readClassic("1 # one\n3\n1\n16 2\n0 4 0 0\n8 2 0 0\n"))
	check.Equal(t, f.lookup("alltoall", 16, 8).Algorithm, 2, "algorithm of 8 bytes among 16")
	check.Equal(t, f.lookup("alltoall", 2, 7).Algorithm, 4, "algorithm below the first number of ranks")
	check.Equal(t, f.lookup("bcast", 2, 7), (classicRule{}), "rule where there are none")
	for _, text := range []string{"x", "1 7 1 4 1 0 1 0", "1 7 1 4 1 0 1 0 0 7"} {
		check.Error(t, must.Err(readClassic(text)), "%q is read", text)
	}
}

func TestBadTree(t *testing.T) {
	for text, want := range map[string]string{
		"": "is empty", "{}": "no collectives", "[]": "stands no {",
		`{"collective=bcast":{"comm_sise<8":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`: "is no condition that MPICH knows",
		`{"collective=bcast":{"comm_size<x":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`: "is no condition that MPICH knows",
		`{"collective=bcast":{"composition=MPIDI_Bcast_intra_composition_alpha":{}}}`:     "MPIR_CVAR_CH4",
		`{"collective=bcast":{"algorithm=MPIDI_POSIX_mpi_bcast_release_gather":{}}}`:      "another layer",
		`{"comm_type=intra":{}}`: "where a collective belongs",
		`{"collective=bcast":{"comm_type=intra":{"algorithm=MPIR_Bcast_intra_binomial":{"k":{}}}}}`: "is no parameter",
		`{"collective=bcast":{"comm_type=intra":3}}`:                                                "stands no {",
		`{"collective=bcast":{"comm_type=intra":{}},"collective=bcast":{}}`:                         "duplicate",
		`{"collective=bcast":{}} x`:                                                                 "after the tree",
		`{"collective=bcast":{`:                                                                     "1:",
		strings.Repeat(`{"collective=bcast":`, 100):                                                 "is no",
		`{"collective=bcast":` + strings.Repeat(`{"comm_size=any":`, 100):                           "deep",
	} {
		contains.Error(t, must.Err(ReadTree(strings.NewReader(text), "base.json")), want, "base.json")
	}
	lacking := must.Get(ReadTree(strings.NewReader(`{"collective=gatherv":{"algorithm=MPIR_Gatherv_allcomm_linear":{}}}`), "base.json"))
	rules := []Rule{{collective.Bcast, 4, 1, 1, 8, Setting{Name: "binomial"}}}
	check.Error(t, mpich4.OnBase(lacking).Write(io.Discard, rules), "rules are spliced into a tree without the collective")
	// The own choice is copied below every communicator size.
	var large strings.Builder
	for i := range 500 {
		fmt.Fprintf(&large, `"count<=%d":{"algorithm=MPIR_Bcast_intra_%s":{}},`, i, []string{"binomial", "scatter_ring_allgather"}[i%2])
	}
	own := must.Get(ReadTree(strings.NewReader(`{"collective=bcast":{"comm_type=intra":{`+large.String()+`"count=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`), "base.json"))
	rules = lists.Map(lists.Indices(500), func(p int) Rule { return Rule{collective.Bcast, 2 + 2*p, 1, 1, 8, Setting{Name: "binomial"}} })
	check.ErrorIs(t, mpich4.OnBase(own).Write(io.Discard, rules), errGrown, "a file that is too large")
}

// Splicing the same rules twice changes nothing.
func TestSplicedAgain(t *testing.T) {
	r := randtest.New(t)
	for range 10 {
		l := mpich4.OnBase(tree(t))
		rules := randomRules(r, l)
		var once, twice bytes.Buffer
		must.Do(l.Write(&once, rules))
		l = mpich4.OnBase(must.Get(ReadTree(bytes.NewReader(once.Bytes()), "once")))
		must.Do(l.Write(&twice, rules))
		check.Need(t, once.String() == twice.String(), "%s\n\nbecomes\n%s", once.String(), twice.String())
	}
}

// A call with a rule evaluates few conditions: those on the communicator come first, and no condition is implied by
// another one. A rule is extended over the library's own choice of the same algorithm: for doubles among four
// ranks that is recursive doubling up to 31 bytes.
func TestSplicedIsQuickToSearch(t *testing.T) {
	base := must.Get(ReadTree(bytes.NewReader(must.Get(os.ReadFile("testdata/searched.json"))), "base.json"))
	l := mpich4.OnBase(base)
	rules := []Rule{
		{collective.Named("alltoall"), 4, 1, 4096, 8192, Setting{Name: "pairwise"}},
		{collective.Named("reduce"), 4, 1, 1025, 4096, Setting{Name: "binomial"}},
		{collective.Named("allreduce"), 4, 1, 32, 1024, Setting{Name: "recursive_doubling"}},
	}
	var text bytes.Buffer
	must.Do(l.Write(&text, rules))
	contains.All(t, strings.NewReplacer(" ", "", "\n", "", "algorithm=MPIR_", "", "_intra_", " ").Replace(text.String()),
		`"comm_size<=4":{"is_sendbuf_inplace=yes":{"Alltoall pairwise_sendrecv_replace":{}},"avg_msg_size<=4095":{"Alltoall scattered":{}},`+
			`"avg_msg_size<=8192":{"Alltoall pairwise":{}},"avg_msg_size<=32768":{"Alltoall scattered":{}},"comm_size=any":{"Alltoall pairwise":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=4096":{"Reduce binomial":{}},"comm_size=any":{"Reduce reduce_scatter_gather":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=1024":{"Allreduce recursive_doubling":{}},"count<pow2":{"Allreduce recursive_doubling":{}},"comm_size=any":{"Allreduce reduce_scatter_allgather":{}}}`,
	)
}

// A tree that is read can be spliced, and the result can be read.
func FuzzReadTree(f *testing.F) {
	f.Add([]byte(ownTree))
	f.Add([]byte(`{"collective=bcast":{"comm_type=intra":{"comm_size<=3":{"avg_msg_size<=8":{"algorithm=MPIR_Bcast_intra_binomial":{}},"any":{"composition=x":{}}}}}}`))
	rules := []Rule{{collective.Bcast, 4, 1, 1, 8, Setting{Name: "scatter_ring_allgather"}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		own, err := ReadTree(bytes.NewReader(text), "base.json")
		if err != nil {
			check.True(t, !strings.Contains(err.Error(), "\n"), "%q is no sentence", err)
			return
		}
		own.choice(collective.Bcast, 8, 1000, 8)
		var out bytes.Buffer
		if mpich4.OnBase(own).Write(&out, rules) != nil {
			return
		}
		again := must.Get(ReadTree(bytes.NewReader(out.Bytes()), "written"))
		got := again.choice(collective.Bcast, 4, 8, 8)
		check.True(t, got == "MPIR_Bcast_intra_scatter_ring_allgather" || own.branches[0].condition() != "collective=bcast",
			"a rule for 4 ranks and 8 B gives %q in %s", got, out.String())
	})
}
