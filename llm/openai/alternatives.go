package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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

// UnmarshalJSON reads an object whose keys are ids, or null.
func (a *alternatives) UnmarshalJSON(raw []byte) error {
	*a = nil
	if string(raw) == "null" {
		return nil
	}
	*a = alternatives{}
	return members(raw, func(key string, value *json.Decoder) error {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return fmt.Errorf("token id %q is no number", wire.Line(key))
		}
		if _, twice := (*a)[int32(id)]; twice {
			return fmt.Errorf("token id %d is given twice at one position", id)
		}
		var one alternative
		if err := value.Decode(&one); err != nil {
			return err
		}
		(*a)[int32(id)] = one
		return nil
	})
}

// members has each called with every member of an object, in order; those of one key are all told.
func members(raw []byte, each func(key string, value *json.Decoder) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("alternatives of a position are no object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if err := each(fmt.Sprint(key), dec); err != nil {
			return err
		}
	}
	return nil
}

// top are the values of those tokens, in descending order; nil as of [descending].
func (a alternatives) top() []float64 {
	var list []*float64
	for _, one := range a {
		list = append(list, one.LogProb)
	}
	return descending(list)
}

// descending are the values of the most probable tokens at a position, sorted; nil if there are none, or if one
// of them is no log-probability: a distribution with a hole is not told.
func descending(values []*float64) []float64 {
	var list []float64
	for _, value := range values {
		x, err := logProb(value)
		if err != nil {
			return nil
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	return list
}

// descendingOf are the values of a list of tokens, as of [descending].
func descendingOf[T any](list []T, value func(T) *float64) []float64 {
	values := make([]*float64, len(list))
	for i, one := range list {
		values[i] = value(one)
	}
	return descending(values)
}

// byText are the values of the most probable tokens at a position as OpenAI's older route has them: an object
// of texts and values. Tokens that are decoded alike are one entry there, so that a list may lack some.
type byText []*float64

// UnmarshalJSON reads an object of numbers, or null.
func (b *byText) UnmarshalJSON(raw []byte) error {
	*b = nil
	if string(raw) == "null" {
		return nil
	}
	return members(raw, func(_ string, value *json.Decoder) error {
		var x *float64
		if err := value.Decode(&x); err != nil {
			return err
		}
		*b = append(*b, x)
		return nil
	})
}

// whole are the values of the k most probable tokens in descending order; nil where some of them may have been
// decoded alike. besides says that the server tells the chosen token too, of value chosen, where it is not one of
// the k: then it is the last of k+1. The last of k may be it as well, with one of the others lost.
func (b byText) whole(k int, chosen *float64, besides bool) []float64 {
	list := descending(b)
	switch {
	case len(list) < k:
		return nil
	case besides && len(list) == k && chosen != nil && list[k-1] == *chosen:
		return nil
	}
	return list
}
