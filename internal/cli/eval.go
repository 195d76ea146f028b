package cli

import (
	"encoding/csv"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
	"github.com/credence-lab/credence/scores"
	"github.com/credence-lab/credence/study"
)

// evalFlags are the choices of "credence eval".
type evalFlags struct {
	spec      scores.Spec
	score     []string
	compare   []string
	metrics   []string
	gates     []string
	resamples int
	level     float64
	seed      uint64
	format    string
	input     string
	html      string
	strict    bool
}

func (f *evalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.spec.Label, "label", "", "`column` that says how good an answer is (default: a usual name)")
	flags.StringArrayVar(&f.score, "score", nil, "`column[:kind]` of a score, repeatable (default: all that can only be scores)")
	flags.StringSliceVar(&f.spec.By, "by", nil, "`columns` that divide the rows into groups")
	flags.StringArrayVar(&f.compare, "compare", nil, "`scores` a,b[,c] to compare in pairs, each with each, repeatable")
	flags.StringArrayVar(&f.metrics, "metric", nil, "`id` of a metric, repeatable; all for all of them (default: auroc, aurc, ece and brier)")
	flags.StringArrayVar(&f.gates, "gate", nil, "`condition` on results that decides the exit code, repeatable")
	flags.IntVar(&f.resamples, "bootstrap", resample.DefaultN, "resamples of the bootstrap; 0 makes no intervals")
	flags.Float64Var(&f.level, "level", .95, "level of the intervals, between 0 and 1")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the bootstrap")
	flags.StringVar(&f.spec.Item, "item", "", "`column` of the item, which must not repeat, or none (default: a usual name)")
	flags.StringVar(&f.spec.Cluster, "cluster", "", "`column` whose equal values are drawn together")
	flags.StringArrayVar(&f.spec.Correct, "correct", nil, "further `word` for a correct label, repeatable")
	flags.StringArrayVar(&f.spec.Incorrect, "incorrect", nil, "further `word` for an incorrect label, repeatable")
	flags.StringArrayVar(&f.spec.Missing, "missing", nil, "further `word` for a missing value, repeatable")
	flags.StringVar(&f.format, "format", "table", "table, json, csv or markdown")
	flags.StringVar(&f.html, "html", "", "`file` to write a report to as well, as one HTML page")
	flags.StringVar(&f.input, "input-format", "", "csv, tsv, jsonl or parquet (default: found out from content and name)")
	flags.BoolVar(&f.strict, "strict", false, "fail on a record that cannot be read instead of counting it")
}

func (a *app) newEvalCommand() *cobra.Command {
	var flags evalFlags
	cmd := &cobra.Command{
		Use:   "eval FILE",
		Short: "Evaluate confidence scores that you already have",
		Long: `Evaluate the confidence scores in a file: calibration, ranking and selective
prediction, each with an interval, the number of items, and what was left out.

FILE is CSV, TSV, JSONL or Parquet, plain or compressed with gzip or zstd; - is
standard input. It has a row for each answer, a column that says whether the
answer is correct (0/1, true/false, yes/no, correct/incorrect, C/I, or a grade
in [0,1]), and columns of scores. A score is a confidence, percent,
log-probability, logit or uncertainty. Empty cells, NA, NaN and null are missing
values. Columns that are not named are guessed, and the guess is said.

Where a cell holds the log-probabilities of an answer's tokens as JSON, a score
is the mean, sum, min or first of that list: "mean(logprobs.token_logprobs)" is
the geometric mean of the token probabilities in {"token_logprobs": [...]}.

A gate is a condition such as 'auroc(token).lower >= 0.7': a metric, a score, or
two for their difference, and one of value, lower, upper, n, left_out, p or
p_holm (adjusted for all comparisons). Conditions can be joined by "and". A gate
must hold in every group; one that does not makes the exit code 3.

"credence metrics" says what each metric is, and which end of it is better. A
difference is the first score minus the second.`,
		Example: `  credence eval scores.csv --label correct --score verbalised --score token
  credence eval scores.csv --score loglik:log-probability --metric auroc
  credence eval scores.parquet --by model,dataset --compare token,verbalised \
      --gate 'auroc(token).lower >= 0.7'
  credence eval scores.csv --html scores.html`,
		Args: exactlyOne("a file of scores"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(cmd, args[0], flags) },
	}
	flags.add(cmd)
	a.addEvents(cmd)
	return cmd
}

