package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

func (a *app) newPlanCommand() *cobra.Command {
	var flags studyFlags
	var format string
	cmd := &cobra.Command{
		Use:   "plan STUDY.yaml",
		Short: "Say what a study would ask and cost, without asking",
		Long: `Say what "credence run" would ask: how many calls, of how many tokens, how
long they take at most, and what they cost where the study states prices. What
the run's folder knows already is counted apart. The study's own code is run,
with typical replies in the model's place; nothing is sent, fetched or written.
Tokens, time and money are estimates.`,
		Example: "  credence plan study.yaml\n  credence plan study.yaml --items 20",
		Args:    exactlyOne("a study file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := await.Result(cmd.Context(), func() (*study.File, error) { return study.LoadFrom(args[0], flags.data) })
			if err != nil {
				return err
			}
			folder, err := flags.apply(cmd, s)
			if err != nil {
				return err
			}
			opener, err := a.opener(flags.engineFlags)
			if err != nil {
				return err
			}
			planner, ok := opener.(study.Planner)
			if !ok {
				return usagef("this engine cannot plan")
			}
			plan, err := study.MakePlan(cmd.Context(), s, folder, planner)
			if err != nil {
				return err
			}
			return a.printPlan(plan, format)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func (a *app) printPlan(plan *study.Plan, format string) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(plan)
	case "text":
		if err := report.WritePlan(a.out, a.width(), planRows(plan)); err != nil {
			return err
		}
		if err := writeMemory(a.out, plan); err != nil {
			return err
		}
		return writeUnsupported(a.out, plan)
	}
	return usagef("unknown format %q; use text or json", format)
}

// writeMemory says what each model takes at most. Models take turns, so the largest is the peak.
func writeMemory(w io.Writer, plan *study.Plan) error {
	said := map[string]bool{}
	for _, s := range plan.Settings {
		if said[s.Setting.Model] || s.MemoryBytes == 0 {
			continue
		}
		said[s.Setting.Model] = true
		if _, err := fmt.Fprintf(w, "Memory of %s at most %s\n", termsafe.Text(s.Setting.Model), s.MemoryFor); err != nil {
			return err
		}
	}
	return nil
}

// writeUnsupported says which quantifiers a model cannot support.
func writeUnsupported(w io.Writer, plan *study.Plan) error {
	said := map[string]bool{}
	for _, s := range plan.Settings {
		if said[s.Setting.Model] {
			continue
		}
		said[s.Setting.Model] = true
		for _, u := range s.Unsupported {
			if _, err := fmt.Fprintf(w, "Model %s gives no value of %s\n", termsafe.Text(s.Setting.Model), u); err != nil {
				return err
			}
		}
	}
	return nil
}

func planRows(plan *study.Plan) []report.PlanRow {
	var rows []report.PlanRow
	for _, s := range plan.Settings {
		rows = append(rows, report.PlanRow{
			Setting: s.Setting.String(), Items: s.Items, Calls: s.Calls, Known: s.Known,
			PromptTokens: s.PromptTokens, GeneratedTokens: s.GeneratedTokens,
			Seconds: s.Seconds, SpeedOf: s.SpeedOf, Note: s.Note, Money: s.Money, Currency: s.Currency,
		})
	}
	return rows
}
