package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

// calibrateFlags are those of calibrate-diversity.
type calibrateFlags struct {
	engineFlags
	budget                          study.Budget
	study, sampler, embeddings, out string
	premises, paraphrases           int
	seed                            uint64
}

func (f *calibrateFlags) add(cmd *cobra.Command) {
	f.engineFlags.add(cmd)
	cmd.Flags().StringVar(&f.study, "study", "", "`file` of the study that names sampler and embeddings, also on servers")
	cmd.Flags().StringVar(&f.sampler, "sampler", study.DefaultWeights, "`weights` of the model that writes perturbations; with --study its name there (default the first that writes them)")
	cmd.Flags().StringVar(&f.embeddings, "embeddings", study.DefaultEmbeddings, "`weights` of the model of embeddings")
	cmd.Flags().IntVar(&f.premises, "premises", study.CalibrationPremises, "built-in statements to paraphrase, at most 30")
	cmd.Flags().IntVar(&f.paraphrases, "paraphrases", study.CalibrationParaphrases, "paraphrases of each")
	cmd.Flags().Uint64Var(&f.seed, "seed", study.DefaultSeed, "seed of the sampler")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`folder` of the result (default runs/diversity-SAMPLER)")
	cmd.Flags().IntVar(&f.budget.Calls, "budget-calls", 0, "most calls over all runs in the folder; 0 is no bound")
	cmd.Flags().IntVar(&f.budget.Tokens, "budget-tokens", 0, "most tokens read and written, likewise")
	cmd.Flags().Float64Var(&f.budget.Money, "budget-money", 0, "most money, in the currency of the study's prices, likewise")
}

// options are what the flags ask for, the models from the study where one is named.
func (f *calibrateFlags) options(cmd *cobra.Command) (study.CalibrateOptions, error) {
	o := study.CalibrateOptions{
		Folder: f.out, Premises: f.premises, Paraphrases: f.paraphrases, Seed: f.seed, Budget: f.budget, Embeddings: study.Embeddings{Weights: f.embeddings},
		Sampler: study.Model{Name: weightsName(f.sampler), Engine: "llamacpp", Weights: f.sampler, Format: "auto", Mode: "exact"},
	}
	if f.study != "" {
		if cmd.Flags().Changed("embeddings") {
			return o, usageHint(usagef("--embeddings %s beside --study, which names its own", f.embeddings), "leave one of the two out")
		}
		s, err := study.LoadFrom(f.study, "")
		if err != nil {
			return o, err
		}
		name := ""
		if cmd.Flags().Changed("sampler") {
			name = f.sampler
		}
		if o.Sampler, o.Embeddings, err = s.Calibrates(name); err != nil {
			return o, err
		}
	}
	if f.layers > 0 {
		o.Sampler.GPULayers = f.layers
	}
	if o.Folder == "" {
		o.Folder = filepath.Join("runs", "diversity-"+o.Sampler.Name)
	}
	return o, nil
}

func (a *app) newCalibrateDiversityCommand() *cobra.Command {
	var flags calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate-diversity",
		Short: "Find how alike two perturbations of a sampler may be",
		Long: `Find from which cosine on two texts of a sampler count as paraphrases of each
other under an embedding: the sampler paraphrases built-in statements, and the
threshold is the 5th percentile of the cosines of paraphrases of one statement.

A study of consistency takes the threshold of its sampler from the program where
it carries one, else from the folder that this command writes (calibration: in
the study file). Interrupted, or at the end of its budget, the same command goes
on where it stopped.`,
		Example: "  credence calibrate-diversity\n  credence calibrate-diversity --sampler qwen2.5-coder-1.5b-instruct --out k\n  credence calibrate-diversity --study study.yaml --budget-calls 500",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options(cmd)
			if err != nil {
				return err
			}
			return a.calibrate(cmd, o, flags.engineFlags)
		},
	}
	flags.add(cmd)
	a.addEvents(cmd)
	return cmd
}

func (a *app) calibrate(cmd *cobra.Command, o study.CalibrateOptions, flags engineFlags) (err error) {
	if o.Open, err = a.opener(flags); err != nil {
		return err
	}
	a.events().started(cmd.Name(), "", o.Folder, "")
	progress := a.newProgress()
	o.Progress = func(done, total int) {
		if progress.events == nil && !progress.terminal { // each takes minutes of a model on this machine
			a.log.Info(fmt.Sprintf("%d of %d statements paraphrased", done, total))
			return
		}
		progress.count("statements", done, total)
	}
	defer a.sayInterrupted(cmd.Context())()
	found, err := study.CalibrateDiversity(cmd.Context(), o)
	progress.end()
	var spent *study.BudgetError
	switch {
	case errors.As(err, &spent):
		return hinted{spent, fmt.Sprintf("what was asked is kept in %s; raise --budget-calls, --budget-tokens or --budget-money, and the same command goes on", o.Folder)}
	case err != nil:
		return resumable(err, o.Folder)
	}
	file := filepath.Join(o.Folder, study.CalibrationFile)
	if err := a.printCalibration(found, o.Folder, file); err != nil {
		return err
	}
	a.events().calibrated(o.Folder, file)
	return nil
}

func (a *app) printCalibration(c *consistency.Calibration, folder, file string) error {
	rows := [][]string{
		{"", "value"},
		{"sampler", c.Sampler}, {"embeddings", c.Embeddings},
		{"statements", fmt.Sprint(c.Premises)}, {"paraphrases found", fmt.Sprintf("%d of %d", c.Found, c.Premises*c.Paraphrases)},
		{"statements with fewer than asked for", fmt.Sprint(c.Short)}, {"pairs compared", fmt.Sprint(c.K.N)},
		{"threshold k", report.Estimate(c.K)},
	}
	if err := report.WriteTable(a.out, a.width(), rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\nThe distribution of cosines is in %s.\nA study takes the threshold with \"calibration: %s\" under consistency.\n", file, folder)
	return err
}
