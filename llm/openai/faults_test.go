package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// asked is how a dialect is asked for something, and by which path.
type asked struct {
	dialect openai.Dialect
	kind    llm.Kind
	path    string
}

// ways are a score or a generation by each dialect.
var ways = []asked{
	{openai.VLLM, llm.Score, "/v1/completions"},
	{openai.VLLM, llm.Generate, "/v1/completions"},
	{openai.SGLang, llm.Score, "/generate"},
	{openai.SGLang, llm.Generate, "/generate"},
	{openai.SGLangOpenAI, llm.Score, "/v1/completions"},
	{openai.LlamaServer, llm.Score, "/completion"},
	{openai.LlamaServer, llm.Generate, "/completion"},
	{openai.Ollama, llm.Generate, "/api/chat"},
	{openai.OpenAI, llm.Generate, "/v1/chat/completions"},
	{openai.Plain, llm.Generate, "/v1/chat/completions"},
}

func (a asked) request() llm.Request {
	p := llm.Chat("Which planet is red?", "")
	if a.kind == llm.Score {
		return llm.Request{Kind: llm.Score, Prompt: p, Answer: "Mars"}
	}
	return llm.Request{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: 8}}
}

// outcome is what came of a request behind faults.
type outcome struct {
	result   llm.Result
	sent     int // requests to the path
	attempts []openai.Attempt
	took     time.Duration
}

// through asks once, on made-up time, a server whose path meets the faults.
func (a asked) through(t *testing.T, lies fake.Lies, change func(*openai.Config), faults ...fake.Fault) outcome {
	t.Helper()
	server := &fake.Faulty{Server: fake.New(string(a.dialect), llmtest.NewScripted(nil, llmtest.ContextOf(512)), lies), Path: a.path}
	var out outcome
	var mu sync.Mutex
	c := openai.Config{URL: "http://server", Dialect: a.dialect, Transport: fake.Direct{Handler: server}, OnAttempt: func(one openai.Attempt) {
		mu.Lock()
		defer mu.Unlock()
		out.attempts = append(out.attempts, one)
	}}
	if change != nil {
		change(&c)
	}
	e, err := openai.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	server.Begin(faults...)
	began := time.Now()
	out.result = e.Do(t.Context(), []llm.Request{a.request()})[0]
	out.took, out.sent = time.Since(began), server.Seen()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return out
}

// TestPassingFaults breaks the first two answers in each way that may go by: the reply is then the one of
// a sound server, and each attempt was told.
func TestPassingFaults(t *testing.T) {
	t.Parallel()
	date := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fake.Status(429, "{}", "Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat))(w, r, next)
	}
	for name, fault := range map[string]fake.Fault{
		"429":                     fake.Status(429, `{"error":{"message":"slow down","type":"rate_limit","code":"rate_limit_exceeded"}}`),
		"429, seconds":            fake.Status(429, "{}", "Retry-After", "20"),
		"429, milliseconds":       fake.Status(429, "{}", "retry-after-ms", "1500"),
		"429, a date":             date,
		"429, nonsense":           fake.Status(429, "{}", "Retry-After", "soon"),
		"408":                     fake.Status(408, ""),
		"409":                     fake.Status(409, ""),
		"500":                     fake.Status(500, `{"error":"internal"}`),
		"502":                     fake.Status(502, "<html>bad gateway</html>"),
		"503, loading":            fake.Status(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`),
		"504":                     fake.Status(504, ""),
		"200 with an error (P05)": fake.Status(200, `{"error":{"message":"limit reached","code":502}}`),
		"time-out":                fake.Hang,
		"reset in the middle":     fake.Reset,
		"truncated JSON":          fake.Rewrite(func(s string) string { return s[:len(s)/2] }),
		"a page with status 200":  fake.Status(200, "<!DOCTYPE html><html><body>Sign in</body></html>", "Content-Type", "text/html"),
		"empty body":              fake.Status(200, ""),
		"null":                    fake.Status(200, "null"),
		"a list":                  fake.Status(200, "[]"),
		"another object":          fake.Status(200, `{"status":"ok"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range ways {
				synctest.Test(t, func(t *testing.T) {
					sound := way.through(t, fake.Lies{}, nil)
					got := way.through(t, fake.Lies{}, nil, fault, fault)
					if d := cmp.Diff(sound.result.Reply, got.result.Reply); d != "" || got.result.Err != nil {
						t.Errorf("%s %s: %v %s", way.dialect, way.kind, got.result.Err, d)
					}
					if len(got.attempts) != 2 || got.sent != sound.sent+2 {
						t.Errorf("%s %s: %d attempts told, %d sent instead of %d", way.dialect, way.kind, len(got.attempts), got.sent, sound.sent+2)
					}
				})
			}
		})
	}
}

