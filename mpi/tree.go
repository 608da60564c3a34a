package mpi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/infile"
)

// A Tree is a selection tree of MPICH, as csel.c reads it: nested conditions, of which the first that
// holds is followed, with algorithms at the leaves.
type Tree struct{ branches []branch }

// A branch is a condition with its subtree, or a leaf's algorithm with its parameters.
type branch struct {
	key   string // in the file
	below []branch
}

// condition is the key without spaces, as MPICH reads it.
func (b branch) condition() string { return strings.ReplaceAll(b.key, " ", "") }

// algorithm is a leaf's algorithm; "" for a condition.
func (b branch) algorithm() string {
	if name, leaf := strings.CutPrefix(b.condition(), "algorithm="); leaf {
		return name
	}
	return ""
}

// ReadTree reads a selection tree. It rejects keys that MPICH does not know, which would abort the
// program. Errors give the line in the file called name.
func ReadTree(r io.Reader, name string) (*Tree, error) {
	text, err := infile.Document(r, name, errTree)
	if err != nil {
		return nil, err
	}
	in := jsontext.NewDecoder(bytes.NewReader(text))
	t := &Tree{}
	if t.branches, err = readBranches(in, 0, ""); err == nil {
		if _, after := in.ReadToken(); after != io.EOF {
			err = errors.New("something stands after the tree")
		} else if len(t.branches) == 0 {
			err = errors.New("it has no collectives")
		}
	}
	if err != nil {
		line := 1 + bytes.Count(text[:min(int(in.InputOffset()), len(text))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: %w: %w", name, line, err, errTree)
	}
	asSearched(t.branches, false)
	return t, nil
}

// asSearched rewrites comm_size<8 as comm_size<=8 where it is evaluated in every call: MPIR_Csel_search
// of 4.0 to 5.1 evaluates < as <=. prune_tree, which follows the conditions in front of the first one
// that is not about the communicator, does not.
func asSearched(branches []branch, everyCall bool) {
	for i := range branches {
		b := &branches[i]
		if number, less := strings.CutPrefix(b.condition(), "comm_size<"); everyCall && less && !strings.HasPrefix(number, "=") {
			b.key = "comm_size<=" + number
		}
		everyCall = everyCall || !b.ofCommunicator() && !strings.HasPrefix(b.condition(), "collective=")
		asSearched(b.below, everyCall)
	}
}

// deepest is the limit of nested conditions, far beyond any real tree.
const deepest = 64

var errTree = errors.New("this is no selection tree of MPICH 4, such as maint/tuning/coll/mpir/generic.json in its source")

// readBranches reads the subtree of a key.
func readBranches(in *jsontext.Decoder, depth int, parent string) (all []branch, err error) {
	if depth > deepest {
		return nil, fmt.Errorf("conditions are more than %d deep", deepest)
	}
	token, err := in.ReadToken()
	if err == nil && token.Kind() != '{' {
		err = fmt.Errorf("below %q stands no {", parent)
	}
	if err != nil {
		return nil, err
	}
	for {
		token, err := in.ReadToken()
		if err != nil || token.Kind() == '}' {
			return all, err
		}
		b := branch{key: token.String()}
		if why := strange(b, depth, strings.HasPrefix(parent, "algorithm=")); why != "" {
			return nil, fmt.Errorf("%.60q %s", b.key, why)
		}
		if b.below, err = readBranches(in, depth+1, b.condition()); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
}

// strange says what is wrong with a key; "" if MPICH knows it.
func strange(b branch, depth int, leaf bool) string {
	key := b.condition()
	switch {
	case strings.HasPrefix(key, "composition="):
		return "is for MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE: take the file that mpir chooses by"
	case strings.HasPrefix(key, "algorithm="):
		if !strings.HasPrefix(key, "algorithm=MPIR_") {
			return "is an algorithm of another layer: take the file that mpir chooses by"
		}
		return ""
	case leaf: // an algorithm's parameter
		if _, value, ok := strings.Cut(key, "="); ok && value != "" {
			return ""
		}
		return "is no parameter of an algorithm"
	case depth == 0 && !strings.HasPrefix(key, "collective="):
		return "stands where a collective belongs"
	}
	_, _, comparison := compared(key)
	if comparison || isAny(key) || plain[key] != nil || strings.HasPrefix(key, "collective=") {
		return ""
	}
	return "is no condition that MPICH knows"
}

// A call has the values that conditions test.
type call struct {
	collective string
	p, m       int
	share      int // the total size over the ranks, in bytes
	element    int // bytes
}

// plain are the conditions without numbers, for calls on one node of a single-threaded program with
// contiguous data and a built-in operator.
var plain = map[string]func(call) bool{
	"comm_type=intra": always, "comm_type=inter": never,
	"comm_size=pow2":           func(c call) bool { return c.p&(c.p-1) == 0 },
	"comm_size=node_comm_size": always,
	"comm_hierarchy=parent":    always, "comm_hierarchy=node_roots": never, "comm_hierarchy=node": never, "comm_hierarchy=flat": never,
	"count<pow2":            func(c call) bool { return c.m/c.element < powerOfTwo(c.p) },
	"is_multi_threaded=yes": never, "is_multi_threaded=no": always,
	"is_commutative=yes": always, "is_commutative=no": never,
	"is_sendbuf_inplace=yes": never, "is_sendbuf_inplace=no": always,
	"is_op_built_in=yes": always, "is_op_built_in=no": never,
	"is_block_regular=yes": always, "is_block_regular=no": never,
	"is_node_consecutive=yes": always, "is_node_consecutive=no": never,
}

func always(call) bool { return true }
func never(call) bool  { return false }

// measures are the values that conditions compare with a number.
var measures = map[string]func(call) int{
	"comm_size":      func(c call) int { return c.p },
	"comm_avg_ppn":   func(c call) int { return c.p },
	"avg_msg_size":   func(c call) int { return c.m },
	"total_msg_size": func(c call) int { return c.m * c.p },
	// In newer trees, with a limit of 64 KiB a rank for broadcasts where older trees have 512 KiB.
	"per_proc_msg_size": func(c call) int { return c.share },
	"count":             func(c call) int { return c.m / c.element },
}

// compared splits a comparison such as avg_msg_size<=8 into the measure and its maximum.
func compared(key string) (measure string, most int, ok bool) {
	measure, number, less := strings.Cut(key, "<")
	if !less || measures[measure] == nil {
		return "", 0, false
	}
	number, equal := strings.CutPrefix(number, "=")
	most, err := strconv.Atoi(number)
	if err != nil || most < 0 || most > math.MaxInt32 {
		return "", 0, false
	}
	if !equal {
		most--
	}
	return measure, most, true
}

func (b branch) holds(c call) bool {
	key := b.condition()
	if measure, most, ok := compared(key); ok {
		return measures[measure](c) <= most
	}
	if test := plain[key]; test != nil {
		return test(c)
	}
	return isAny(key) || key == "collective="+c.collective
}

func isAny(condition string) bool { return condition == "any" || strings.HasSuffix(condition, "=any") }

// choice is the algorithm for m bytes among p ranks and elements of a size in bytes; "" if the tree has none.
func (t *Tree) choice(c *collective.Collective, p, m, element int) string {
	with, branches := call{c.Name, p, m, m * scale(c, p) / p, element}, t.branches
	for {
		i := slices.IndexFunc(branches, func(b branch) bool { return b.algorithm() != "" || b.holds(with) })
		if i < 0 {
			return ""
		}
		if name := branches[i].algorithm(); name != "" {
			return name
		}
		branches = branches[i].below
	}
}

// mpichPrefix is the prefix of a collective's algorithms, such as MPIR_Bcast_intra_.
func mpichPrefix(collective string) string {
	return "MPIR_" + strings.ToUpper(collective[:1]) + collective[1:] + "_intra_"
}

// writeTree writes the library's own tree with rules spliced in.
func writeTree(w io.Writer, l *Library, rules []Rule) error {
	if l.base == nil {
		return errors.New("the tree of MPICH's own choices is missing")
	}
	branches := slices.Clone(l.base.branches)
	for _, c := range collectivesOf(rules) {
		i := slices.IndexFunc(branches, func(b branch) bool { return b.condition() == "collective="+c.Name })
		if i < 0 {
			return fmt.Errorf("the tree of MPICH's own choices lacks %s: take the tree of its source", c)
		}
		below := slices.Clone(branches[i].below)
		j := slices.IndexFunc(below, func(b branch) bool { return b.condition() == "comm_type=intra" })
		if j < 0 {
			return fmt.Errorf("the tree of MPICH's own choices has no comm_type=intra for %s: take the tree of its source", c)
		}
		with := splicer{collective: c}
		below[j].below = with.spliced(rules, below[j].below)
		if with.seen > maxRules {
			return errGrown
		}
		branches[i].below = below
	}
	return writeBranches(w, branches)
}

func writeBranches(w io.Writer, branches []branch) error {
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	if err := encode(e, branches); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// errGrown is for a tree that already has spliced rules.
var errGrown = fmt.Errorf("the file would have more than %d MiB, for what MPICH chooses by itself is copied below every rule: take the library's own tree, or fewer numbers of ranks", maxRules>>20)

// encode writes branches as a JSON object.
func encode(e *jsontext.Encoder, branches []branch) error {
	if e.OutputOffset() > maxRules {
		return errGrown
	}
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, b := range branches {
		if err := cmp.Or(e.WriteToken(jsontext.String(b.key)), encode(e, b.below)); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// mpichUse is the command line for a rules file, and the one beside it.
func mpichUse(file string, beside bool) string {
	text := "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + file + " \\\n"
	if beside {
		text = "# the second file is for MPICH over libfabric from 4.1.2 on: versions before end with it\n" + text + "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE=" + Beside(file) + " \\\n"
	}
	return text + "mpiexec ...\n"
}
