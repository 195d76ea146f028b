// Package fake has local servers for tests: one for each dialect of package openai, backed by the scripted
// model of package llmtest, with the faults that such servers have.
//
// They answer as docs/servers.md describes the real ones, as far as package openai asks. [Lies] are what
// real servers do with status 200 and a straight face; [Faulty] breaks answers on their way.
package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
)

// ModelName is the name that every server has its model under.
const ModelName = "scripted/model"

// Lies are ways in which a server answers wrongly without saying so.
type Lies struct {
	// AddBOS puts a beginning-of-sequence token before prompts that came as ids.
	AddBOS bool
	// DoubleBOS lets the tokeniser put one before a rendered chat that has one already.
	DoubleBOS bool
	// IgnoreEcho answers an echo request with the generated token alone.
	IgnoreEcho bool
	// IgnoreBias generates what the model says, whatever token is forced.
	IgnoreBias bool
	// IgnoreSeed draws another sample each time.
	IgnoreSeed bool
	// NoLogProbs leaves log-probabilities out.
	NoLogProbs bool
	// CutLogProbs gives that of the first token only.
	CutLogProbs bool
	// Processed gives values after temperature and bias: a forced token has 0.
	Processed bool
	// Zero gives 0 for every token, without candidates, as a path for drafted tokens does.
	Zero bool
	// Stale lowers values once a text was asked about that is longer by more than staleTokens.
	Stale bool
	// Noise moves every value by up to this many nats, another way each time.
	Noise float64
	// Written replaces values below -1: "-9999", "-3.4028e38", "NaN", "-Infinity", "null", "0.7".
	Written string
	// Reasoning is said before each reply, separated from it; NoAnswer leaves it at that.
	Reasoning string
	NoAnswer  bool
	// Refuses log-probabilities with a 400, as models that reason do.
	Refuses bool
	// Alike gives two of the candidates at each position the same text.
	Alike bool
	// MostCandidates is how many candidates may be asked for; 0 is the server's usual number.
	MostCandidates int
	// NoCandidates leaves them out, NoText the text of a reply.
	NoCandidates, NoText bool
	// Context is what the server says of its context; 0 is the model's.
	Context int
}

// Server is a local server; it is safe for concurrent use.
type Server struct {
	model *llmtest.Scripted
	lies  Lies
	mux   *http.ServeMux

	mu      sync.Mutex
	asked   int
	longest int // tokens before a value, for Stale
	paths   map[string]int
	auth    []string
}

// New returns a server of a dialect, named as package openai names it.
func New(dialect string, model *llmtest.Scripted, lies Lies) *Server {
	s := &Server{model: model, lies: lies, mux: http.NewServeMux(), paths: map[string]int{}}
	switch dialect {
	case "vllm":
		s.serveVLLM()
	case "sglang", "sglang-openai":
		s.serveSGLang()
	case "llama-server":
		s.serveLlama()
	case "ollama":
		s.serveOllama()
	case "openai", "plain":
		s.serveOpenAI()
	case "tgi":
		s.serveTGI()
	case "llama-cpp-python":
		s.serveLlamaCppPython()
	default:
		panic("fake: no dialect " + dialect)
	}
	return s
}

// ServeHTTP counts the request and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths[r.URL.Path]++
	s.auth = append(s.auth, r.Header.Get("Authorization"))
	s.mu.Unlock()
	s.mux.ServeHTTP(w, r)
}

// Count is how often a path was asked.
func (s *Server) Count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[path]
}

// Authorizations are the headers of that name so far.
func (s *Server) Authorizations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.auth...)
}

// object is a JSON object.
type object = map[string]any

// raw is JSON as it stands, valid or not: what Python writes is not always.
type raw string

// handle registers a route that decodes its body as T.
func handle[T any](s *Server, path string, answer func(ctx context.Context, body T) (any, *failure)) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		var body T
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				write(w, http.StatusBadRequest, object{"error": object{"message": err.Error(), "code": 400}})
				return
			}
		}
		out, failed := answer(r.Context(), body)
		if failed != nil {
			write(w, failed.status, failed.body)
			return
		}
		write(w, http.StatusOK, out)
	})
}

