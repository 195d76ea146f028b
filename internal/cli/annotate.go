package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/validation"
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
The rules stand beside each answer, or above it where the terminal is narrow.

Keys: c correct, i incorrect, u unsure, n a note for the next label, z take the
last label back, g go to an answer by number, f choose which are shown (open,
all, labelled, correct, incorrect, unsure, noted, /text), s skip, r rules on or
off, ? help, q quit.

With --with, several people share the work: --overlap answers are labelled by
all, so that their agreement can be measured, the others are dealt out. Each
sees an order of their own, the same in every session; give everyone the same
names, --overlap and --seed. They may label at the same time.

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
	keys, raw, done := a.keys()
	defer done()
	s := &labelling{log: log, name: f.as, tasks: design.Tasks(tasks, f.as), keys: keys, screen: newLabelScreen(a, raw, guidelines), now: time.Now}
	s.screen.say("%d answers for %s; %d more have no text. Labels go to %s.", len(s.tasks), f.as, leftOut, termsafe.String(filepath.Join(folder, study.LabelsFile)))
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
	if err == nil && log.Torn {
		a.log.Warn(study.LabelsFile + ": the last line was torn by a crash while it was written; no label was confirmed by it, and it is cut off")
	}
	return log, err
}

// readLabels are the labels of a run's folder; nothing is written.
func (a *app) readLabels(folder string) (*annotate.Log, error) {
	log, err := annotate.ReadLog(filepath.Join(folder, study.LabelsFile))
	if err == nil && log.Torn {
		a.log.Warn(study.LabelsFile + ": the last line is not whole and does not count: it was torn by a crash, or is just being written")
	}
	return log, err
}

// agreementFlags say how agreement is measured.
type agreementFlags struct {
	unsure, format string
}

func (a *app) newAgreementCommand() *cobra.Command {
	var f agreementFlags
	cmd := &cobra.Command{
		Use:   "agreement FOLDER",
		Short: "Say how far the people who labelled a run agree",
		Long: `Say how far the people who labelled a run agree: Cohen's kappa of every two and
Krippendorff's alpha of all, with intervals, once with unsure as a label of its
own and once as --unsure says; the labels of every two against each other; and
the answers on which people differ, with their notes, for adjudication.`,
		Args: exactlyOne("a run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.agreement(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.unsure, "unsure", string(validation.UnsureIncorrect), "what an unsure label counts as: incorrect, missing or half")
	cmd.Flags().StringVar(&f.format, "format", "text", "text or json")
	return cmd
}

func (a *app) agreement(ctx context.Context, folder string, f agreementFlags) error {
	page := report.PeoplePage{Unsure: validation.UnsureRule(f.unsure)}
	if !slices.Contains(validation.UnsureRules(), page.Unsure) {
		return usagef("unknown --unsure %q; it counts as incorrect, missing or half", f.unsure)
	}
	write := func(w io.Writer, p report.PeoplePage) error { return report.WriteAgreement(w, a.width(), p) }
	switch f.format {
	case "text":
	case "json":
		write = report.WriteAgreementJSON
	default:
		return usagef("unknown --format %q; use text or json", f.format)
	}
	var err error
	if page.Tasks, _, err = study.Tasks(ctx, folder); err != nil {
		return err
	}
	log, err := a.readLabels(folder)
	if err != nil {
		return err
	}
	page.Labels = annotate.TableOf(log)
	if err := log.Close(); err != nil {
		return err
	}
	var items []string
	for _, id := range page.Labels.Answers {
		items = append(items, id.String())
	}
	ci := metric.AgreementInterval{Level: study.DefaultLevel, Resamples: 2000, Seed: study.DefaultSeed}
	if page.Agreement, err = validation.Agree(items, study.PeopleOf(page.Labels), page.Unsure, ci); err != nil {
		return err
	}
	return write(a.out, page)
}

func (a *app) newLabelsExportCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write the labels that stand, as CSV or JSONL, to standard output",
		Args:  exactlyOne("a run's folder"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if format != "csv" && format != "jsonl" {
				return usagef("unknown --format %q; use csv or jsonl", format)
			}
			if _, _, err := study.Tasks(cmd.Context(), args[0]); err != nil {
				return err
			}
			log, err := a.readLabels(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			if t := annotate.TableOf(log); format == "csv" {
				return t.WriteCSV(a.out, log)
			} else {
				return t.WriteJSONL(a.out, log)
			}
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
		Long: `Take labels from a table with the columns item and label, and where they are there
annotator, model, dataset, source, prompt, role, sample, note and at. All of it is
read before any of it counts. A label that stands already is passed over, so that a
file can be taken twice; one that differs corrects it.`,
		Args: wrongUsage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			tasks, _, err := study.Tasks(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			entries, err := importedLabels(args[1], tasks, as, a.in)
			if err != nil {
				return err
			}
			log, err := a.openLabels(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			fresh := annotate.Fresh(log, entries)
			if err := log.Add(fresh...); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%d labels taken from %s, %d stood already\n", len(fresh), termsafe.String(args[1]), len(entries)-len(fresh))
			return err
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "`name` of the annotator where the file names none")
	return cmd
}

// importedLabels reads all of a file before any of it counts.
func importedLabels(path string, tasks []annotate.Task, as string, stdin io.Reader) ([]annotate.Entry, error) {
	r, err := table.Open(path, table.Options{Strict: true, Stdin: stdin})
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return annotate.Import(r, tasks, as, time.Now())
}
