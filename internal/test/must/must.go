// Package must is for what tests prepare, which fails only where something else is broken.
package must

// Get is a value whose error is nil. Another one is a panic, which ends the tests of the package.
func Get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Do is Get of no value.
func Do(err error) {
	if err != nil {
		panic(err)
	}
}
