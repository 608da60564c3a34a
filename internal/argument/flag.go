package argument

import (
	"flag"
	"strconv"
)

// Var adds a flag whose value is read when it is given: what is wrong with it is then an error
// of that flag. Unless it is empty, `otherwise` is what the flag says where nobody gives it;
// else an empty value leaves what there is.
func Var[T any](flags *flag.FlagSet, to *T, name, otherwise, usage string, read func(string) (T, error)) {
	v := &value[T]{to, otherwise, otherwise == "", read}
	if flags.Var(v, name, usage); otherwise != "" {
		*to, _ = read(otherwise)
		flags.Lookup(name).DefValue = strconv.Quote(otherwise)
	}
}

type value[T any] struct {
	to       *T
	text     string
	optional bool
	read     func(string) (T, error)
}

func (v *value[T]) String() string { return v.text }

func (v *value[T]) Set(text string) (err error) {
	if v.text = text; text != "" || !v.optional {
		*v.to, err = v.read(text)
	}
	return err
}
