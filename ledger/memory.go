package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/credence-lab/credence/llm"
)

// memory is a Store that is gone when the program ends.
type memory struct {
	mu       sync.Mutex
	calls    map[Key]Call
	attempts []Attempt
	claims   map[Key]memoryClaim
	done     map[Digest]map[Digest]Done // by scope and item
}

type memoryClaim struct {
	owner   string
	expires time.Time
}

// NewMemory returns an empty store in memory.
func NewMemory() Store {
	return &memory{calls: make(map[Key]Call), claims: make(map[Key]memoryClaim), done: make(map[Digest]map[Digest]Done)}
}

func (m *memory) Lookup(ctx context.Context, keys []Key) (map[Key]llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[Key]llm.Reply)
	for _, k := range keys {
		if c, ok := m.calls[k]; ok {
			found[k] = c.Reply
		}
	}
	return found, nil
}

func (m *memory) Call(ctx context.Context, key Key) (Call, bool, error) {
	if err := ctx.Err(); err != nil {
		return Call{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.calls[key]
	return c, ok, nil
}

func (m *memory) Claim(ctx context.Context, owner string, lease time.Duration, keys []Key) ([]ClaimState, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	states := make([]ClaimState, len(keys))
	for i, k := range keys {
		held, ok := m.claims[k]
		switch _, stored := m.calls[k]; {
		case stored:
			states[i] = ClaimStored
		case !ok || held.owner == owner || !now.Before(held.expires):
			states[i] = ClaimGranted
			m.claims[k] = memoryClaim{owner, now.Add(lease)}
		}
	}
	return states, nil
}

func (m *memory) Deliver(ctx context.Context, d Delivery) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := make([]bool, len(d.Calls))
	for i, c := range d.Calls {
		if _, ok := m.calls[c.Key]; !ok {
			m.calls[c.Key], fresh[i] = c, true
		}
	}
	m.attempts = append(m.attempts, d.Attempts...)
	for _, one := range d.Done {
		if m.done[one.Scope] == nil {
			m.done[one.Scope] = make(map[Digest]Done)
		}
		m.done[one.Scope][one.Item] = one
	}
	for _, k := range d.Release {
		if m.claims[k].owner == d.Owner {
			delete(m.claims, k)
		}
	}
	return fresh, nil
}

func (m *memory) Done(ctx context.Context, scope Digest) (map[Digest]Done, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.done[scope]), nil
}

func (m *memory) Find(ctx context.Context, prefix string, limit int) ([]Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[Key]bool)
	for k := range m.calls {
		found[k] = strings.HasPrefix(k.String(), prefix)
	}
	for _, a := range m.attempts {
		found[a.Key] = strings.HasPrefix(a.Key.String(), prefix)
	}
	maps.DeleteFunc(found, func(_ Key, begins bool) bool { return !begins })
	keys := slices.SortedFunc(maps.Keys(found), func(a, b Key) int { return strings.Compare(string(a[:]), string(b[:])) })
	return keys[:min(limit, len(keys))], nil
}

func (m *memory) Attempts(ctx context.Context, key Key) ([]Attempt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Attempt
	for _, a := range m.attempts {
		if a.Key == key {
			list = append(list, a)
		}
	}
	return list, nil
}

func (m *memory) Stats(ctx context.Context) (Stats, error) {
	if err := ctx.Err(); err != nil {
		return Stats{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	groups := make(map[string]*Group)
	prompts := make(map[string]bool)
	observed := make(map[string]bool)
	at := func(model llm.Identity, kind llm.Kind) (*Group, string) {
		id := string(must(json.Marshal(model))) + "\n" + string(kind)
		if groups[id] == nil {
			groups[id] = &Group{Model: model, Kind: kind}
		}
		return groups[id], id
	}
	for _, c := range m.calls {
		g, id := at(c.Model, c.Request.Kind)
		g.Calls++
		g.Used = g.Used.Add(c.Used)
		if c.Used == (llm.Usage{}) {
			g.Uncounted++
		}
		if g.First.IsZero() || c.Asked.Before(g.First) {
			g.First = c.Asked
		}
		if c.Asked.After(g.Last) {
			g.Last = c.Asked
		}
		prompts[string(must(json.Marshal(c.Request.Prompt)))] = true
		if o := id + string(must(json.Marshal(c.Reply.Observed))); c.Reply.Observed != nil && !observed[o] {
			observed[o] = true
			g.Observed = append(g.Observed, c.Reply.Observed)
		}
	}
	for _, a := range m.attempts {
		g, _ := at(a.Model, a.Kind)
		g.Attempts++
	}
	s := Stats{Prompts: len(prompts), Claims: len(m.claims)}
	for _, g := range groups {
		s.Groups = append(s.Groups, *g)
	}
	s.sort()
	return s, nil
}

func (m *memory) Close() error { return nil }

// sort puts groups and what servers said of themselves into the order that Stats promises.
func (s *Stats) sort() {
	slices.SortFunc(s.Groups, func(a, b Group) int {
		return cmp.Or(strings.Compare(string(must(json.Marshal(a.Model))), string(must(json.Marshal(b.Model)))),
			strings.Compare(string(a.Kind), string(b.Kind)))
	})
	for i, g := range s.Groups {
		slices.SortFunc(g.Observed, func(a, b map[string]string) int {
			return strings.Compare(string(must(json.Marshal(a))), string(must(json.Marshal(b))))
		})
		s.Groups[i].Observed = g.Observed[:min(len(g.Observed), maxObserved)]
	}
}

// maxObserved bounds what Stats lists of a server that says something new with each reply.
const maxObserved = 16

// must is for what cannot fail: the JSON of identities and prompts that were written before.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// overlay reads from base and writes to the store on top of it.
type overlay struct {
	Store
	base Store
	// found is which calls base has answered.
	found *found
}

// found is a set of calls.
type found struct {
	mu   sync.Mutex
	keys map[Key]bool
}

func (f *found) add(known map[Key]llm.Reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range known {
		f.keys[key] = true
	}
}

func (f *found) count() int64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.keys))
}

func (o overlay) Done(ctx context.Context, scope Digest) (map[Digest]Done, error) {
	return o.base.Done(ctx, scope)
}

func (o overlay) Lookup(ctx context.Context, keys []Key) (map[Key]llm.Reply, error) {
	below, err := o.base.Lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	o.found.add(below)
	above, err := o.Store.Lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	maps.Copy(above, below)
	return above, nil
}