// TestStreamInPlaceOfAnAnswer asks a gateway that streams whatever it is asked.
func TestStreamInPlaceOfAnAnswer(t *testing.T) {
	t.Parallel()
	stream := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprintf(w, ": PROCESSING\r\n\r\ndata:%s\r\n\r\ndata: [DONE]\r\n\r\n", rec.Body.String())
	}
	for _, way := range []asked{ways[0], ways[1], ways[8]} {
		synctest.Test(t, func(t *testing.T) {
			sound, got := way.through(t, fake.Lies{}, nil), way.through(t, fake.Lies{}, nil, stream)
			if d := cmp.Diff(sound.result.Reply, got.result.Reply); d != "" || got.result.Err != nil || len(got.attempts) > 0 {
				t.Errorf("%s %s: %v %s", way.dialect, way.kind, got.result.Err, d)
			}
		})
	}
}

// TestLastingFaults meets refusals that cannot pass: they are asked for once, and have their kind.
func TestLastingFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fake.Fault
		kind  openai.Kind
		is    error
	}{
		"400":                  {fake.Status(400, `{"error":{"message":"no"}}`), openai.Refused, nil},
		"404":                  {fake.Status(404, `{"detail":"Not Found"}`), openai.Refused, nil},
		"413":                  {fake.Status(413, ""), openai.Refused, nil},
		"422":                  {fake.Status(422, `{"error":"Validation","error_type":"validation"}`), openai.Refused, nil},
		"401":                  {fake.Status(401, `{"error":{"message":"bad key"}}`), openai.Unauthorised, nil},
		"no money left":        {fake.Status(429, `{"error":{"message":"quota","type":"insufficient_quota","code":"insufficient_quota"}}`), openai.Exhausted, nil},
		"sent elsewhere":       {fake.Status(302, "", "Location", "http://elsewhere/"), openai.Refused, nil},
		"too long":             {fake.Status(400, `{"error":{"message":"maximum context length is 512 tokens, requested 600"}}`), "", llm.ErrContextOverflow},
		"not JSON compliant":   {fake.Status(500, `{"error":{"message":"Out of range float values are not JSON compliant"}}`), openai.Failing, llm.ErrNoLogProb},
		"429 beyond all hope":  {fake.Status(429, "{}", "Retry-After", "7200"), openai.Busy, nil},
		"unlimited, no length": {fake.Status(200, strings.Repeat(" ", 65<<20)), openai.Malformed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks := []asked{ways[0], ways[9]}
			if name == "unlimited, no length" {
				asks = asks[:1] // 65 MB each
			}
			for _, way := range asks {
				synctest.Test(t, func(t *testing.T) {
					got := way.through(t, fake.Lies{}, nil, fake.Always(20, c.fault)...)
					var failed *openai.Error
					if c.kind != "" && (!errors.As(got.result.Err, &failed) || failed.Kind != c.kind) || c.is != nil && !errors.Is(got.result.Err, c.is) {
						t.Errorf("%s: %v, want %s, %v", way.dialect, got.result.Err, c.kind, c.is)
					}
					if got.sent != 1 {
						t.Errorf("%s: sent %d times", way.dialect, got.sent)
					}
				})
			}
		})
	}
}

// TestAttemptsAreBounded wants as many as there may be, unusable answers twice more, and the total time kept.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  fake.Fault
		change func(*openai.Config)
		sent   int
		within time.Duration
	}{
		"500 for ever":      {fake.Status(500, ""), nil, 6, time.Minute},
		"three attempts":    {fake.Status(500, ""), func(c *openai.Config) { c.Attempts = 3 }, 3, time.Minute},
		"pages for ever":    {fake.Status(200, "<html>"), nil, 3, time.Minute},
		"waits of a minute": {fake.Status(429, "", "Retry-After", "60"), func(c *openai.Config) { c.Deadline = 150 * time.Second }, 3, 150 * time.Second},
		"no answer":         {fake.Hang, func(c *openai.Config) { c.Timeout, c.Deadline = time.Minute, 150*time.Second }, 3, 150 * time.Second},
		"slow drip": {fake.Drip(func(r *http.Request) bool {
			select {
			case <-time.After(time.Second):
				return true
			case <-r.Context().Done():
				return false
			}
		}), func(c *openai.Config) { c.Timeout, c.Attempts = 10*time.Second, 2 }, 2, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got := ways[0].through(t, fake.Lies{}, c.change, fake.Always(50, c.fault)...)
				if got.result.Err == nil || got.sent != c.sent || got.took > c.within {
					t.Errorf("error %v, sent %d times in %v; want %d within %v", got.result.Err, got.sent, got.took, c.sent, c.within)
				}
			})
		})
	}
}

