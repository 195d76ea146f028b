package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/weights"
)

func (a *app) newModelsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the catalogue of models and what the cache has",
		Long: `List the models that "credence pull" can fetch: size, licence, whether they are
in the cache, and their kind: those that chat, those that only continue a text
(base), and those that give a vector for a text (embedding) and write none.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cache, err := weights.Open(weights.Options{})
			if err != nil {
				return err
			}
			switch format {
			case "text":
				return writeModels(a.out, a.width(), cache)
			case "json":
				return writeModelsJSON(a.out, cache)
			}
			return usagef("--format %q: must be text or json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func writeModels(w io.Writer, width int, cache *weights.Cache) error {
	rows := [][]string{{"NAME", "KIND", "SIZE", "IN CACHE", "LICENCE"}}
	for _, m := range cache.Models() {
		kind := "base"
		switch {
		case m.Chat:
			kind = "chat"
		case m.Embedding != nil:
			kind = "embedding"
		}
		if m.Default {
			kind += ", default"
		}
		rows = append(rows, []string{m.Name, kind, weights.FormatBytes(m.Bytes), stateWords(m.State, m.Have), m.Licence.Name})
	}
	if err := writeRows(w, width, rows); err != nil {
		return err
	}
	engine, err := cache.Engine()
	if err != nil {
		_, err = fmt.Fprintf(w, "\nEngine: %v\n", err)
		return err
	}
	_, err = fmt.Fprintf(w, "\nEngine: llama.cpp %s for %s, %s\n        in cache: %s, licence %s\nCache:  %s\nThe addresses of the licences: --format json\n", engine.Version,
		engine.Platform, weights.FormatBytes(engine.Bytes), stateWords(engine.State, 0), engine.Licence.Name, cache.Home())
	return err
}

// writeRows writes a table of words: columns from the left, or a list where they do not fit.
func writeRows(w io.Writer, width int, rows [][]string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(line) > width+1 {
			return report.WriteTable(w, width, rows)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func stateWords(s weights.State, have int64) string {
	switch s {
	case weights.Present:
		return "yes"
	case weights.Incomplete:
		return weights.FormatBytes(have) + " of it"
	}
	return "no"
}

func writeModelsJSON(w io.Writer, cache *weights.Cache) error {
	list := struct {
		Home   string                `json:"home"`
		Models []weights.ModelStatus `json:"models"`
		Engine *weights.EngineStatus `json:"engine,omitempty"`
	}{Home: cache.Home(), Models: cache.Models()}
	if engine, err := cache.Engine(); err == nil {
		list.Engine = &engine
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(list)
}
