package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// once breaks the first answer to each request that is posted after it was armed.
type once struct {
	server http.Handler
	fault  fake.Fault

	mu    sync.Mutex
	armed bool
	seen  map[string]bool
}

func (o *once) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	o.mu.Lock()
	key := r.URL.Path + string(body)
	breaks := o.armed && !o.seen[key]
	if o.armed {
		o.seen[key] = true
	}
	o.mu.Unlock()
	if breaks {
		o.fault(w, r, o.server)
		return
	}
	o.server.ServeHTTP(w, r)
}

// TestFaultsOfEveryRoute breaks rendering, tokenising and spelling too: an answer about something else is none,
// and never reads as an empty prompt or an answer without tokens.
func TestFaultsOfEveryRoute(t *testing.T) {
	t.Parallel()
	every := append(ways[:len(ways):len(ways)], asked{openai.TGI, llm.Score, ""}, asked{openai.TGI, llm.Generate, ""})
	for name, fault := range map[string]fake.Fault{
		"503":            fake.Status(503, ""),
		"null":           fake.Status(200, "null"),
		"another object": fake.Status(200, `{"status":"ok"}`),
		"nulls":          fake.Status(200, `{"tokens":null,"prompt":null,"content":null,"choices":null,"templated_text":null}`),
		"a page":         fake.Status(200, "<html>Sign in</html>"),
		"empty body":     fake.Status(200, ""),
		"reset":          fake.Reset,
	} {
		for _, way := range every {
			synctest.Test(t, func(t *testing.T) {
				var replies [2]llm.Reply
				for i, armed := range []bool{false, true} {
					server := &once{server: fake.New(string(way.dialect), llmtest.NewScripted(nil, llmtest.ContextOf(512)), fake.Lies{}), fault: fault, seen: map[string]bool{}}
					e, err := openai.Open(t.Context(), openai.Config{URL: "http://server", Dialect: way.dialect, Transport: fake.Direct{Handler: server}})
					if err != nil {
						t.Fatal(err)
					}
					server.armed = armed
					result := e.Do(t.Context(), []llm.Request{way.request()})[0]
					if result.Err != nil {
						t.Errorf("%s: %s %s: %v", name, way.dialect, way.kind, result.Err)
					}
					replies[i] = result.Reply
					_ = e.Close()
				}
				if d := cmp.Diff(replies[0], replies[1]); d != "" {
					t.Errorf("%s: %s %s: %s", name, way.dialect, way.kind, d)
				}
			})
		}
	}
}
