package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/credence-lab/credence/llm/internal/wire"
)

// alternatives are the tokens at one position of a prompt by id, or nil for a position that has none: the
// first. An id that occurs twice is refused, as a map would keep the last in silence.
type alternatives map[int32]alternative

type alternative struct {
	LogProb *float64 `json:"logprob"`
	Text    string   `json:"decoded_token"`
}

// UnmarshalJSON reads an object whose keys are ids.
func (a *alternatives) UnmarshalJSON(raw []byte) error {
	*a = nil
	if string(raw) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("alternatives of a position are no object")
	}
	*a = alternatives{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		id, err := strconv.ParseInt(fmt.Sprint(key), 10, 32)
		if err != nil {
			return fmt.Errorf("token id %q is no number", wire.Line(fmt.Sprint(key)))
		}
		if _, twice := (*a)[int32(id)]; twice {
			return fmt.Errorf("token id %d is given twice at one position", id)
		}
		var one alternative
		if err := dec.Decode(&one); err != nil {
			return err
		}
		(*a)[int32(id)] = one
	}
	return nil
}
