package llm

import (
	"maps"
	"slices"
	"strings"
)

// Identity is what a reply depends on besides the request: part of each call's key, and on the card.
// Two engines with equal identities give equal replies where they say that they are reproducible.
type Identity struct {
	// Engine names the program that runs the model, such as "llamacpp".
	Engine string `json:"engine"`
	// Version is the engine's own version.
	Version string `json:"version,omitempty"`
	// Model is the served name, or the file name of the weights.
	Model string `json:"model"`
	// Weights is the SHA-256 of the weights in hex; empty where a server does not tell.
	Weights string `json:"weights,omitempty"`
	// Mode is "exact" or "fast" for engines that know the difference.
	Mode string `json:"mode,omitempty"`
	// Settings are further choices that move values: CPU variant, flash attention, template.
	Settings map[string]string `json:"settings,omitempty"`
}

// String is a one-line form for people: engine, model, first digits of the weights, mode.
func (id Identity) String() string {
	parts := []string{id.Engine}
	if id.Version != "" {
		parts = append(parts, id.Version)
	}
	parts = append(parts, id.Model)
	if len(id.Weights) >= 8 {
		parts = append(parts, id.Weights[:8])
	}
	if id.Mode != "" {
		parts = append(parts, id.Mode)
	}
	for _, k := range slices.Sorted(maps.Keys(id.Settings)) {
		parts = append(parts, k+"="+id.Settings[k])
	}
	return strings.Join(parts, " ")
}
