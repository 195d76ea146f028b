package openai

import (
	"encoding/json"
	"sync"

	"github.com/credence-lab/credence/llm"
)

// maxMemo bounds the tokens that are remembered of prompts.
const maxMemo = 1 << 20

// memo remembers the ids of prompts, so that ten answers in one context render it once. When it is full it
// starts anew.
type memo struct {
	mu    sync.Mutex
	ids   map[string][]int32
	room  int
	taken int
}

func promptKey(p llm.Prompt) string {
	key, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts and booleans have a JSON form
	}
	return string(key)
}

func (m *memo) get(key string) ([]int32, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids, ok := m.ids[key]
	return ids, ok
}

func (m *memo) put(key string, ids []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(ids) > m.room {
		return
	}
	if m.taken+len(ids) > m.room || m.ids == nil {
		m.ids, m.taken = map[string][]int32{}, 0
	}
	m.ids[key] = ids[:len(ids):len(ids)]
	m.taken += len(ids)
}
