package verify

import (
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// FromFile makes τ-Lop, and log_nP from it, of what a sweep has measured, see
// model.Machine, with the bare copy for what a rank copies within itself.
func FromFile(f *params.File, operator string) Predictor {
	return Predictor{TauLop: func(m int, off bool) (model.TauLop, error) {
		machine, err := model.MachineOf(f, "", "", off)
		if err != nil {
			return model.TauLop{}, err
		}
		tau := machine.Call(m, f.Plan.SegmentBytes)
		tau.Operator, tau.LocalCopies = operator, true
		return tau, nil
	}}
}
