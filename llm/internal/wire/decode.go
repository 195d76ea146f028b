package wire

import json "github.com/go-json-experiment/json/v1" // what encoding/json reads, in half the time

// Into returns a reader that decodes an answer into v.
func Into(v any) func([]byte) error {
	return func(body []byte) error {
		if err := json.Unmarshal(body, v); err != nil {
			return Malformedf("the answer has another form than this server's: %v", err)
		}
		return nil
	}
}

// Having is [Into] for an answer that must be an object with the key: without it an answer about something else
// would read as an empty one.
func Having(key string, v any) func([]byte) error {
	return func(body []byte) error {
		var keys map[string]json.RawMessage
		if err := Into(&keys)(body); err != nil {
			return err
		}
		if value := keys[key]; len(value) == 0 || string(value) == "null" {
			return Malformedf("the answer has no %q", key)
		}
		return Into(v)(body)
	}
}

// Checked returns a reader that decodes an answer into v, in place of what an earlier attempt left there, and
// checks it.
func Checked[T any](v *T, check func(*T) error) func([]byte) error {
	return func(body []byte) error {
		var fresh T
		if err := Into(&fresh)(body); err != nil {
			return err
		}
		*v = fresh
		return check(v)
	}
}
