// Package must is for preparations of tests, which fail only if something else is broken.
package must

import "fmt"

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