func (a *app) eval(cmd *cobra.Command, file string, flags evalFlags) error {
	// A large file is a few large arrays of numbers, which cost the collector nothing to look at and much
	// room while they lie about.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	plan, err := flags.plan()
	if err != nil {
		return err
	}
	page, err := newPageFile(flags.html, file)
	if err != nil {
		return err
	}
	defer page.discard()
	a.events().started(cmd.Name(), "", "", file)
	t, err := await.Result(cmd.Context(), func() (*scores.Table, error) { return a.readScores(file, flags, plan) })
	if err != nil {
		return err
	}
	for _, note := range t.Notes {
		a.log.Info(note)
	}
	for _, note := range t.Irregular {
		a.log.Warn(note.String())
	}
	if err := plan.checkScores(t); err != nil {
		return err
	}
	progress := a.newProgress()
	plan.options.Progress = func(done, total int) { progress.count("resamples", done, total) }
	results, err := scores.Evaluate(cmd.Context(), t, plan.options)
	progress.end()
	if err != nil {
		return err
	}
	e := evaluated{t, results, plan.options, a.width()}
	if err := plan.write(a.out, e); err != nil {
		return err
	}
	if err := page.write(e, file); err != nil {
		return err
	}
	if page != nil {
		a.log.Info("wrote " + page.path)
	}
	if err := a.checkGates(plan.gates, results); err != nil {
		return err
	}
	a.events().evaluated(file, flags.html)
	return nil
}

func (a *app) readScores(file string, flags evalFlags, plan *evalPlan) (*scores.Table, error) {
	r, err := table.Open(file, table.Options{Stdin: a.in, Format: table.Format(flags.input), Strict: flags.strict})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return scores.Read(r, plan.spec)
}

// evalPlan is what the flags ask for, checked before anything is read.
type evalPlan struct {
	spec    scores.Spec
	options scores.Options
	gates   []scores.Gate
	write   evalWriter
}

func (f evalFlags) plan() (*evalPlan, error) {
	p := &evalPlan{spec: f.spec}
	var err error
	if p.write, err = evalWriterOf(f.format); err != nil {
		return nil, err
	}
	switch {
	case f.resamples < 0:
		return nil, usagef("--bootstrap %d is negative; 0 makes no intervals", f.resamples)
	case f.resamples > study.MaxResamples:
		return nil, usagef("--bootstrap %d is more than %d", f.resamples, study.MaxResamples)
	case !(f.level > 0 && f.level < 1):
		return nil, usagef("--level %v is not between 0 and 1", f.level)
	case f.input != "" && !slices.Contains(table.Formats(), table.Format(f.input)):
		return nil, usagef("unknown --input-format %q; the formats are %s", f.input, joined(table.Formats()))
	}
	for _, word := range f.spec.Correct {
		if slices.ContainsFunc(f.spec.Incorrect, func(w string) bool { return strings.EqualFold(w, word) }) {
			return nil, usagef("%q is named both by --correct and by --incorrect", word)
		}
	}
	for _, s := range f.score {
		if _, err := p.addScore(s); err != nil {
			return nil, err
		}
	}
	for _, list := range f.compare {
		if err := p.addComparison(list); err != nil {
			return nil, err
		}
	}
	for _, text := range f.gates {
		g, err := scores.ParseGate(text)
		if err != nil {
			return nil, usageHint(err, "run \"credence eval --help\" for what a gate may say")
		}
		if f.resamples == 0 && g.NeedsInterval() {
			return nil, usagef("gate %q asks for what only a bootstrap gives, and --bootstrap is 0", text)
		}
		p.gates = append(p.gates, g)
	}
	if p.options.Metrics, err = p.metrics(f.metrics); err != nil {
		return nil, usageHint(err, "run \"credence metrics\" for all of them")
	}
	p.options.Resamples, p.options.Level, p.options.Seed = f.resamples, f.level, f.seed
	return p, nil
}

