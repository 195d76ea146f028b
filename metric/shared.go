package metric

import "sync"

// shared keeps what several statistics need of the data as they are, so that evaluating all of them does
// not compute it again for each. Counts of resamples share nothing.
type shared struct {
	mu   sync.Mutex
	kept map[any]*kept
}

type kept struct {
	once  sync.Once
	value any
}

// remember returns what compute gave the first time that p was asked for the key. Each kind of thing has a
// type of key of its own. The result belongs to all: nobody may change it.
func remember[K comparable, T any](p *Prepared, key K, compute func() T) T {
	p.shared.mu.Lock()
	if p.shared.kept == nil {
		p.shared.kept = map[any]*kept{}
	}
	k := p.shared.kept[key]
	if k == nil {
		k = new(kept)
		p.shared.kept[key] = k
	}
	p.shared.mu.Unlock()
	k.once.Do(func() { k.value = compute() }) // whoever needs another thing does not wait
	return k.value.(T)
}

// sharing computes what several statistics need of counts, once for all of them if these are the data as
// they are.
func sharing[K comparable, T any](p *Prepared, key K, compute func(counts []uint32) T) func(counts []uint32) T {
	return func(counts []uint32) T {
		if p.asPrepared(counts) {
			return remember(p, key, func() T { return compute(counts) })
		}
		return compute(counts)
	}
}

// asPrepared reports whether counts are those of the data as they are, and no resample's.
func (p *Prepared) asPrepared(counts []uint32) bool {
	return len(counts) > 0 && &counts[0] == &p.counts[0]
}
