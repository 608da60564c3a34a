// Package must is for preparations of tests, which fail only if something else is broken.
package must

import (
	"fmt"
	"io"
	"strings"
)

// Get is the value. An error is a panic, which ends the tests of the package.
func Get[T any](v T, err error) T {
	Do(err)
	return v
}

// Do is Get without a value.
func Do(err error) {
	if err != nil {
		panic(err)
	}
}

// Err is the error of a call whose value does not count.
func Err[T any](_ T, err error) error { return err }

// Err2 is the error of a call whose two values do not count.
func Err2[T, U any](_ T, _ U, err error) error { return err }

// Text is what a function writes.
func Text[F func(io.Writer) | func(io.Writer) error](write F) string {
	var b strings.Builder
	switch write := any(write).(type) {
	case func(io.Writer):
		write(&b)
	case func(io.Writer) error:
		Do(write(&b))
	}
	return b.String()
}

// Try is the error with which f panics, nil if it does not.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = r
		default:
			err = fmt.Errorf("%v", r)
		}
	}()
	f()
	return nil
}
