package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

// studyFlags override a study file: flag before environment before file before default.
type studyFlags struct {
	engineFlags
	out       string
	data      string
	items     int
	resamples int
	seed      uint64
	budget    study.Budget
}

func (f *studyFlags) add(cmd *cobra.Command) {
	f.engineFlags.add(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`folder` of the run (default runs/NAME)")
	cmd.Flags().StringVar(&f.data, "data", "", "`folder` of the data files, in place of the study's own")
	cmd.Flags().IntVar(&f.items, "items", 0, "take the first N items of each data set; 0 takes what the study says")
	cmd.Flags().IntVar(&f.resamples, "bootstrap", study.DefaultResamples, "resamples of the bootstrap, in place of what the study says; 0 makes no intervals")
	cmd.Flags().IntVar(&f.budget.Calls, "budget-calls", 0, "most calls of the study over all its runs, in place of what the study says; 0 is no bound")
	cmd.Flags().IntVar(&f.budget.Tokens, "budget-tokens", 0, "most tokens read and written, likewise")
	cmd.Flags().Float64Var(&f.budget.Money, "budget-money", 0, "most money, in the currency of the models' prices, likewise")
	cmd.Flags().Uint64Var(&f.seed, "seed", study.DefaultSeed, "seed, in place of the one of the study")
}

// apply writes into f what the user gave on the command line, and returns the run's folder.
func (f *studyFlags) apply(cmd *cobra.Command, s *study.File) (folder string, err error) {
	if f.items < 0 {
		return "", usagef("--items %d is negative; 0 takes what the study says", f.items)
	}
	if cmd.Flags().Changed("bootstrap") {
		if f.resamples < 0 {
			return "", usagef("--bootstrap %d is negative; 0 makes no intervals", f.resamples)
		}
		if f.resamples > study.MaxResamples {
			return "", usagef("--bootstrap %d is more than %d", f.resamples, study.MaxResamples)
		}
		s.Analysis.Resamples = &f.resamples
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = f.seed
	}
	if f.layers > 0 { // into the kept study, too: it moves values
		for i := range s.Models {
			s.Models[i].GPULayers = f.layers
		}
	}
	if f.items > 0 {
		for i := range s.Datasets {
			s.Datasets[i].Limit = f.items
		}
	}
	if err := f.applyBudget(cmd, s); err != nil {
		return "", err
	}
	if f.out != "" {
		return f.out, nil
	}
	return filepath.Join("runs", s.Name), nil
}

// applyBudget puts the bounds of the command line in the place of the study's.
func (f *studyFlags) applyBudget(cmd *cobra.Command, s *study.File) error {
	changed := false
	for flag, set := range map[string]func(){
		"budget-calls":  func() { s.Budget.Calls = f.budget.Calls },
		"budget-tokens": func() { s.Budget.Tokens = f.budget.Tokens },
		"budget-money":  func() { s.Budget.Money = f.budget.Money },
	} {
		if cmd.Flags().Changed(flag) {
			set()
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return s.CheckBudget()
}

func (a *app) newRunCommand() *cobra.Command {
	var flags studyFlags
	cmd := &cobra.Command{
		Use:   "run STUDY.yaml",
		Short: "Run a study: your models, your questions",
		Long: `Run the study that a file describes and write its folder, by default runs/NAME.

What was asked before is not asked again: after an interruption the same command
goes on where it stopped, and a study with more items or another correctness
rule asks only for what is new. docs/format.md describes the file.`,
		Example: "  credence run study.yaml\n  credence run study.yaml --items 20 --out runs/try",
		Args:    exactlyOne("a study file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := await.Result(cmd.Context(), func() (*study.File, error) { return study.LoadFrom(args[0], flags.data) })
			if err != nil {
				return err
			}
			return a.runStudy(cmd, s, flags)
		},
	}
	flags.add(cmd)
	a.addEvents(cmd)
	return cmd
}

func (a *app) runStudy(cmd *cobra.Command, s *study.File, flags studyFlags) error {
	folder, err := flags.apply(cmd, s)
	if err != nil {
		return err
	}
	opener, err := a.opener(flags.engineFlags)
	if err != nil {
		return err
	}
	a.events().started(cmd.Name(), s.Name, folder, "")
	progress := a.newProgress()
	defer a.sayInterrupted(cmd.Context())()
	results, info, err := study.Run(cmd.Context(), s, study.Options{
		Folder:   folder,
		Open:     opener,
		Version:  versionLine(),
		Progress: progress.update,
		Perturbed: func(p study.Perturbations) {
			if e := a.events(); e != nil {
				e.perturbed(p)
				return
			}
			a.log.Debug(fmt.Sprintf("%s for %s: %d perturbations of %d candidates", p.Source, p.Dataset, p.Accepted, p.Candidates))
		},
		Note: func(dataset, note string) { a.log.Info(dataset + ": " + note) },
	})
	progress.end()
	if err != nil {
		return resumable(err, folder)
	}
	if err := a.printResults(cmd, s, flags, results, info, folder); err != nil {
		return err
	}
	a.events().surveyed(results.Consistency)
	a.events().finished(folder, info)
	return nil
}

// sayInterrupted tells people what happens when ctx is interrupted, until what it returns is called.
func (a *app) sayInterrupted(ctx context.Context) (end func() bool) {
	return context.AfterFunc(ctx, func() {
		a.log.Info(fmt.Sprintf("interrupted: waiting for the calls that are under way, at most %.0f s; interrupt again to stop at once", study.DefaultGrace.Seconds()))
	})
}

// opener is the embedded engine, or what a test put in its place, and the servers that a study names.
func (a *app) opener(flags engineFlags) (study.Opener, error) {
	if a.open != nil {
		return routed{a.open, flags.offline}, nil
	}
	e, err := a.newEmbedded(flags)
	return routed{e, flags.offline}, err
}

func (a *app) printResults(cmd *cobra.Command, s *study.File, flags studyFlags, results *study.Results, info *study.RunInfo, folder string) error {
	var firsts []*protocol.Comparison
	for _, s := range results.Settings {
		if len(s.Comparisons) > 0 {
			firsts = append(firsts, s.Comparisons[0])
		}
		if err := report.WriteSetting(a.out, a.width(), s.Comparisons); err != nil {
			return err
		}
	}
	if err := report.WriteHeadlines(a.out, a.width(), firsts); err != nil {
		return err
	}
	if results.Consistency != nil {
		if err := report.WriteConsistency(a.out, a.width(), results.Consistency); err != nil {
			return err
		}
	}
	next, why := nextOf(cmd, s, flags, folder)
	return report.WriteEnd(a.out, a.width(), report.End{
		Made: info.Made, Reused: info.Reused, Took: info.Finished.Sub(info.Started), Folder: folder,
		Tables: len(results.Settings) > 1 || results.HasParts(), Next: next, Why: why,
	})
}