// TestWaitsAsLongAsAsked looks at the made-up clock.
func TestWaitsAsLongAsAsked(t *testing.T) {
	t.Parallel()
	for header, want := range map[[2]string]time.Duration{
		{"Retry-After", "20"}:      20 * time.Second,
		{"retry-after-ms", "2500"}: 2500 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			got := ways[0].through(t, fake.Lies{}, nil, fake.Status(429, "", header[0], header[1]))
			if got.result.Err != nil || got.took < want || got.took > want*3/2 {
				t.Errorf("%v: waited %v, %v", header, got.took, got.result.Err)
			}
		})
	}
}

// TestLiesAreSeen asks servers that answer 200 and wrongly: a score is an error and never a number, a text
// comes without tokens.
func TestLiesAreSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lies fake.Lies
		ways []asked
		is   error // of a score
	}{
		"echo is ignored":                {fake.Lies{IgnoreEcho: true}, ways[4:5], nil},
		"bias is ignored":                {fake.Lies{IgnoreBias: true}, ways[5:6], nil},
		"log-probabilities are left out": {fake.Lies{NoLogProbs: true}, ways, nil},
		"log-probabilities are cut":      {fake.Lies{CutLogProbs: true}, []asked{ways[0], ways[2], ways[4], ways[7], ways[8], ways[9]}, nil},
		"a token is put before":          {fake.Lies{AddBOS: true}, ways[:4], nil},
		"-9999":                          {fake.Lies{Written: "-9999.0"}, ways, llm.ErrNoLogProb},
		"-3.4e38":                        {fake.Lies{Written: "-3.4028234663852886e+38"}, ways, llm.ErrNoLogProb},
		"NaN":                            {fake.Lies{Written: "NaN"}, ways, llm.ErrNoLogProb},
		"-Infinity (L09)":                {fake.Lies{Written: "-Infinity"}, ways, llm.ErrNoLogProb},
		"null":                           {fake.Lies{Written: "null"}, ways, llm.ErrNoLogProb},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range c.ways {
				synctest.Test(t, func(t *testing.T) {
					got := way.through(t, c.lies, nil)
					switch {
					case way.kind == llm.Score && (got.result.Err == nil || c.is != nil && !errors.Is(got.result.Err, c.is)):
						t.Errorf("%s: %+v, %v; want %v", way.dialect, got.result.Reply.Tokens, got.result.Err, c.is)
					case way.kind == llm.Generate && got.result.Err == nil && (len(got.result.Reply.Tokens) > 0 || got.result.Reply.Text == ""):
						t.Errorf("%s: text %q with %d tokens", way.dialect, got.result.Reply.Text, len(got.result.Reply.Tokens))
					}
				})
			}
		})
	}
}

func TestAbovePossible(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		synctest.Test(t, func(t *testing.T) {
			if got := way.through(t, fake.Lies{Written: "0.7"}, nil); got.result.Err == nil && len(got.result.Reply.Tokens) > 0 && way.dialect != openai.LlamaServer {
				t.Errorf("%s %s: a log-probability of 0.7 was taken: %+v", way.dialect, way.kind, got.result.Reply)
			}
		})
	}
}

func TestChoicesAreCounted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(string) string{
		"none": func(s string) string { return strings.Replace(s, `"choices":[`, `"choices":[],"others":[`, 1) },
		"two": func(s string) string {
			return strings.Replace(s, `"choices":[`, `"choices":[{"text":"x","finish_reason":"stop"},`, 1)
		},
	} {
		for _, way := range []asked{ways[0], ways[1], ways[4], ways[8]} {
			synctest.Test(t, func(t *testing.T) {
				got := way.through(t, fake.Lies{}, nil, fake.Always(20, fake.Rewrite(change))...)
				var failed *openai.Error
				if !errors.As(got.result.Err, &failed) || failed.Kind != openai.Malformed || got.sent != 3 {
					t.Errorf("%s, %s choices: %v, sent %d times", way.dialect, name, got.result.Err, got.sent)
				}
			})
		}
	}
}

