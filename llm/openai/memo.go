package openai

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/credence-lab/credence/llm"
)

// maxMemo bounds the tokens that are remembered.
const maxMemo = 1 << 20

// memo remembers the tokens of texts, so that ten answers in one context render it once, and an answer in
// four contexts is tokenised once. When it is full it starts anew. The zero memo is ready.
type memo[T any] struct {
	mu    sync.Mutex
	lists map[string][]T
	taken int
}

func promptKey(p llm.Prompt) string {
	key, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts and booleans have a JSON form
	}
	return string(key)
}

// get returns a list of the caller's own.
func (m *memo[T]) get(key string) ([]T, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, ok := m.lists[key]
	return slices.Clone(list), ok
}

func (m *memo[T]) put(key string, list []T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(list) > maxMemo {
		return
	}
	if m.lists == nil || m.taken+len(list) > maxMemo {
		m.lists, m.taken = map[string][]T{}, 0
	}
	m.lists[key] = slices.Clone(list)
	m.taken += len(list)
}
