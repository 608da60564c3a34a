package model

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/params"
)

// tolerance is the largest relative difference of predictions and oracles.
const tolerance = 1e-6

// A channel is L(m,τ) without o(m).
type channel func(m, tau int) float64

func (c channel) L(m, tau int) (float64, bool) { return c(m, tau), false }
func (channel) O(int) (float64, bool)          { return 0, false }

// published reads the parameters of a machine.
func published(t testing.TB, machine string) (*params.Table, *params.Gamma) {
	t.Helper()
	open := func(name string) *os.File {
		f := must.Get(os.Open(snapshot.Shared(t, "params", machine, name)))
		t.Cleanup(func() { f.Close() })
		return f
	}
	table := must.Get(params.ReadText(open("SHM.txt"), "SHM.txt"))
	return table, must.Get(params.ReadGammaText(open("gamma.txt"), "gamma.txt"))
}

// oracle calls try with every row of a table of results, by column name.
func oracle(t *testing.T, kind, machine string, try func(row map[string]string)) {
	t.Helper()
	f := must.Get(os.Open(snapshot.Shared(t, "oracle", kind+"-"+machine+".tsv")))
	defer f.Close()
	lines := csv.NewReader(f)
	lines.Comma = '\t'
	rows := must.Get(lines.ReadAll())
	check.AtLeast(t, len(rows), 2, "rows")
	for _, cells := range rows[1:] {
		row := make(map[string]string)
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		try(row)
	}
	t.Logf("%s-%s: %d rows", kind, machine, len(rows)-1)
}

func number(row map[string]string, column string) float64 {
	return must.Get(strconv.ParseFloat(row[column], 64))
}

func schedule(t testing.TB, name string, c collective.Call) *collective.Schedule {
	t.Helper()
	return must.Get(must.Get(collective.Lookup(name)).Schedule(c))
}

func predictorOf(t testing.TB, f *params.File, c Choice) *Predictor {
	return must.Get(NewPredictor(f, c))
}

// priced is a schedule's cost under a model, costOf a call's.
func priced(t testing.TB, m Coster, s *collective.Schedule) Cost {
	t.Helper()
	c, err := m.Cost(s)
	check.Need(t, err == nil, "%s, P = %d, m = %d: %v", s.Algorithm, s.Call.P, s.Call.M, err)
	return c
}

func costOf(t testing.TB, m Coster, name string, c collective.Call) Cost {
	t.Helper()
	return priced(t, m, schedule(t, name, c))
}

// expect wants a cost in ns and, unless it is empty, a formula.
func expect(t testing.TB, m Coster, name string, call collective.Call, ns float64, formula string) Cost {
	t.Helper()
	c := costOf(t, m, name, call)
	check.True(t, math.Abs(c.Seconds*1e9-ns) <= 1e-9*ns && (formula == "" || c.Formula() == formula),
		"%s, P = %d, m = %d: %g ns = %s, want %g = %s", name, call.P, call.M, c.Seconds*1e9, c.Formula(), ns, formula)
	return c
}

func agree(t *testing.T, row map[string]string, c Cost) {
	t.Helper()
	want := number(row, "cost_us")
	check.Near(t, c.Seconds*1e6, want, tolerance*want, "%v: µs of %s", row, c.Formula())
}

// The paper's equations, without o.
func TestFormulasOracle(t *testing.T) {
	formulas := map[string]struct {
		algorithm string
		transport params.Transport
	}{
		"p2p segmented":            {"bcast:linear", Segmented},
		"p2p steady":               {"bcast:linear", Steady},
		"bcast binomial segmented": {"bcast:binomial", Segmented},
		"scatter binomial steady (k segments per rank)":      {"scatter:binomial", Steady},
		"allgather recursive doubling (k segments per rank)": {"allgather:recursive-doubling", Steady},
		"allgather ring (k segments per rank)":               {"allgather:ring", Steady},
		"bcast Open MPI SM tree g=2":                         {"bcast:sm-tree", Segmented},
		"bcast Open MPI SM tree g=3":                         {"bcast:sm-tree", Segmented},
	}
	for _, machine := range []string{"metropolis", "lusitania"} {
		table, _ := published(t, machine)
		clear(table.Overheads)
		oracle(t, "formulas", machine, func(row map[string]string) {
			f, known := formulas[row["formula"]]
			check.Need(t, known, "no algorithm for %q", row["formula"])
			s := int(number(row, "S_bytes"))
			call := collective.Call{P: int(number(row, "P")), M: int(number(row, "k")) * s, Segment: s}
			if strings.HasSuffix(row["formula"], "g=3") {
				call.Degree = 3
			}
			m := TauLop{Channels: Uniform(table), Transport: f.transport, Segment: s}
			agree(t, row, costOf(t, m, f.algorithm, call))
		})
	}
}

// The authors' library, on one node and on several.
func TestLibraryOracle(t *testing.T) {
	for _, machine := range []string{"metropolis", "lusitania"} {
		table, gamma := published(t, machine)
		networks := map[string]*Network{"SHM+IB": network(t, machine, "IB"), "SHM+TCP": network(t, machine, "TCP")}
		for _, kind := range []string{"libtaulop", "channels"} {
			oracle(t, kind, machine, func(row map[string]string) {
				m := Libtaulop{Table: table, Gamma: gamma}
				if kind == "channels" {
					m.Cluster = cluster(t, row["mapping"], int(number(row, "nodes")), networks[row["channels"]])
				}
				call := collective.Call{P: int(number(row, "P")), M: int(number(row, "m_bytes"))}
				agree(t, row, costOf(t, m, row["collective"]+":"+row["algorithm"], call))
			})
		}
	}
}
