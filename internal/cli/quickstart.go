package cli

import (
	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/study"
)

func (a *app) newQuickstartCommand() *cobra.Command {
	var flags studyFlags
	var weights string
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Measure a small model on built-in questions, right here",
		Long: `Fetch a small language model once (about 500 MB, licence shown first), ask it
the built-in questions, and show how sure it is of its answers: in words, and in
probabilities, read in four contexts.

The second time nothing is fetched and nothing is asked. Nothing leaves this
machine. The folder runs/quickstart keeps the report and every number.`,
		Example: "  credence quickstart --items 10\n  credence quickstart\n  credence quickstart --weights qwen2.5-coder-1.5b-instruct --out runs/larger",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := study.Quickstart()
			if weights != "" {
				s.Models[0].Weights, s.Models[0].Name = weights, weightsName(weights)
			}
			return a.runStudy(cmd, s, flags)
		},
	}
	flags.add(cmd)
	a.addEvents(cmd)
	cmd.Flags().StringVar(&weights, "weights", "", "a GGUF `file`, or a name that \"credence models\" lists, instead of the default model")
	return cmd
}
