package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/verify"
)

func TestProgramCSV(t *testing.T) {
	var out strings.Builder
	p := &verify.ProgramResult{Program: "a,b", Ranks: 2, Rows: []verify.ProgramRow{{Mapping: "block", CPUs: []int{0, 4}, OffCache: true,
		Measured: fit.Estimate{Center: 100, Lo: 90, Hi: 110, N: 9}, Prediction: verify.Prediction{Ns: 125, Error: 0.25}}}}
	if err := Program(p).WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	want := "program,ranks,mapping,off_cache,measured_ns,measured_lo_ns,measured_hi_ns,predicted_ns,error,extrapolated,cpus\n" +
		"\"a,b\",2,block,true,100,90,110,125,0.25,false,0 4\n"
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}
