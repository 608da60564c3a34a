// Package all registers every survey: a new one is a package and a line here.
package all

import (
	_ "github.com/taulop/taulop/internal/survey/access"
	_ "github.com/taulop/taulop/internal/survey/channels"
	_ "github.com/taulop/taulop/internal/survey/cma"
	_ "github.com/taulop/taulop/internal/survey/disk"
	_ "github.com/taulop/taulop/internal/survey/levels"
	_ "github.com/taulop/taulop/internal/survey/loaded"
	_ "github.com/taulop/taulop/internal/survey/network"
	_ "github.com/taulop/taulop/internal/survey/pairs"
	_ "github.com/taulop/taulop/internal/survey/series"
	_ "github.com/taulop/taulop/internal/survey/strides"
	_ "github.com/taulop/taulop/internal/survey/transfers"
	_ "github.com/taulop/taulop/internal/verify"
)
