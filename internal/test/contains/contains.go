// Package contains checks texts in tests.
package contains

import (
	"strings"
	"testing"
)

// All fails the test for each part that a text lacks.
func All(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