func TestDoubledAlternatives(t *testing.T) {
	t.Parallel()
	rewrite := fake.Rewrite(func(s string) string {
		at := strings.Index(s, `"prompt_logprobs":`)
		start := at + strings.Index(s[at:], `:{"`)
		open := strings.LastIndex(s[:start], `{`)
		entry := s[open+1 : start]
		return s[:open+1] + entry + `:{"logprob":-0.25},` + s[open+1:]
	})
	synctest.Test(t, func(t *testing.T) {
		got := ways[0].through(t, fake.Lies{}, nil, fake.Always(20, rewrite)...)
		if got.result.Err == nil || !strings.Contains(got.result.Err.Error(), "twice") {
			t.Errorf("%+v, %v", got.result.Reply.Tokens, got.result.Err)
		}
	})
}

// TestKeysStayOut searches everything that a failing server with a long memory can lead to.
func TestKeysStayOut(t *testing.T) {
	const secret = "sk-very-secret-0123456789"
	t.Setenv("CREDENCE_TEST_KEY", secret)
	key, err := openai.KeyFromEnv("CREDENCE_TEST_KEY")
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{200, 400, 401, 404, 429, 500} {
		body := fmt.Sprintf(`{"error":{"message":"the key %s is wrong","code":"Bearer %s"}}`, secret, secret)
		var told []string
		synctest.Test(t, func(t *testing.T) {
			got := ways[9].through(t, fake.Lies{}, func(c *openai.Config) { c.Key = key }, fake.Always(20, fake.Status(status, body))...)
			told = append(told, got.result.Err.Error(), fmt.Sprintf("%+v %#v", got.result.Err, got.result.Err))
			for _, a := range got.attempts {
				told = append(told, fmt.Sprintf("%+v %v", a, a.Err))
			}
		})
		for _, text := range told {
			if strings.Contains(text, "very-secret") {
				t.Errorf("status %d: %s", status, text)
			}
		}
	}
	server := fake.New("vllm", llmtest.NewScripted(nil), fake.Lies{})
	e, err := openai.Open(t.Context(), openai.Config{URL: "http://server", Dialect: openai.VLLM, Key: key, Transport: fake.Direct{Handler: server}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if text := fmt.Sprintf("%+v %v", e.Identity(), e.Identity()); strings.Contains(text, "secret") {
		t.Errorf("identity %s", text)
	}
	for _, header := range server.Authorizations() {
		if header != "Bearer "+secret {
			t.Errorf("sent %q", header)
		}
	}
}

func TestKeyFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir() + "/missing", t.TempDir()} {
		if _, err := openai.KeyFromFile(path); err == nil {
			t.Errorf("%s: read", path)
		}
	}
	if _, err := openai.KeyFromEnv("CREDENCE_NO_SUCH_KEY"); err == nil {
		t.Error("a variable that is not set gave a key")
	}
}

// TestConcurrencyAdapts lets a server take 4 requests at once and complain about more: the number in flight
// settles near that, and all are answered.
func TestConcurrencyAdapts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := fake.New("vllm", llmtest.NewScripted(nil), fake.Lies{})
		var mu sync.Mutex
		flying, most, complaints := 0, 0, 0
		busy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/completions" {
				server.ServeHTTP(w, r)
				return
			}
			mu.Lock()
			flying++
			over := flying > 4
			if over {
				complaints++
			}
			most = max(most, flying)
			mu.Unlock()
			defer func() { mu.Lock(); flying--; mu.Unlock() }()
			if over {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			time.Sleep(time.Second)
			server.ServeHTTP(w, r)
		})
		e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.VLLM, Transport: fake.Direct{Handler: busy}, Attempts: 20, Concurrency: 64})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		reqs := make([]llm.Request, 200)
		for i := range reqs {
			reqs[i] = llm.Request{Kind: llm.Score, Prompt: llm.Chat("Hello?", ""), Answer: fmt.Sprint("answer ", i)}
		}
		began := time.Now()
		for i, r := range e.Do(t.Context(), reqs) {
			if r.Err != nil {
				t.Errorf("request %d: %v", i, r.Err)
			}
		}
		// 200 seconds of work for 4 at once.
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("took %v", took)
		}
		if most > 16 || complaints > 80 {
			t.Errorf("%d at once, %d complaints", most, complaints)
		}
	})
}

