package study

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
)

// DefaultGrace is how long a run that is to stop waits for the calls that are under way.
const DefaultGrace = 30 * time.Second

// meter stands between the ledger and the engines: all calls that are made pass it, and none that the ledger
// answers. It holds the study to its budget, and lets what was sent be finished when the run is to stop.
type meter struct {
	budget   Budget
	grace    time.Duration
	currency string
	prices   []priced
	before   []ledger.Group // what earlier runs have spent, by model; nil if nobody asks

	mu    sync.Mutex
	spent Spending // of this run
	held  Spending // at most, of calls under way
	freed chan struct{}
}

// priced is a model of the study that was opened.
type priced struct {
	identity llm.Identity
	price    *Price
}

func newMeter(f *File, grace time.Duration) *meter {
	if grace == 0 {
		grace = DefaultGrace
	}
	return &meter{budget: f.Budget, grace: grace, currency: f.currency(), freed: make(chan struct{})}
}

// counts reports whether anyone asks what the study has spent.
func (t *meter) counts() bool { return t.budget.bounded() || t.currency != "" }

// recall takes in what the ledger knows of earlier runs, where there is a budget or a price.
func (t *meter) recall(ctx context.Context, l *ledger.Ledger) error {
	if !t.counts() {
		return nil
	}
	stats, err := l.Stats(ctx)
	t.before = stats.Groups
	return err
}

// know tells what the calls of a model cost, also those of earlier runs.
func (t *meter) know(id llm.Identity, price *Price) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.ContainsFunc(t.prices, func(p priced) bool { return reflect.DeepEqual(p.identity, id) }) {
		t.prices = append(t.prices, priced{id, price})
	}
}

// around puts the meter before an engine.
func (t *meter) around(e llm.Engine, price *Price) llm.Engine {
	t.know(e.Identity(), price)
	return &metered{e, t, price}
}

// total is what was spent over all runs.
func (t *meter) total() Spending {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.totalHeld()
}

func (t *meter) totalHeld() Spending {
	sum := t.spent
	sum.Currency = t.currency
	for _, g := range t.before {
		price, known := t.priceOf(g.Model)
		sum = sum.add(Spending{Calls: int64(g.Calls), Used: g.Used, Money: price.of(g.Used)})
		sum.Uncounted += int64(g.Uncounted)
		if !known && t.currency != "" {
			sum.Unpriced += int64(g.Calls)
		}
	}
	return sum
}

// priceOf is the price of the model that made calls: the same one, or else the one of the same name on the
// same kind of server, whose version may have changed.
func (t *meter) priceOf(id llm.Identity) (*Price, bool) {
	var alike *priced
	for i, p := range t.prices {
		if reflect.DeepEqual(p.identity, id) {
			return p.price, true
		}
		if alike == nil && p.identity.Engine == id.Engine && p.identity.Model == id.Model {
			alike = &t.prices[i]
		}
	}
	if alike == nil {
		return nil, false
	}
	return alike.price, true
}

// take waits until the first of the calls may be made, holds what they may cost, and says how many they are.
// Calls that are under way may cost less than is held for them: as long as there are any, it is too early to
// say that the budget is spent.
func (t *meter) take(ctx context.Context, costs []Spending) (int, error) {
	for {
		t.mu.Lock()
		n := len(costs)
		if t.budget.bounded() {
			n = t.fitting(costs)
		}
		if n == len(costs) || n > 0 && t.held == (Spending{}) {
			for _, c := range costs[:n] {
				t.held = t.held.add(c)
			}
			t.mu.Unlock()
			return n, nil
		}
		freed, none := t.freed, t.held == (Spending{})
		spent := t.totalHeld()
		t.mu.Unlock()
		if none {
			return 0, &BudgetError{Budget: t.budget, Spent: spent}
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// fitting is how many of the calls, from the first on, the budget allows. The lock is held.
func (t *meter) fitting(costs []Spending) int {
	sum := t.totalHeld().add(t.held)
	for n, c := range costs {
		if sum = sum.add(c); !t.budget.allows(sum) {
			return n
		}
	}
	return len(costs)
}

// settle puts what calls really cost in the place of what was held for them.
func (t *meter) settle(held []Spending, cost Spending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range held {
		t.held = t.held.less(h)
	}
	if t.held.Calls == 0 {
		t.held = Spending{} // without what adding and taking away of money leaves
	}
	t.spent = t.spent.add(cost)
	close(t.freed)
	t.freed = make(chan struct{})
}

// metered is an engine behind the meter.
type metered struct {
	llm.Engine
	meter *meter
	price *Price
}

// Do asks as many of the requests as the budget allows; the others have a [*BudgetError]. When ctx ends, what
// was sent is waited for, at most for the meter's grace, and nothing more is sent.
func (e *metered) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	fail := func(from int, err error) []llm.Result {
		for i := from; i < len(reqs); i++ {
			results[i].Err = err
		}
		return results
	}
	if err := ctx.Err(); err != nil {
		return fail(0, err)
	}
	costs := make([]Spending, len(reqs))
	for i, r := range reqs {
		used := atMost(r)
		costs[i] = Spending{Calls: 1, Used: used, Money: e.price.of(used)}
	}
	n, err := e.meter.take(ctx, costs)
	if err != nil {
		return fail(0, err)
	}
	var cost Spending
	defer func() { e.meter.settle(costs[:n], cost) }()
	whole, end := lingering(ctx, e.meter.grace)
	defer end()
	got := e.Engine.Do(llm.Finishing(whole, ctx), reqs[:n])
	if len(got) != n { // whoever asked sees that the engine does not keep to its contract
		return got
	}
	for i, result := range got {
		if results[i] = result; result.Err == nil {
			used := ledger.UsedBy(reqs[i], result.Reply)
			cost = cost.add(Spending{Calls: 1, Used: used, Money: e.price.of(used)})
		}
	}
	if n < len(reqs) {
		return fail(n, &BudgetError{Budget: e.meter.budget, Spent: e.meter.total()})
	}
	return results
}

// lingering returns a context with the values of ctx that ends grace later, and what ends it now.
func lingering(ctx context.Context, grace time.Duration) (context.Context, func()) {
	whole, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(grace, end)
		context.AfterFunc(whole, func() { late.Stop() })
	})
	return whole, func() { stop(); end() }
}

// atMost is the most that a call takes, but for the estimate of its prompt's tokens.
func atMost(r llm.Request) llm.Usage {
	u := llm.Usage{Prompt: promptTokens(r.Prompt)}
	switch r.Kind {
	case llm.Score:
		u.Prompt += textTokens(r.Answer)
	case llm.Generate:
		u.Generated = int64(r.Decoding.MaxTokens)
	}
	return u
}
