package openai_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// TestFinishing stops while some requests are being answered and others wait: the first have their reply, the
// others the error of the stop, and time is that of the answers alone.
func TestFinishing(t *testing.T) {
	t.Parallel()
	slow := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(20 * time.Second):
		case <-r.Context().Done():
		}
		next.ServeHTTP(w, r)
	}
	for name, c := range map[string]struct {
		fault    fake.Fault
		end      time.Duration // of everything, if not 0
		replies  int
		at, most time.Duration
	}{
		"answers under way":     {slow, 0, 3, 20 * time.Second, 21 * time.Second},
		"answers that are late": {slow, 15 * time.Second, 0, 15 * time.Second, 16 * time.Second},
		"pauses":                {fake.Status(429, "", "Retry-After", "600"), 0, 0, 5 * time.Second, 6 * time.Second},
		"failing":               {fake.Status(500, ""), 0, 0, 5 * time.Second, 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &fake.Faulty{Server: fake.New("plain", llmtest.NewScripted(nil), fake.Lies{}), Path: "/v1/chat/completions", Faults: fake.Always(100, c.fault)}
			e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: server}, Concurrency: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			stop, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			ctx := llm.Finishing(t.Context(), stop)
			if c.end > 0 {
				var end context.CancelFunc
				ctx, end = context.WithTimeout(ctx, c.end)
				defer end()
			}
			reqs := make([]llm.Request, 8)
			for i := range reqs {
				reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 4}, Sample: i}
			}
			began, replies := time.Now(), 0
			for _, r := range e.Do(ctx, reqs) {
				if r.Err == nil {
					replies++
				} else if !errors.Is(r.Err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, r.Err)
				}
			}
			if took := time.Since(began); replies != c.replies || took < c.at || took > c.most {
				t.Errorf("%s: %d replies after %v", name, replies, took)
			}
		})
	}
}

// TestAttemptsAreToldByRequest names each request whose attempt failed, and counts what was sent again.
func TestAttemptsAreToldByRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &fake.Faulty{Server: fake.New("plain", llmtest.NewScripted(nil), fake.Lies{}), Path: "/v1/chat/completions", Faults: fake.Always(3, fake.Status(429, ""))}
		e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: server}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		var mu sync.Mutex
		told := map[int]int{}
		ctx := llm.WithAttempts(t.Context(), func(i int, a llm.Attempt) {
			mu.Lock()
			defer mu.Unlock()
			told[i]++
			if a.Status != 429 || a.Err == nil || a.Asked.IsZero() {
				t.Errorf("%+v", a)
			}
		})
		reqs := make([]llm.Request, 3)
		for i := range reqs {
			reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 4}, Sample: i}
		}
		for _, r := range e.Do(ctx, reqs) {
			if r.Err != nil {
				t.Error(r.Err)
			}
		}
		if len(told) != 3 || told[0]+told[1]+told[2] != 3 || e.Retries() != 3 {
			t.Errorf("told %v, %d retries", told, e.Retries())
		}
	})
}
