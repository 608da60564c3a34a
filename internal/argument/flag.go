package argument

import (
	"flag"
	"fmt"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/spelling"
)

// Flags is a set that flags can be added to: a Set, or a flag.FlagSet.
type Flags interface {
	Var(value flag.Value, name, usage string)
	Lookup(name string) *flag.Flag
}

// Var adds a flag whose value `read` parses. `otherwise` is the default; if it is "", an empty
// value leaves *to unchanged. Words are possible values, for completion.
func Var[T any](flags Flags, to *T, name, otherwise, usage string, read func(string) (T, error), words ...string) {
	v := &value[T]{to, otherwise, otherwise == "", read, words}
	if flags.Var(v, name, usage); otherwise != "" {
		*to, _ = read(otherwise)
		flags.Lookup(name).DefValue = strconv.Quote(otherwise)
	}
}

// Word adds a flag whose value is one of words.
func Word[T ~string](flags Flags, to *T, name, otherwise, usage string, words []string) {
	Var(flags, to, name, otherwise, usage, func(text string) (T, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("there is no %q; %s", text, spelling.Suggest(text, words))
		}
		return T(text), nil
	}, words...)
	flags.Lookup(name).Value.(*value[T]).optional = false
}

// Words are the possible values of a flag, for completion; nil if unknown.
func Words(f *flag.Flag) []string {
	if v, is := f.Value.(interface{ completions() []string }); is {
		return v.completions()
	}
	return nil
}

type value[T any] struct {
	to       *T
	text     string
	optional bool
	read     func(string) (T, error)
	words    []string
}

func (v *value[T]) String() string { return v.text }

func (v *value[T]) Set(text string) (err error) {
	if v.text = text; text != "" || !v.optional {
		*v.to, err = v.read(text)
	}
	return err
}

func (v *value[T]) completions() []string { return v.words }
