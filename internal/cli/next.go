package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/credence-lab/credence/study"
)

// largerModel is the catalogue's next size above the default.
const largerModel = "qwen2.5-coder-1.5b-instruct"

// nextOf is the command to go on with, and what it is for: all items after a run of some, another model
// after the default one, and else what tells whether this run and another can be compared.
func nextOf(cmd *cobra.Command, s *study.File, flags studyFlags, folder string) (next, why string) {
	switch {
	case flags.items > 0:
		return strings.Join(again(cmd), " "), fmt.Sprintf("all items instead of %d; what was asked is not asked again", flags.items)
	case cmd.Name() == "quickstart" && len(s.Models) == 1 && s.Models[0].Weights == study.DefaultWeights:
		return strings.Join([]string{cmd.CommandPath(), "--weights", largerModel, "--out", filepath.Join("runs", "larger")}, " "),
			"a larger model on the same questions; docs/format.md shows how to ask your own"
	}
	return "credence card diff " + quote(folder) + " OTHER", "before you compare this run with another one, see whether their protocols agree"
}

// again is the command as it was given, without the bound on items.
func again(cmd *cobra.Command) []string {
	words := []string{cmd.CommandPath()}
	for _, word := range cmd.Flags().Args() {
		words = append(words, quote(word))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == "items" || f.Name == "json":
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name, quote(f.Value.String()))
		}
	})
	return words
}

// quote writes a word as a shell reads it.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,="
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
