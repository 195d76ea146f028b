package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

func (a *app) newTablesCommand() *cobra.Command {
	var format, name string
	cmd := &cobra.Command{
		Use:   "tables FOLDER",
		Short: "Print the tables of a run over all its settings",
		Long: `Print the tables of a finished run over all its settings, in the form of those
of "Same Answer, Different Confidence": shift, ablation, axes, items,
multiple-choice, estimators, supplied, selection, reference, transfer, range and
multiverse, as far as the study has the parts they need; and quantifiers: the
AUROC of each quantifier of uncertainty under each judge, judge-steadiness: how
often verdicts of models repeat and keep; and of consistency:
consistency, c3-baselines, c3-models, c3-pooled, c3-averaged, c3-differences,
c3-sources, c3-kernels, c3-estimators, diagnosis, diagnosis-items, neutrality,
leaks, perturbations, topics, paraphrases, equivalence, convergence and trends.`,
		Example: "  credence tables runs/mine\n  credence tables runs/mine --table supplied --format csv",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageHint(usagef("%s wants one run folder", cmd.CommandPath()), "usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			results, err := await.Result(cmd.Context(), func() (*study.Results, error) { return study.ReadResults(args[0]) })
			if err != nil {
				return err
			}
			return a.printTables(results.AllTables(), name, format)
		},
	}
	cmd.Flags().StringVar(&name, "table", "", "one table only, by name")
	cmd.Flags().StringVar(&format, "format", "text", "text, markdown or csv")
	return cmd
}

func (a *app) printTables(list []report.StudyTable, name, format string) error {
	var names []string
	for _, t := range list {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	if name != "" && !slices.Contains(names, name) {
		err := usagef("the run has no table %q: it has %s", name, strings.Join(names, ", "))
		if near, ok := nearest.Of(name, names); ok {
			return usageHint(err, "did you mean %q?", near)
		}
		return err
	}
	for _, t := range list {
		if name != "" && t.Name != name {
			continue
		}
		if err := a.printTable(t, format); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printTable(t report.StudyTable, format string) error {
	switch format {
	case "text":
		return t.WriteText(a.out, a.tableWidth())
	case "markdown":
		return t.WriteMarkdown(a.out)
	case "csv":
		return t.WriteCSV(a.out, table.Neutral)
	}
	return usageHint(usagef("unknown format %q", format), "use text, markdown or csv")
}

// wideTable is the width of tables that no terminal shows.
const wideTable = 200

// tableWidth is that of the terminal; a file or a pipe has room for a table as it is.
func (a *app) tableWidth() int {
	if os.Getenv("COLUMNS") == "" && !isTerminal(a.out) {
		return wideTable
	}
	return a.width()
}
