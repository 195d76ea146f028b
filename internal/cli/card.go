package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

func (a *app) newCardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Compare the measurement cards of two runs",
		Long: `A run's measurement card states every protocol choice behind its numbers. Two
runs can be compared where their cards agree.`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newCardDiffCommand())
	return cmd
}

func (a *app) newCardDiffCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Say in which protocol choices two runs differ",
		Long: `Say in which protocol choices two runs differ, side by side, and how many are
equal: models, data, prompts, contexts, aggregation, parser, correctness,
validation of the judges, metrics and intervals. What came of these choices is
not compared.

A and B are run folders, or a card.md or results.json in one. The exit code is 0
if all choices are equal, 4 if some differ.`,
		Example: "  credence card diff runs/quickstart runs/larger\n  credence card diff --format markdown runs/a/card.md runs/b/card.md",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageHint(usagef("%s wants two runs", cmd.CommandPath()), "usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.cardDiff(cmd, format, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown")
	return cmd
}

func (a *app) cardDiff(cmd *cobra.Command, format, left, right string) error {
	write, err := a.cardDiffWriter(format)
	if err != nil {
		return err
	}
	var cards [2]*card.Card
	for i, path := range []string{left, right} {
		if cards[i], err = await.Result(cmd.Context(), func() (*card.Card, error) { return readCard(path) }); err != nil {
			return err
		}
	}
	d := card.Compare(cards[0], cards[1])
	if err := write(left, right, d); err != nil {
		return err
	}
	if len(d.Differences) > 0 {
		return errDiffers
	}
	return nil
}

func (a *app) cardDiffWriter(format string) (func(left, right string, d card.Diff) error, error) {
	switch format {
	case "text":
		return func(left, right string, d card.Diff) error {
			return report.WriteCardDiff(a.out, a.width(), left, right, d)
		}, nil
	case "markdown":
		return func(left, right string, d card.Diff) error {
			_, err := fmt.Fprint(a.out, termsafe.Text(d.Markdown(left, right)))
			return err
		}, nil
	case "json":
		return func(left, right string, d card.Diff) error {
			var b bytes.Buffer
			out := json.NewEncoder(&b)
			out.SetEscapeHTML(false)
			out.SetIndent("", "  ")
			if err := out.Encode(struct {
				A string `json:"a"`
				B string `json:"b"`
				card.Diff
			}{left, right, d}); err != nil {
				return err
			}
			_, err := a.out.Write(termsafe.JSON(b.Bytes()))
			return err
		}, nil
	}
	return nil, usagef("unknown --format %q; the formats are text, json, markdown", format)
}

// readCard reads the card of a run: it lies in results.json, of which card.md is the printed form.
func readCard(path string) (*card.Card, error) {
	folder := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = filepath.Dir(path)
		if name := filepath.Base(path); name != "card.md" && name != "results.json" {
			return nil, usageHint(usagef("%s is no run", path), "name the folder of a run, or the card.md or results.json in it")
		}
	}
	results, err := study.ReadResults(folder)
	if err != nil {
		return nil, err
	}
	if results.Card == nil {
		return nil, usagef("%s holds no measurement card", filepath.Join(folder, "results.json"))
	}
	return results.Card, nil
}
