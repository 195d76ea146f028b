package study

import _ "embed"

//go:embed quickstart.yaml
var quickstart []byte

// Quickstart is the built-in study.
func Quickstart() *File {
	f, err := Parse("quickstart.yaml", quickstart)
	if err != nil {
		panic(err) // a mistake in the built-in file, which a test would have found
	}
	return f
}
