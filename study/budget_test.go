package study_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/study"
)

// A budget of each kind stops a run before it is overdrawn, counts what earlier runs have spent, and ends in
// the same bytes when it has been raised often enough.
func TestBudgetsStopAndResume(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	run(t, whole, parse(t, small), opener{})
	const price = "price: {currency: EUR, prompt: 2, cached: 1, generated: 10}"
	for name, c := range map[string]struct {
		raise func(b *study.Budget)
		spent func(s study.Spending) (float64, float64)
	}{
		"calls":  {func(b *study.Budget) { b.Calls += 25 }, func(s study.Spending) (float64, float64) { return float64(s.Calls), 25 }},
		"tokens": {func(b *study.Budget) { b.Tokens += 1500 }, func(s study.Spending) (float64, float64) { return float64(s.Used.Tokens()), 1500 }},
		"money":  {func(b *study.Budget) { b.Money += .004 }, func(s study.Spending) (float64, float64) { return s.Money, .004 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			f := parse(t, strings.Replace(small, "weights: w", "weights: w, "+price, 1))
			stops := 0
			for step := 1; ; step++ {
				c.raise(&f.Budget)
				_, info, err := study.Run(t.Context(), f, study.Options{Folder: folder, Open: opener{}, Version: "test"})
				if err == nil {
					if stops == 0 || info.Reused == 0 {
						t.Errorf("the budget stopped nothing: made %d, reused %d", info.Made, info.Reused)
					}
					break
				}
				var spent *study.BudgetError
				if !errors.As(err, &spent) || step > 50 {
					t.Fatalf("step %d: %v", step, err)
				}
				stops++
				// What a prompt takes is estimated before it is sent, so that tokens and money may come out a little above.
				above := 1.02
				if name == "calls" {
					above = 1
				}
				if got, each := c.spent(spent.Spent); got > each*float64(step)*above+1e-9 || got < each*float64(step)*.5 {
					t.Errorf("step %d: spent %v of %v", step, spent.Spent, f.Budget)
				}
				if left := spent.Left; left == nil || left.Total().Calls+spent.Spent.Calls != 60 || left.Total().Money <= 0 {
					t.Errorf("step %d: spent %v, left %+v of 60 calls", step, spent.Spent, left)
				}
				for _, want := range []string{"over all runs", "left to do", "EUR"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not say %q", err, want)
					}
				}
				// The same budget again buys nothing.
				if step > 1 {
					continue
				}
				if _, _, err := study.Run(t.Context(), f, study.Options{Folder: folder, Open: opener{}, Version: "test"}); !errors.As(err, &spent) {
					t.Errorf("step %d again: %v", step, err)
				}
			}
			l, err := ledger.OpenReadOnly(folder + "/ledger.db")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if st, err := l.Stats(t.Context()); err != nil || st.Calls() != 60 || st.Groups[0].Attempts+st.Groups[1].Attempts > 0 {
				t.Errorf("%+v, %v", st, err)
			}
			if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, folder)); diff != "" {
				t.Errorf("results differ:\n%s", diff)
			}
		})
	}
}

func TestPlansStateMoney(t *testing.T) {
	t.Parallel()
	f := parse(t, strings.Replace(small, "weights: w", "weights: w, price: {currency: EUR, prompt: 2, generated: 10}", 1))
	plan, err := study.MakePlan(t.Context(), f, t.TempDir(), opener{})
	if err != nil {
		t.Fatal(err)
	}
	s := plan.Settings[0]
	want := (2*float64(s.PromptTokens) + 10*float64(s.GeneratedTokens)) / 1e6
	if s.Money == nil || *s.Money < want*.999 || *s.Money > want*1.001 || s.Currency != "EUR" || plan.Total().Money != *s.Money || s.GeneratedTokens == 0 {
		t.Errorf("%+v, want %g EUR", s, want)
	}
	plan, err = study.MakePlan(t.Context(), parse(t, small), t.TempDir(), opener{})
	if err != nil || plan.Settings[0].Money != nil {
		t.Errorf("money without a price: %+v, %v", plan.Settings[0], err)
	}
}

func TestBudgetsThatCannotBe(t *testing.T) {
	t.Parallel()
	server := "name: x\nmodels:\n- {name: a, engine: openai, url: \"https://api.example\", model: m}\ndatasets:\n- {name: facts}\n"
	for text, want := range map[string]string{
		small + "budget: {calls: -1}\n":   "a budget of -1 calls",
		small + "budget: {calls: 1.5}\n":  "no whole number",
		small + "budget: {money: .inf}\n": "+Inf money, is none",
		small + "budget: {money: 3}\n":    "no model has a price",
		small + "budget: {monney: 3}\n":   `did you mean "money"`,
		strings.Replace(small, "weights: w", "weights: w, price: {prompt: 1, generated: 1}", 1):                                                              `currency "" is no word`,
		strings.Replace(small, "weights: w", "weights: w, price: {currency: EUR, prompt: -1}", 1):                                                            "a price of -1",
		strings.Replace(small, "weights: w", "weights: w, price: {currency: E R, prompt: 1}", 1):                                                             "is no word",
		strings.Replace(small, "- {name: a", "- {name: b, weights: v, price: {currency: USD, prompt: 1}}\n- {price: {currency: EUR, prompt: 1}, name: a", 1): "prices are in USD and in EUR",
		strings.Replace(server, "- {name: a", "- {name: b, weights: v, price: {currency: USD, prompt: 1}}\n- {name: a", 1) + "budget: {money: 3}\n":          `model a has no price`,
	} {
		_, err := study.Parse("s.yaml", []byte(text))
		var wrong *study.InputError
		if !errors.As(err, &wrong) || !strings.Contains(strings.ReplaceAll(err.Error(), "money is none", "money, is none"), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	// A price of nothing is a price, and a model on this machine costs nothing.
	for _, text := range []string{
		strings.Replace(server, "model: m", "model: m, price: {currency: EUR, prompt: 0, generated: 0}", 1) + "budget: {money: 3}\n",
		strings.Replace(small, "- {name: a", "- {name: b, weights: v, price: {currency: USD, prompt: 1}}\n- {name: a", 1) + "budget: {money: 3}\n",
	} {
		if _, err := study.Parse("s.yaml", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}