// metrics are those asked for, and those that a gate needs besides.
func (p *evalPlan) metrics(ids []string) ([]metric.Statistic, error) {
	list, err := scores.Metrics(ids)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range list {
		known[s.ID] = true
	}
	for _, g := range p.gates {
		for _, c := range g.Comparisons {
			if c.Metric == "" || known[c.Metric] {
				continue
			}
			known[c.Metric] = true
			s, err := scores.Metric(c.Metric)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// addScore adds a score where it is new, and returns its name. One that is named again may leave its
// kind out, but not contradict it.
func (p *evalPlan) addScore(text string) (string, error) {
	s := scores.ParseScore(text)
	for i, known := range p.spec.Scores {
		switch {
		case known.Column != s.Column:
			continue
		case known.Kind == "":
			p.spec.Scores[i].Kind = s.Kind
		case s.Kind != "" && s.Kind != known.Kind:
			return "", usagef("score %q is named as %s and as %s; name it once", s.Column, known.Kind, s.Kind)
		}
		return s.Column, nil
	}
	p.spec.Scores = append(p.spec.Scores, s)
	return s.Column, nil
}

// joined lists words for a message.
func joined[T ~string](words []T) string {
	var list []string
	for _, w := range words {
		list = append(list, string(w))
	}
	return strings.Join(list, ", ")
}

// addComparison reads "a,b[,c]": each score against each that follows it.
func (p *evalPlan) addComparison(list string) error {
	names, err := csv.NewReader(strings.NewReader(list)).Read()
	if err != nil || len(names) < 2 {
		return usagef("--compare %q does not name two scores or more, joined by commas", list)
	}
	for i, name := range names {
		if names[i], err = p.addScore(strings.TrimSpace(name)); err != nil {
			return err
		}
		for _, earlier := range names[:i] {
			if earlier == names[i] {
				return usagef("--compare %q names a score twice", list)
			}
			p.addPair([2]string{earlier, names[i]})
		}
	}
	return nil
}

func (p *evalPlan) addPair(pair [2]string) {
	if !slices.Contains(p.options.Compare, pair) {
		p.options.Compare = append(p.options.Compare, pair)
	}
}

// checkScores makes sure that all gates are about scores that there are, and that the differences they
// ask for are computed.
func (p *evalPlan) checkScores(t *scores.Table) error {
	var names []string
	for _, s := range t.Scores {
		names = append(names, s.Name)
	}
	for _, g := range p.gates {
		for _, c := range g.Comparisons {
			for _, name := range []string{c.Score, c.Against} {
				if name != "" && !slices.Contains(names, name) {
					return usageHint(usagef("gate %q is about %q, which is no score here", g.Text, name), "the scores are %s", strings.Join(names, ", "))
				}
			}
			if c.Against != "" {
				p.addPair([2]string{c.Score, c.Against})
			}
		}
	}
	return nil
}

// checkGates says of each gate whether it holds, and returns an error that makes the exit code if not all do.
func (a *app) checkGates(gates []scores.Gate, results []scores.Result) error {
	var short []string
	for _, g := range gates {
		for _, o := range g.Check(results) {
			if o.Holds {
				a.log.Info("gate holds: " + o.Text)
				continue
			}
			short = append(short, o.Text)
		}
	}
	if len(short) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errGate, strings.Join(short, "; "))
}
