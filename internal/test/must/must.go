// Package must is for preparations of tests, which fail only if something else is broken.
package must

// Get is the value. An error is a panic, which ends the tests of the package.
func Get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Do is Get without a value.
func Do(err error) {
	if err != nil {
		panic(err)
	}
}
