package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/validation"
)

// Bounds of what may be asked for, so that a mistyped number does not run for a day.
const (
	maxDraws      = 100_000
	maxSubsamples = 100_000
)

// validateFlags are the choices of "credence validate".
type validateFlags struct {
	wide    wideSpec
	options validation.Options
	unsure  string
	sampler string
	format  string
	input   string
	setting string
	full    bool
	strict  bool
}

func (f *validateFlags) add(cmd *cobra.Command) {
	f.options = validation.Defaults()
	o, flags := &f.options, cmd.Flags()
	flags.StringArrayVar(&f.wide.uncertainty, "uncertainty", nil, "`column` of a quantifier that is lower where it is surer, repeatable")
	flags.StringArrayVar(&f.wide.confidence, "confidence", nil, "`column` of a quantifier that is higher where it is surer, repeatable")
	flags.StringArrayVar(&f.wide.ignore, "ignore", nil, "`column` to leave out, repeatable")
	flags.StringVar(&o.Reference, "reference", "", "what judges are compared with: a `person`, majority or posterior (default: the first person)")
	flags.StringVar(&f.unsure, "unsure", string(validation.UnsureIncorrect), "what an unsure label counts as: incorrect, missing or half")
	flags.StringVar(&f.format, "format", "text", "text, json, html or markdown")
	flags.StringVar(&f.setting, "setting", "", "`model/dataset` of a run with several settings")
	flags.BoolVar(&f.full, "full", false, "all matrices in text too")
	flags.IntVar(&o.Resamples, "bootstrap", o.Resamples, "resamples of the bootstrap; 0 makes no intervals")
	flags.Float64Var(&o.Level, "level", o.Level, "level of the intervals, between 0 and 1")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all draws")
	flags.IntVar(&o.Draws, "draws", o.Draws, "draws of each chain of the Bayesian models; 0 fits none")
	flags.StringVar(&f.sampler, "sampler", string(bayes.NUTS), "sampler of the judge model: nuts or gibbs")
	flags.StringVar(&o.Priors, "priors", bayes.SensiblePriors()[0].Name, "priors of the judge model: "+priorNames())
	flags.BoolVar(&o.PriorSensitivity, "prior-sensitivity", false, "fit all judges under each of these priors, and say how far F1 moves")
	flags.IntVar(&o.Subsampling.Runs, "subsamples", o.Subsampling.Runs, "number of small subsamples that ranks are taken from; 0 takes none")
	flags.IntVar(&o.Subsampling.Size, "subsample-size", o.Subsampling.Size, "items in each of them")
	flags.Float64Var(&o.Subsampling.Tolerance, "tolerance", o.Subsampling.Tolerance, "difference of their mean AUROCs within which ranks are tied")
	flags.Float64Var(&o.Threshold, "threshold", o.Threshold, "confidence that an accepted answer must exceed, for the error trade-offs")
	flags.StringVar(&f.input, "input-format", "", "csv, tsv, jsonl or parquet (default: found out from content and name)")
	flags.BoolVar(&f.strict, "strict", false, "fail on a record that cannot be read instead of counting it")
}

// priorNames lists the priors of the judge model.
func priorNames() string {
	var names []string
	for _, p := range bayes.SensiblePriors() {
		names = append(names, strconv.Quote(p.Name))
	}
	return strings.Join(names, ", ")
}

