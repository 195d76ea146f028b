package study

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/llm"
)

// Budget is the most that a study may cost, over all of its runs; 0 is no bound. A run that has no more to
// spend stops, and goes on when it is run again with a larger budget.
type Budget struct {
	// Calls that brought a reply, Tokens read and written, Money in the currency of the models' prices.
	Calls  int     `yaml:"calls,omitempty"`
	Tokens int     `yaml:"tokens,omitempty"`
	Money  float64 `yaml:"money,omitempty"`
}

// Price is what a model costs for a million tokens.
type Price struct {
	// Currency is any word, such as EUR; all prices of a study are in one.
	Currency string `yaml:"currency"`
	// Prompt tokens that are read, those of them that the server says were Cached (absent: as any other), and
	// Generated tokens.
	Prompt    float64  `yaml:"prompt"`
	Cached    *float64 `yaml:"cached,omitempty"`
	Generated float64  `yaml:"generated"`
}

// perPrice is how many tokens a price is for.
const perPrice = 1e6

// of is what so many tokens cost; nothing without a price.
func (p *Price) of(u llm.Usage) float64 {
	if p == nil {
		return 0
	}
	cached := p.Prompt
	if p.Cached != nil {
		cached = *p.Cached
	}
	return (float64(u.Prompt-u.Cached)*p.Prompt + float64(u.Cached)*cached + float64(u.Generated)*p.Generated) / perPrice
}

// bounded reports whether there is any budget.
func (b Budget) bounded() bool { return b != Budget{} }

// charged is something that a study asks and that may have a price.
type charged struct {
	node, name string
	price      *Price
	far        bool // on another machine, where somebody pays for it
}

// charges are the models and the sources of a study.
func (f *File) charges() []charged {
	var list []charged
	for i, m := range f.Models {
		list = append(list, charged{fmt.Sprintf("$.models[%d]", i), "model " + m.Name, m.Price, m.OnServer() && !m.Loopback()})
	}
	e, n := f.Embeddings, f.Entailment
	return append(list,
		charged{"$.embeddings", "the source of embeddings", e.Price, e.OnServer() && !e.Loopback()},
		charged{"$.entailment", "the source of entailment", n.Price, n.OnServer() && !n.Loopback()})
}

// currency is that of the study's prices; empty without any.
func (f *File) currency() string {
	for _, c := range f.charges() {
		if c.price != nil {
			return c.price.Currency
		}
	}
	return ""
}

// CheckBudget says what is wrong with the budget and the prices of a study; nil if nothing is. Whoever changes
// a budget after the file was read checks it again.
func (f *File) CheckBudget() error {
	b := f.Budget
	switch {
	case b.Calls < 0 || b.Tokens < 0 || !(b.Money >= 0 && b.Money < math.Inf(1)):
		return f.at.errorf("$.budget", "leave it out for no bound", "a budget of %d calls, %d tokens, %g money is none", b.Calls, b.Tokens, b.Money)
	case b.Money > 0 && f.currency() == "":
		return f.at.errorf("$.budget.money", "add \"price: {currency: EUR, prompt: 0.15, generated: 0.60}\" to the models, for a million tokens", "the budget is money, and no model has a price")
	}
	for _, c := range f.charges() {
		if b.Money > 0 && c.price == nil && c.far {
			return f.at.errorf(c.node, "add \"price:\"; 0 is a price too", "the budget is money, and %s has no price", c.name)
		}
		if err := f.checkPrice(c.node+".price", c.price); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkPrice(node string, p *Price) error {
	if p == nil {
		return nil
	}
	prices := []float64{p.Prompt, p.Generated}
	if p.Cached != nil {
		prices = append(prices, *p.Cached)
	}
	for _, x := range prices {
		if !(x >= 0 && x <= math.MaxFloat32) {
			return f.at.errorf(node, "give each for a million tokens", "a price of %g is none", x)
		}
	}
	const most = 20
	switch {
	case p.Currency == "" || len(p.Currency) > most || strings.ContainsFunc(p.Currency, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }):
		return f.at.errorf(node+".currency", "write a word such as EUR", "currency %q is no word", p.Currency)
	case p.Currency != f.currency():
		return f.at.errorf(node+".currency", "state all prices in one currency", "prices are in %s and in %s", f.currency(), p.Currency)
	}
	return nil
}

// Spending is what was spent.
type Spending struct {
	Calls int64     `json:"calls"`
	Used  llm.Usage `json:"tokens"`
	// Money in Currency; 0 where no price is known.
	Money    float64 `json:"money"`
	Currency string  `json:"currency,omitempty"`
	// Uncounted calls were made before tokens were counted: they are among Calls only. Unpriced ones are of
	// models that the study has no more.
	Uncounted int64 `json:"uncounted_calls,omitempty"`
	Unpriced  int64 `json:"unpriced_calls,omitempty"`
}

func (s Spending) add(t Spending) Spending {
	s.Calls, s.Used, s.Money = s.Calls+t.Calls, s.Used.Add(t.Used), s.Money+t.Money
	return s
}

func (s Spending) less(t Spending) Spending {
	return s.add(Spending{Calls: -t.Calls, Used: llm.Usage{Prompt: -t.Used.Prompt, Cached: -t.Used.Cached, Generated: -t.Used.Generated}, Money: -t.Money})
}

// moneyDigits are those that a price can be told from another by: providers charge for single calls.
const moneyDigits = 4

// String says it in words.
func (s Spending) String() string {
	words := fmt.Sprintf("%d calls, %d tokens", s.Calls, s.Used.Tokens())
	if s.Currency != "" {
		words += fmt.Sprintf(", %.*f %s", moneyDigits, s.Money, s.Currency)
	}
	return words
}

// within reports whether a study that has spent s keeps to b. A thousandth of the smallest amount that is
// printed is lost in the adding up.
func (b Budget) allows(s Spending) bool {
	const rounding = 1e-7
	return (b.Calls == 0 || s.Calls <= int64(b.Calls)) && (b.Tokens == 0 || s.Used.Tokens() <= int64(b.Tokens)) && (b.Money == 0 || s.Money <= b.Money+rounding)
}

// String says what there is a bound on.
func (b Budget) String() string {
	var parts []string
	if b.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%d calls", b.Calls))
	}
	if b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", b.Tokens))
	}
	if b.Money > 0 {
		parts = append(parts, fmt.Sprintf("money %g", b.Money))
	}
	return strings.Join(parts, ", ")
}

// BudgetError stops a run that may not make its next call.
type BudgetError struct {
	// Of says what has the budget; empty is the study.
	Of     string
	Budget Budget
	// Spent is what the study has spent over all of its runs.
	Spent Spending
	// Left is what is still to be asked; nil where the engine cannot plan.
	Left *Plan
}

func (e *BudgetError) Error() string {
	s := fmt.Sprintf("the budget of %v is spent: %v over all runs of %s", e.Budget, e.Spent, cmp.Or(e.Of, "the study"))
	if e.Spent.Uncounted > 0 {
		s += fmt.Sprintf(" (the tokens of %d older calls are not known)", e.Spent.Uncounted)
	}
	if e.Spent.Unpriced > 0 {
		s += fmt.Sprintf(" (%d calls are of models without a price)", e.Spent.Unpriced)
	}
	if e.Left != nil {
		s += fmt.Sprintf("; left to do at most: %v", e.Left.Total())
	}
	return s
}

// Unasked tells a ledger that no call was tried.
func (e *BudgetError) Unasked() bool { return true }
