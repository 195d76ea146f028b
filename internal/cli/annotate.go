package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
)

// annotateFlags say who labels what.
type annotateFlags struct {
	as         string
	with       []string
	overlap    int
	seed       uint64
	guidelines string
}

func (a *app) newAnnotateCommand() *cobra.Command {
	var f annotateFlags
	cmd := &cobra.Command{
		Use:   "annotate FOLDER",
		Short: "Label the answers of a run by hand: one key a label",
		Long: `Show the answers of a finished run one by one, with question and references and
nothing of confidence, judges or other people, and take a label by one key.
Every label is on disk before the next answer shows; corrections keep history.

With --with, several people share the work: --overlap answers are labelled by
all, so that their agreement can be measured, the others are dealt out. Each
sees an order of their own, the same in every session; give everyone the same
names, --overlap and --seed.

Where standard input is no terminal, each line is a key with what belongs to it,
such as "c", "n a note", "g 12".`,
		Example: "  credence annotate runs/mine --as ann\n  credence annotate runs/mine --as ann --with ben --overlap 50\n  credence annotate agreement runs/mine",
		Args:    exactlyOne("a run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.annotate(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.as, "as", "", "`name` of the person who labels; needed")
	cmd.Flags().StringSliceVar(&f.with, "with", nil, "`names` of the others who label, in one order for all")
	cmd.Flags().IntVar(&f.overlap, "overlap", 0, "answers that all of them label")
	cmd.Flags().Uint64Var(&f.seed, "seed", study.DefaultSeed, "seed of who gets what, and in which order")
	cmd.Flags().StringVar(&f.guidelines, "guidelines", "", "`file` with rules in place of the built-in ones")
	cmd.AddCommand(a.newAgreementCommand(), a.newLabelsExportCommand(), a.newLabelsImportCommand())
	return cmd
}

func (a *app) annotate(ctx context.Context, folder string, f annotateFlags) (err error) {
	design, err := f.design()
	if err != nil {
		return err
	}
	guidelines := annotate.Guidelines
	if f.guidelines != "" {
		text, err := os.ReadFile(f.guidelines)
		if err != nil {
			return usagef("the guidelines cannot be read: %v", err)
		}
		guidelines = string(text)
	}
	tasks, leftOut, err := study.Tasks(ctx, folder)
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		return usagef("%s has no answer to label", folder)
	}
	log, err := a.openLabels(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	keys, done := a.keys()
	defer done()
	s := &labelling{app: a, log: log, name: f.as, tasks: design.Tasks(tasks, f.as), keys: keys, guidelines: guidelines, now: time.Now}
	s.say("%d answers for %s; %d more have no text. Labels go to %s.", len(s.tasks), f.as, leftOut, filepath.Join(folder, study.LabelsFile))
	return s.run(ctx)
}

func (f annotateFlags) design() (annotate.Design, error) {
	if f.as == "" {
		return annotate.Design{}, usagef("--as is needed: the name of the person who labels")
	}
	// The order of names decides who gets what, so it must not depend on who calls.
	names := append([]string{f.as}, f.with...)
	d := annotate.Design{Annotators: sorted(names), Overlap: f.overlap, Seed: f.seed}
	if err := d.Check(); err != nil {
		return d, usagef("%v", err)
	}
	return d, nil
}

func (a *app) openLabels(folder string) (*annotate.Log, error) {
	log, err := annotate.OpenLog(filepath.Join(folder, study.LabelsFile))
	if err == nil && log.Mended != "" {
		fmt.Fprintf(a.err, "credence: %s: %s\n", study.LabelsFile, log.Mended)
	}
	return log, err
}

func (a *app) newAgreementCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "agreement FOLDER",
		Short: "Say how far the people who labelled a run agree",
		Args:  exactlyOne("a run's folder"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			tasks, _, err := study.Tasks(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			log, err := a.openLabels(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			agreement, err := annotate.TableOf(log).Agree(metric.AgreementInterval{Level: study.DefaultLevel, Resamples: 2000, Seed: study.DefaultSeed})
			if err != nil {
				return err
			}
			return report.WriteAgreement(a.out, a.width(), agreement, tasks)
		},
	}
}

func (a *app) newLabelsExportCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write the labels that stand, as CSV or JSONL, to standard output",
		Args:  exactlyOne("a run's folder"),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			log, err := a.openLabels(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			switch t := annotate.TableOf(log); format {
			case "csv":
				return t.WriteCSV(a.out, log)
			case "jsonl":
				return t.WriteJSONL(a.out, log)
			}
			return usagef("unknown format %q; use csv or jsonl", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "csv", "csv or jsonl")
	return cmd
}

func (a *app) newLabelsImportCommand() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "import FOLDER FILE",
		Short: "Take labels from a table with the columns item and label",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			tasks, _, err := study.Tasks(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			entries, err := readLabels(args[1], tasks, as, a.in)
			if err != nil {
				return err
			}
			log, err := a.openLabels(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			for _, e := range entries {
				if err := log.Add(e); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(a.out, "%d labels taken from %s\n", len(entries), termsafe.String(args[1]))
			return err
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "`name` of the annotator where the file names none")
	return cmd
}

// readLabels reads all of a file before any of it counts.
func readLabels(path string, tasks []annotate.Task, as string, stdin io.Reader) ([]annotate.Entry, error) {
	r, err := table.Open(path, table.Options{Strict: true, Stdin: stdin})
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return annotate.Import(r, tasks, as, time.Now())
}
