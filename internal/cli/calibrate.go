package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

func (a *app) newCalibrateDiversityCommand() *cobra.Command {
	var flags engineFlags
	var sampler, embeddings, out string
	premises, paraphrases := study.CalibrationPremises, study.CalibrationParaphrases
	var seed uint64 = study.DefaultSeed
	cmd := &cobra.Command{
		Use:   "calibrate-diversity",
		Short: "Find how alike two perturbations of a sampler may be",
		Long: `Find from which cosine on two texts of a sampler count as paraphrases of each
other under an embedding: the sampler paraphrases built-in statements, and the
threshold is the 5th percentile of the cosines of paraphrases of one statement.

A study of consistency takes the threshold of its sampler from the program where
it carries one, else from the folder that this command writes (calibration: in
the study file). Interrupted, the same command goes on where it stopped.`,
		Example: "  credence calibrate-diversity\n  credence calibrate-diversity --sampler qwen2.5-coder-1.5b-instruct --out k",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opener, err := a.opener(flags)
			if err != nil {
				return err
			}
			folder := out
			if folder == "" {
				folder = filepath.Join("runs", "diversity-"+weightsName(sampler))
			}
			progress := func(done, total int) { a.log.Info(fmt.Sprintf("%d of %d statements paraphrased", done, total)) }
			found, err := study.CalibrateDiversity(cmd.Context(), study.CalibrateOptions{
				Folder: folder, Open: opener, Embeddings: embeddings, Premises: premises, Paraphrases: paraphrases, Seed: seed, Progress: progress,
				Sampler: study.Model{Name: weightsName(sampler), Engine: "llamacpp", Weights: sampler, Format: "auto", Mode: "exact"},
			})
			if err != nil {
				return resumable(err, folder)
			}
			return a.printCalibration(found, folder)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&sampler, "sampler", study.DefaultWeights, "`weights` of the model that writes perturbations")
	cmd.Flags().StringVar(&embeddings, "embeddings", study.DefaultEmbeddings, "`weights` of the model of embeddings")
	cmd.Flags().IntVar(&premises, "premises", premises, "built-in statements to paraphrase, at most 30")
	cmd.Flags().IntVar(&paraphrases, "paraphrases", paraphrases, "paraphrases of each")
	cmd.Flags().Uint64Var(&seed, "seed", seed, "seed of the sampler")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` of the result (default runs/diversity-SAMPLER)")
	return cmd
}

func (a *app) printCalibration(c *consistency.Calibration, folder string) error {
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
	_, err := fmt.Fprintf(a.out, "\nThe distribution of cosines is in %s.\n", filepath.Join(folder, "calibration.json"))
	return err
}
