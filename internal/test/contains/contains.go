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

// None fails the test for each part that a text has.
func None(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

// Error fails the test unless err is one line with all parts. Without a first part there must be no error.
func Error(t testing.TB, err error, says string, more ...string) {
	t.Helper()
	switch {
	case says == "":
		if err != nil {
			t.Errorf("%v, want no error", err)
		}
	case err == nil:
		t.Errorf("no error, want one with %q", says)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("%q has several lines", err)
	default:
		All(t, err.Error(), append(more, says)...)
	}
}
