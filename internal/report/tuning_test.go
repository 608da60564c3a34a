package report

import (
	"testing"

	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/mpi"
)

// Gains are ranges over the sizes of a line, with or without a rule.
func TestGain(t *testing.T) {
	const unsure tune.Why = "unsure"
	for _, tt := range []struct {
		span TuningSpan
		want string
	}{
		{TuningSpan{Gain: 0.21, Most: 0.26, Rule: &mpi.Setting{ID: 4}}, "21–26 rule"},
		{TuningSpan{Gain: 0.04, Most: 0.18, Why: tune.Little}, "4–18"},
		{TuningSpan{Gain: 0.181, Most: 0.184, Why: tune.Little}, "18"},
		{TuningSpan{Why: tune.Little}, ""},
		{TuningSpan{Gain: 0.3, Most: 0.4, Why: unsure}, "30–40, unsure"},
		{TuningSpan{Why: unsure}, "unsure"},
	} {
		if got := tt.span.gain(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.span, got, tt.want)
		}
	}
}
