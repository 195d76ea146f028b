package openai_test

import (
	"context"
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

// TestModelsShareTheirEndpoint asks two models of one address at the same time: the ceiling, the pace and the
// wait that the server asks for are of both together. Apart, each has its own.
func TestModelsShareTheirEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change      func(*openai.Config)
		fault       fake.Fault
		most        int           // at once, shared
		shared, own time.Duration // at least, and at most
	}{
		"ceiling": {func(c *openai.Config) { c.Concurrency = 3 }, nil, 3, 13 * time.Second, 8 * time.Second},
		"pace":    {func(c *openai.Config) { c.RequestsPerMinute = 60 }, nil, 64, 29 * time.Second, 20 * time.Second},
		"wait":    {func(*openai.Config) {}, fake.Status(429, "", "Retry-After", "100"), 64, 100 * time.Second, 6 * time.Second},
	} {
		for _, sharing := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				server := fake.New("plain", llmtest.NewScripted(nil), fake.Lies{})
				var mu sync.Mutex
				flying, most := 0, 0
				slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/v1/chat/completions" {
						server.ServeHTTP(w, r)
						return
					}
					mu.Lock()
					flying++
					most = max(most, flying)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					flying--
					mu.Unlock()
					server.ServeHTTP(w, r)
				})
				handler := &fake.Faulty{Server: slow, Path: "/v1/chat/completions"}
				if c.fault != nil {
					handler.Faults = []fake.Fault{c.fault}
				}
				ctx := t.Context()
				if sharing {
					ctx = openai.SharingEndpoints(ctx)
				}
				var engines [2]*openai.Engine // both open before either asks: opening keeps to the pace, too
				for i := range engines {
					config := openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: handler}}
					if i == 0 { // the other states nothing: the smallest limit that is stated holds
						c.change(&config)
					} else if !sharing {
						config.Concurrency = 64
					}
					e, err := openai.Open(ctx, config)
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					engines[i] = e
				}
				var took [2]time.Duration
				var group sync.WaitGroup
				for i, e := range engines {
					group.Go(func() {
						if i == 1 {
							time.Sleep(time.Millisecond) // the fault is met by the first
						}
						began := time.Now()
						ask20(t, e, i)
						took[i] = time.Since(began)
					})
				}
				group.Wait()
				slower := took[1] // the fault is another's
				if c.fault == nil {
					slower = max(took[0], took[1]) // who of them gets a free place first is anyone's
				}
				if sharing && (most > c.most || slower < c.shared) || !sharing && took[1] > c.own {
					t.Errorf("%s, shared %t: %d at once, took %v", name, sharing, most, took)
				}
			})
		}
	}
}

func ask20(t *testing.T, e *openai.Engine, seed int) {
	reqs := make([]llm.Request, 20)
	for i := range reqs {
		reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 4, Temperature: 1}, Sample: i, Seed: uint64(seed)}
	}
	for _, r := range e.Do(context.WithoutCancel(t.Context()), reqs) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
}

// TestEndpointsOutliveTheirModels closes a model that was told to wait: the next one of the address waits.
func TestEndpointsOutliveTheirModels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := &fake.Faulty{Server: fake.New("plain", llmtest.NewScripted(nil), fake.Lies{}), Path: "/v1/chat/completions", Faults: []fake.Fault{fake.Status(429, "", "Retry-After", "100")}}
		ctx := openai.SharingEndpoints(t.Context())
		began := time.Now()
		for i, attempts := range []int{1, 1} {
			e, err := openai.Open(ctx, openai.Config{URL: "http://s/v1", Dialect: openai.Plain, Transport: fake.Direct{Handler: handler}, Attempts: attempts, Model: fake.ModelName})
			if err != nil {
				t.Fatal(err)
			}
			r := e.Do(ctx, []llm.Request{{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 4}}})[0]
			if (r.Err != nil) != (i == 0) {
				t.Errorf("%d: %v", i, r.Err)
			}
			_ = e.Close()
			_ = e.Close() // once more takes nothing away from others
		}
		if took := time.Since(began); took < 100*time.Second || took > 101*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
