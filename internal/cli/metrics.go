package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/report"
)

func (a *app) newMetricsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "List the metrics with definition and source",
		Long: `List the metrics by the ids that --metric takes, with definition and source.

Families with parameters have more members than those listed: any number of bins
will do, such as ece.equal-width.20.left-closed.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch format {
			case "table":
				return a.listMetrics()
			case "json":
				return a.listMetricsJSON()
			}
			return usagef("unknown --format %q; the formats are table, json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return cmd
}

func (a *app) listMetrics() error {
	var b strings.Builder
	width := min(max(a.width(), narrowest), lineWidth)
	for _, s := range metric.All() {
		b.WriteString(s.ID + "\n")
		for _, text := range []string{
			s.Definition,
			fmt.Sprintf("%s. Needs %s; reads labels as %s.", better(s.Better), s.Needs, s.Labels),
			"Source: " + s.Source + ".",
		} {
			for _, line := range report.Wrap(text, width-4, "") {
				b.WriteString("    " + line + "\n")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("Families with parameters:\n")
	for _, f := range metric.Families() {
		if f.Parameters != "" {
			for _, line := range foldID(f.Prefix+"."+f.Parameters, width-6) {
				b.WriteString("  " + line + "\n")
			}
		}
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// foldID breaks the pattern of an id behind its bars, where it is longer than a line.
func foldID(pattern string, width int) []string {
	parts := strings.SplitAfter(pattern, "|")
	lines := parts[:1]
	for _, part := range parts[1:] {
		if last := len(lines) - 1; len(lines[last])+len(part) <= width {
			lines[last] += part
		} else {
			lines = append(lines, "    "+part)
		}
	}
	return lines
}

func better(d metric.Direction) string {
	if d == metric.Nearer {
		return "Nearer to 0 is better"
	}
	return strings.ToUpper(string(d[:1])) + string(d[1:]) + " is better"
}

func (a *app) listMetricsJSON() error {
	type row struct {
		ID         string `json:"id"`
		Definition string `json:"definition"`
		Source     string `json:"source"`
		Better     string `json:"better"`
		Needs      string `json:"needs"`
		Labels     string `json:"labels"`
	}
	rows := []row{}
	for _, s := range metric.All() {
		rows = append(rows, row{s.ID, s.Definition, s.Source, string(s.Better), string(s.Needs), string(s.Labels)})
	}
	out := json.NewEncoder(a.out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(rows)
}
