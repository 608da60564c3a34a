package main

import (
	"github.com/taulop/taulop/internal/process"

	"slices"
	"strings"
)

// losesOutput tells whether what is printed is all that there will be, and standard
// output is closed.
func losesOutput(args []string) bool {
	return process.OutputClosed() && !slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		return strings.HasPrefix(arg, "-") && slices.Contains([]string{"o", "save", "resume"}, name)
	})
}
