// Package strictyaml reads YAML into types that say all that it may hold.
package strictyaml

import (
	"errors"

	"github.com/goccy/go-yaml"
)

// errForm is what is left to say where the library gives up.
var errForm = errors.New("a value has another form than is wanted there, or a tag (!) that means nothing here")

// Unmarshal reads data into v. A key that v has no field for is an error. Errors of the library, which
// know their place, are returned as they are.
func Unmarshal(data []byte, v any) (err error) {
	// go-yaml 1.19 panics at some of what it cannot read, such as a tagged scalar where v wants a list.
	defer func() {
		if recover() != nil {
			err = errForm
		}
	}()
	return yaml.UnmarshalWithOptions(data, v, yaml.Strict())
}