func (a *app) newValidateCommand() *cobra.Command {
	var flags validateFlags
	cmd := &cobra.Command{
		Use:   "validate FILE|FOLDER",
		Short: "Validate judges against people: what do their errors do?",
		Long: `Validate automatic judges against people, and the evaluation of uncertainty
quantifiers that they power, as in "A Tale of Two Error Categories".

FILE is CSV, TSV, JSONL or Parquet, plain or compressed with gzip or zstd; - is
standard input. It has a row for each answer. Columns named judge.NAME are
judges: 0 or 1, empty where one gave no verdict; NAME@0.3 is the judge NAME at
threshold 0.3, and thresholds of one NAME are a family. Columns whose name
begins with human are people: 0, 1, unsure, or empty. item or id names the
answer. All other columns are quantifiers: the direction of those that credence
knows is known, that of others needs --confidence or --uncertainty.

It says: how far people agree; F1 of every judge, with its posterior; AUROC,
risk, coverage and Brier of every quantifier under people and under every judge,
differences and ranks; which errors of a judge move an AUROC, in exact terms;
ranks from small subsamples; and which judge may stand for people, if any.

FOLDER is that of a run with quantifiers and judges whose answers people have
labelled ("credence annotate"); --setting says which of its settings.

A person is compared with as --reference by name. "majority" takes what more
than half of the people say, "posterior" what a model of people alone holds for
more probable. docs/validation.md says what each number is.`,
		Example: `  credence validate answers.csv
  credence validate answers.csv --unsure missing --format html > judges.html
  credence validate answers.parquet --uncertainty my_score --reference majority`,
		Args: exactlyOne("a file of scores, verdicts and labels, or a run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.validate(cmd, args[0], flags) },
	}
	flags.add(cmd)
	a.addEvents(cmd)
	return cmd
}

// validate reads a file, or a run's folder, and reports on it.
func (a *app) validate(cmd *cobra.Command, file string, flags validateFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	write, err := a.validationWriter(flags)
	if err != nil {
		return err
	}
	a.events().started(cmd.Name(), "", "", file)
	t, err := await.Result(cmd.Context(), func() (*judgedTable, error) { return a.readValidation(cmd.Context(), file, flags) })
	if err != nil {
		return err
	}
	for _, note := range t.notes {
		a.log.Info(note)
	}
	for _, note := range t.irregular {
		a.log.Warn(note.String())
		t.notes = append(t.notes, note.String())
	}
	if err := checkReference(flags.options.Reference, t); err != nil {
		return err
	}
	result, err := a.validated(cmd.Context(), t, flags.options)
	if err != nil {
		return err
	}
	title := filepath.Base(file)
	if file == "-" {
		title = table.StandardInput
	}
	if err := write(a.out, report.ValidationPage{Title: title, Notes: t.notes, Result: result, Items: t.Items}); err != nil {
		return err
	}
	a.events().evaluated(file, "")
	return nil
}

func (f *validateFlags) check() error {
	o := &f.options
	o.Unsure, o.Sampler = validation.UnsureRule(f.unsure), bayes.Sampler(f.sampler)
	switch {
	case o.Sampler != bayes.NUTS && o.Sampler != bayes.Gibbs:
		return usagef("unknown --sampler %q; the samplers are nuts and gibbs", f.sampler)
	case !slices.ContainsFunc(bayes.SensiblePriors(), func(p bayes.NamedPriors) bool { return p.Name == o.Priors }):
		return usagef("unknown --priors %q; there are %s", o.Priors, priorNames())
	case o.PriorSensitivity && o.Draws == 0:
		return usagef("--prior-sensitivity needs a model, and --draws is 0")
	case !slices.Contains(validation.UnsureRules(), o.Unsure):
		return usagef("unknown --unsure %q; it counts as incorrect, missing or half", f.unsure)
	case o.Resamples < 0 || o.Resamples > study.MaxResamples:
		return usagef("--bootstrap %d is not between 0 and %d", o.Resamples, study.MaxResamples)
	case !(o.Level > 0 && o.Level < 1):
		return usagef("--level %v is not between 0 and 1", o.Level)
	case o.Draws != 0 && (o.Draws < 100 || o.Draws > maxDraws):
		return usagef("--draws %d is neither 0, for no models, nor between 100 and %d", o.Draws, maxDraws)
	case o.Draws == 0 && o.Reference == validation.PosteriorReference:
		return usagef("--reference posterior needs a model, and --draws is 0")
	case o.Subsampling.Runs < 0 || o.Subsampling.Runs > maxSubsamples:
		return usagef("--subsamples %d is not between 0 and %d", o.Subsampling.Runs, maxSubsamples)
	case o.Subsampling.Size < 2:
		return usagef("--subsample-size %d: no ranking rests on fewer than 2 items", o.Subsampling.Size)
	case !(o.Subsampling.Tolerance >= 0 && o.Subsampling.Tolerance <= 1):
		return usagef("--tolerance %v is not between 0 and 1", o.Subsampling.Tolerance)
	case !(o.Threshold >= 0 && o.Threshold <= 1):
		return usagef("--threshold %v is not between 0 and 1", o.Threshold)
	case f.input != "" && !slices.Contains(table.Formats(), table.Format(f.input)):
		return usagef("unknown --input-format %q; the formats are %s", f.input, joined(table.Formats()))
	}
	return nil
}

func (a *app) validationWriter(flags validateFlags) (func(io.Writer, report.ValidationPage) error, error) {
	switch flags.format {
	case "text":
		return func(w io.Writer, p report.ValidationPage) error {
			return report.WriteValidation(w, a.width(), p, flags.full)
		}, nil
	case "json":
		return report.WriteValidationJSON, nil
	case "html":
		return report.WriteValidationHTML, nil
	case "markdown":
		return report.WriteValidationMarkdown, nil
	}
	return nil, usagef("unknown --format %q; the formats are text, json, html, markdown", flags.format)
}

func (a *app) readValidation(ctx context.Context, file string, flags validateFlags) (*judgedTable, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return judgedRun(ctx, file, flags.setting)
	}
	r, err := table.Open(file, table.Options{Stdin: a.in, Format: table.Format(flags.input), Strict: flags.strict})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readWide(r, flags.wide)
}

func checkReference(name string, t *judgedTable) error {
	known := []string{validation.MajorityReference, validation.PosteriorReference}
	for _, p := range t.People {
		known = append(known, p.Name)
	}
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return usageHint(usagef("--reference %q is no person of the file", name), "the references are %s", strings.Join(known, ", "))
}

func (a *app) validated(ctx context.Context, t *judgedTable, o validation.Options) (*validation.Result, error) {
	if err := t.Check(); err != nil {
		return nil, usageHint(err, "run \"credence validate --help\" for what the columns are")
	}
	if o.Draws > 0 {
		a.log.Info(fmt.Sprintf("fitting the models of %d judges and %d people; --draws 0 leaves them out", len(t.Judges), len(t.People)))
	}
	progress := a.newProgress()
	o.Progress = func(part string, done, total int) { progress.count(part, done, total) }
	defer progress.end()
	return validation.Validate(ctx, t.Table, o)
}