type failure struct {
	status int
	body   any
}

func refuse(format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, object{"error": object{"message": fmt.Sprintf(format, args...), "type": "BadRequestError", "code": 400}}}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(encode(body)))
}

// encode writes JSON in which values of type raw stand as they are.
func encode(v any) string {
	switch v := v.(type) {
	case raw:
		return string(v)
	case object:
		var parts []string
		for key, value := range v {
			name, _ := json.Marshal(key)
			parts = append(parts, string(name)+":"+encode(value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = encode(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case []object:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = encode(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// lp is a log-probability as the server writes it.
func (s *Server) lp(x float64) any {
	if s.lies.Written != "" && x < -1 {
		return raw(s.lies.Written)
	}
	return x
}

// context is what the server says of its context.
func (s *Server) context() int {
	if s.lies.Context != 0 {
		return s.lies.Context
	}
	return s.model.Capabilities().ContextTokens
}

// fits refuses what is longer than the model takes.
func (s *Server) fits(n int) *failure {
	if have := s.model.Capabilities().ContextTokens; have > 0 && n > have {
		return &failure{http.StatusBadRequest, object{"error": object{
			"message": fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens.", have, n), "code": 400,
			"type": "exceed_context_size_error", "n_prompt_tokens": n, "n_ctx": have}}}
	}
	return nil
}

// received is the prompt that the model sees of ids that were sent.
func (s *Server) received(ids []int32) []int32 {
	if s.lies.AddBOS {
		return append([]int32{llmtest.BeginID}, ids...)
	}
	return ids
}

// values are the log-probabilities of tokens after before, as this server gives them.
func (s *Server) values(before, tokens []int32, temperature float64) ([]float64, *failure) {
	out := make([]float64, len(tokens))
	text := append([]int32(nil), before...)
	for i, id := range tokens {
		x, err := s.model.LogProbAfter(text, id)
		if err != nil {
			return nil, refuse("%v", err)
		}
		out[i] = s.bend(x, before, temperature)
		text = append(text, id)
	}
	return out, nil
}

// staleTokens is more than two answers to one prompt differ by.
const staleTokens = 10

// bend gives a value the server's faults.
func (s *Server) bend(x float64, before []int32, temperature float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	stale := len(before)+staleTokens < s.longest
	s.longest = max(s.longest, len(before))
	switch {
	case s.lies.Zero:
		return 0
	case s.lies.Processed && temperature > 0:
		return x / temperature
	case s.lies.Stale && stale:
		return x - .3
	}
	return x - s.lies.Noise*float64(s.asked*7919%13)/13
}

// spoken is what the model generated.
type spoken struct {
	llm.Reply
	values []float64
}

// speak generates after a prompt. Decoding and seed are those of a request in the dialect's words.
func (s *Server) speak(ctx context.Context, p llm.Prompt, before []int32, d llm.Decoding, seed *int64) (spoken, *failure) {
	req := llm.Request{Kind: llm.Generate, Prompt: p, Decoding: d}
	if seed != nil {
		req.Seed = uint64(*seed)
	}
	if s.lies.IgnoreSeed {
		s.mu.Lock()
		s.asked++
		req.Seed = uint64(s.asked)
		s.mu.Unlock()
	}
	result := s.model.Do(ctx, []llm.Request{req})[0]
	if result.Err != nil {
		return spoken{}, refuse("%v", result.Err)
	}
	values, failed := s.values(before, ids(result.Reply.Tokens), d.Temperature)
	return spoken{result.Reply, values}, failed
}

func ids(tokens []record.Token) []int32 {
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		out[i] = t.ID
	}
	return out
}

// decoded is a token's text as servers decode it, one by one: what forms no character is U+FFFD.
func decoded(id int32) string {
	piece := llmtest.PieceOf(id)
	if utf8.ValidString(piece) {
		return piece
	}
	return strings.ToValidUTF8(piece, "\uFFFD")
}

// bytesOf is a list of numbers, as JSON has it.
func bytesOf(piece string) []int {
	out := make([]int, len(piece))
	for i := range len(piece) {
		out[i] = int(piece[i])
	}
	return out
}
