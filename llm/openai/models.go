package openai

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm/internal/wire"
)

// listed is one model of a server's list.
type listed struct {
	ID      string `json:"id"`
	OwnedBy string `json:"owned_by"`
	Root    string `json:"root"`
	MaxLen  int    `json:"max_model_len"`
	Meta    struct {
		Vocabulary int   `json:"n_vocab"`
		Parameters int64 `json:"n_params"`
		Size       int64 `json:"size"`
	} `json:"meta"`
}

// models reads the server's list of models.
func models(ctx context.Context, c *client) ([]listed, error) {
	var list struct {
		Data []listed `json:"data"`
	}
	err := c.Get(ctx, "/v1/models", wire.Having("data", &list))
	return list.Data, err
}

// choose takes the model that the user names, or the only one there is.
func choose(list []listed, wanted string) (listed, error) {
	var names []string
	for _, m := range list {
		if m.ID == wanted {
			return m, nil
		}
		names = append(names, m.ID)
	}
	const most = 12
	known := strings.Join(names[:min(len(names), most)], ", ")
	switch {
	case wanted == "" && len(list) == 1:
		return list[0], nil
	case wanted == "":
		return listed{}, &ConfigError{What: fmt.Sprintf("the server lists %d models; name one: %s", len(list), wire.Line(known))}
	}
	return listed{}, &ConfigError{What: fmt.Sprintf("the server has no model %q; it lists %s", wanted, wire.Line(known))}
}

// sameIDs says where two lists of ids differ.
func sameIDs(sent, got []int32) error {
	if slices.Equal(sent, got) {
		return nil
	}
	return &Error{Kind: Malformed, Final: true, What: fmt.Sprintf("%d token ids were sent, the answer is about %d others; does the server add a beginning-of-sequence token?", len(sent), len(got))}
}
