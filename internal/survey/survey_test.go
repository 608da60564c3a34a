package survey_test

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/survey"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A survey with a command has an answer, which is empty without cells.
func TestAnswers(t *testing.T) {
	for _, s := range survey.All() {
		if s.Command != nil {
			check.Need(t, s.Answer != nil, "%s has no answer", s.Name)
			check.Equal(t, s.Answer(&params.File{}), "", "%s says of nothing", s.Name)
		}
	}
}

// The answer stands above the tables, and a note that says the same is left out.
func TestSayOnce(t *testing.T) {
	s := survey.Survey{Answer: func(*params.File) string { return "A read: idle latency 100 ns." },
		Tables: func(*params.File) []view.Table {
			table := view.Table{Columns: view.Words("ns")}
			table.Add(100)
			table.Note("Idle latency 100 ns.")
			table.Note("not measured: the others")
			return []view.Table{table}
		}}
	var d document.Document
	s.Say(&d, &params.File{})
	contains.All(t, must.Text(d.WriteText), "not measured: the others")
	contains.None(t, must.Text(d.WriteText), "Idle")
}

func TestParseWith(t *testing.T) {
	for list, want := range map[string]string{"": "", "copy": "copy", "pack, copy,pack": "pack copy"} {
		check.Equal(t, strings.Join(must.Get(survey.ParseWith(list)), " "), want, "%q", list)
	}
	for _, list := range []string{"kopy", "copy,", ","} {
		contains.Error(t, must.Err(survey.ParseWith(list)), "access, cma, copy")
	}
}

// Pairs of many cores have more time than the default, other surveys the default.
func TestTimeOf(t *testing.T) {
	try := func(cores int, with []string, want time.Duration) {
		t.Helper()
		check.Equal(t, survey.TimeOf(with, numatest.EPYC(1, 1, 1, cores, 1)), want, "%d cores, %v", cores, with)
	}
	try(2, nil, 0)
	try(2, []string{"pairs", "copy", "pack", "access"}, 60*time.Second)
	try(2, []string{"of a newer version"}, 0)
	try(128, []string{"copy"}, 15*time.Second)
	// 16 samples of 16,256 in twelve launches, the others once and a tenth of them five times more: 24,552 of 1.1 ms.
	try(128, []string{"copy", "pairs"}, 15*time.Second+24552*1100*time.Microsecond)
}

// The flag names one CPU.
func TestOnCPU(t *testing.T) {
	for given, want := range map[string]string{"": "local [] <nil>", "1": "cpus [1] <nil>", "0,1": " [] -cpu 0,1: name one CPU, like 0", "-1": "no CPU number"} {
		f := flag.NewFlagSet("", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		place := survey.OnCPU(f)
		err := f.Set("cpu", given)
		var plan params.Plan
		if err == nil {
			_, plan, err = place(numatest.EPYC(1, 1, 1, 2, 1))
		}
		contains.All(t, fmt.Sprint(strings.Trim(fmt.Sprint(plan.Policies), "[]"), " ", plan.CPUs, " ", err), want)
	}
}