// TestConcurrencyGrows keeps a server that never complains busy up to the ceiling.
func TestConcurrencyGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := fake.New("vllm", llmtest.NewScripted(nil), fake.Lies{})
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/completions" {
				time.Sleep(500 * time.Millisecond)
			}
			server.ServeHTTP(w, r)
		})
		e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.VLLM, Transport: fake.Direct{Handler: slow}, Concurrency: 64})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		reqs := make([]llm.Request, 1024)
		for i := range reqs {
			reqs[i] = llm.Request{Kind: llm.Score, Prompt: llm.Chat("Hello?", ""), Answer: fmt.Sprint(i)}
		}
		began := time.Now()
		e.Do(t.Context(), reqs)
		// 16 rounds of 64 are the least.
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestPacing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*openai.Config){
		"requests": func(c *openai.Config) { c.RequestsPerMinute = 60 },
		"tokens":   func(c *openai.Config) { c.TokensPerMinute = 2400 },
	} {
		synctest.Test(t, func(t *testing.T) {
			server := fake.New("plain", llmtest.NewScripted(nil), fake.Lies{})
			c := openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: server}, Concurrency: 256, Deadline: time.Hour}
			change(&c)
			e, err := openai.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			reqs := make([]llm.Request, 120)
			for i := range reqs {
				reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat(strings.Repeat("word", 8), ""), Decoding: llm.Decoding{MaxTokens: 32}, Sample: i}
			}
			began := time.Now()
			for _, r := range e.Do(t.Context(), reqs) {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			// 120 requests at one a second, or 4800 tokens at 40 a second; a sixth of a minute's may go at once.
			if took := time.Since(began); took < 100*time.Second || took > 130*time.Second {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}

// TestCancelEndsWaits cancels while a request waits for its turn, for a pause, and for an answer.
func TestCancelEndsWaits(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fake.Fault{
		"pause":  fake.Status(429, "", "Retry-After", "600"),
		"answer": fake.Hang,
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &fake.Faulty{Server: fake.New("plain", llmtest.NewScripted(nil), fake.Lies{}), Path: "/v1/chat/completions", Faults: fake.Always(100, fault)}
			e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: server}, Concurrency: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, cancel)
			began := time.Now()
			reqs := make([]llm.Request, 8)
			for i := range reqs {
				reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 4}, Sample: i}
			}
			for _, r := range e.Do(ctx, reqs) {
				if !errors.Is(r.Err, context.Canceled) {
					t.Errorf("%s: %v", name, r.Err)
				}
			}
			if took := time.Since(began); took > 11*time.Second {
				t.Errorf("%s: ended after %v", name, took)
			}
		})
	}
}

// TestLogProbsRefused asks a model that gives no log-probabilities once, and then without.
func TestLogProbsRefused(t *testing.T) {
	t.Parallel()
	server := fake.New("openai", llmtest.NewScripted(nil), fake.Lies{Refuses: true})
	e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.OpenAI, Transport: fake.Direct{Handler: server}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range 3 {
		r := e.Do(t.Context(), []llm.Request{ways[8].request()})[0]
		if r.Err != nil || r.Reply.Text == "" || r.Reply.Tokens != nil {
			t.Errorf("%+v", r)
		}
	}
	if n := server.Count("/v1/chat/completions"); n != 4 {
		t.Errorf("asked %d times, want once with and three times without", n)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for served, want := range map[string]openai.Dialect{
		"vllm": openai.VLLM, "sglang": openai.SGLang, "llama-server": openai.LlamaServer, "ollama": openai.Ollama, "plain": openai.Plain, "tgi": openai.TGI,
	} {
		server := httptest.NewServer(fake.New(served, llmtest.NewScripted(nil), fake.Lies{}))
		got, err := openai.Detect(t.Context(), openai.Config{URL: server.URL})
		server.Close()
		if got != want || err != nil {
			t.Errorf("%s was taken for %s, %v", served, got, err)
		}
	}
}

func TestUnknownModels(t *testing.T) {
	t.Parallel()
	server := fake.New("vllm", llmtest.NewScripted(nil), fake.Lies{})
	_, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: openai.VLLM, Model: "other", Transport: fake.Direct{Handler: server}})
	var wrong *openai.ConfigError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), fake.ModelName) {
		t.Errorf("%v does not list what there is", err)
	}
}
