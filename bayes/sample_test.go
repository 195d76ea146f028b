package bayes_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
)

type gaussian struct{ dim int }

func (g gaussian) Dim() int { return g.dim }

func (g gaussian) LogDensityGradient(q, grad []float64) float64 {
	total := 0.0
	for i, x := range q {
		total -= x * x / 2
		grad[i] = -x
	}
	return total
}

// few is a small data set with everything in it: people as judges, missing and repeated judgements.
func few() bayes.JudgeData {
	return bayes.JudgeData{
		People: []bayes.Votes{{Correct: 2}, {Correct: 1, Incorrect: 1}, {Incorrect: 2}, {}, {Correct: 1.5, Incorrect: .5}, {Incorrect: 1}},
		Judges: []bayes.Judge{
			{Name: "loose", Family: "f", Counts: counts("11011-")},
			{Name: "strict", Family: "f", Counts: counts("10001-")},
			{Name: "model", Counts: []bayes.Count{{Correct: 2}, {Correct: 1, Incorrect: 1}, {}, {Incorrect: 3}, {Correct: 1}, {Incorrect: 1}}},
			{Name: "person", Human: true, Counts: counts("110-10")},
		},
	}
}

var brief = bayes.Options{Seed: 9, Chains: 3, Warmup: 100, Draws: 60}

// Not parallel: it changes the number of processors.
func TestDrawsDoNotDependOnProcessors(t *testing.T) {
	fits := func() (out []*bayes.JudgePosterior) {
		for _, s := range []bayes.Sampler{bayes.NUTS, bayes.Gibbs} {
			p, err := bayes.FitJudges(t.Context(), few(), bayes.PaperPriors(), s, brief)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
		return out
	}
	many := fits()
	before := runtime.GOMAXPROCS(1)
	one := fits()
	runtime.GOMAXPROCS(before)
	for i := range many {
		for j := range many[i].Judges {
			if d := cmp.Diff(many[i].Draws(j, bayes.F1), one[i].Draws(j, bayes.F1)); d != "" {
				t.Errorf("draws differ:\n%s", d)
			}
		}
		if d := cmp.Diff(many[i].Correctness, one[i].Correctness, cmp.AllowUnexported(measure.Value{})); d != "" {
			t.Errorf("correctness differs:\n%s", d)
		}
	}
}

func TestChainsAndSeedsDiffer(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) *bayes.Draws {
		d, err := bayes.Sample(t.Context(), gaussian{2}, bayes.Options{Seed: seed, Chains: 2, Warmup: 50, Draws: 10})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, b := draw(1), draw(2)
	if cmp.Equal(a.At(0, 0), a.At(1, 0)) || cmp.Equal(a.At(0, 0), b.At(0, 0)) {
		t.Error("two chains or two seeds have the same draws")
	}
}

func TestSamplingIsCalledOff(t *testing.T) {
	t.Parallel()
	for _, sampler := range []bayes.Sampler{bayes.NUTS, bayes.Gibbs} {
		ctx, stop := context.WithCancel(t.Context())
		o := brief
		o.Draws = 20_000
		o.Progress = func(done, total int) {
			if total != 3*20_100 || done < 1 || done > total {
				t.Errorf("progress of %d of %d", done, total)
			}
			stop()
		}
		if _, err := bayes.FitJudges(ctx, few(), bayes.PaperPriors(), sampler, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", sampler, err)
		}
		stop()
	}
}

// nowhere has no place with a finite density.
type nowhere struct{ gaussian }

func (nowhere) LogDensityGradient(_, _ []float64) float64 { return math.Inf(-1) }

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(*bayes.JudgeData, *bayes.JudgePriors, *bayes.Options)) error {
		d, p, o := few(), bayes.PaperPriors(), brief
		change(&d, &p, &o)
		_, err := bayes.FitJudges(t.Context(), d, p, bayes.NUTS, o)
		return err
	}
	type (
		data   = bayes.JudgeData
		priors = bayes.JudgePriors
		opts   = bayes.Options
	)
	for _, c := range []struct {
		says   string
		change func(*data, *priors, *opts)
	}{
		{"no items", func(d *data, _ *priors, _ *opts) { d.People = nil }},
		{"no judges", func(d *data, _ *priors, _ *opts) { d.Judges = nil }},
		{`two judges are called "loose"`, func(d *data, _ *priors, _ *opts) { d.Judges[1].Name = "loose" }},
		{"one count for each item", func(d *data, _ *priors, _ *opts) { d.Judges[1].Counts = d.Judges[1].Counts[1:] }},
		{"negative", func(d *data, _ *priors, _ *opts) { d.Judges[1].Counts[0].Correct = -1 }},
		{"more than 512", func(d *data, _ *priors, _ *opts) { d.Judges[1].Counts[0].Correct = 600 }},
		{"item 0 has NaN", func(d *data, _ *priors, _ *opts) { d.People[0].Correct = math.NaN() }},
		{"item 0 has -1", func(d *data, _ *priors, _ *opts) { d.People[0].Correct = -1 }},
		{"prior of the specificity", func(_ *data, p *priors, _ *opts) { p.Specificity.A = .01 }},
		{"prior of the correctness", func(_ *data, p *priors, _ *opts) { p.Correctness.B = math.Inf(1) }},
		{"-1 chains", func(_ *data, _ *priors, o *opts) { o.Chains = -1 }},
		{"3 draws", func(_ *data, _ *priors, o *opts) { o.Draws = 3 }},
		{"warm-up of -2", func(_ *data, _ *priors, o *opts) { o.Warmup = -2 }},
		{"depth 40", func(_ *data, _ *priors, o *opts) { o.MaxDepth = 40 }},
		{"target acceptance 1", func(_ *data, _ *priors, o *opts) { o.TargetAcceptance = 1 }},
	} {
		if err := with(c.change); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("want an error with %q, got %v", c.says, err)
		}
	}
	if _, err := bayes.FitJudges(t.Context(), few(), bayes.PaperPriors(), "stan", brief); err == nil {
		t.Error("unknown sampler is taken")
	}
	if _, err := bayes.Sample(t.Context(), nowhere{gaussian{1}}, brief); err == nil || !strings.Contains(err.Error(), "no start") {
		t.Errorf("no place to start: %v", err)
	}
	if _, err := bayes.NewBounded(gaussian{2}, []bayes.Bound{{}}); err == nil {
		t.Error("too few bounds are taken")
	}
	if _, err := bayes.NewBounded(gaussian{1}, []bayes.Bound{bayes.Between(1, 1)}); err == nil {
		t.Error("an empty range is taken")
	}
}
