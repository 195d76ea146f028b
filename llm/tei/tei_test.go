package tei_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/tei"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a local server that answers as text-embeddings-inference does.
type server struct {
	labels  []string // of an entailment model, in the order of its ids; none embeds
	model   *llmtest.Scripted
	tooLong int // the status for a text that is too long; 0 is 413
	// change is made to an answer before it is sent; it may be nil.
	change func(path, body string) (int, string)

	mu      sync.Mutex
	batches []int
}

const maxLength, maxBatch = 512, 4

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, out := s.answer(r)
	raw, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	body := string(raw)
	if s.change != nil {
		if code, changed := s.change(r.URL.Path, body); code != 0 {
			status, body = code, changed
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

type object = map[string]any

func (s *server) answer(r *http.Request) (int, any) {
	if r.URL.Path == "/info" {
		kind := object{"embedding": object{"pooling": "mean"}}
		if s.labels != nil {
			names := object{}
			for i, l := range s.labels {
				names[fmt.Sprint(i)] = l
			}
			kind = object{"classifier": object{"id2label": names}}
		}
		return 200, object{"model_id": "a/model", "model_sha": "abc", "model_type": kind, "max_input_length": maxLength, "max_client_batch_size": maxBatch, "version": "1.9.3"}
	}
	var body struct {
		Inputs   []json.RawMessage `json:"inputs"`
		Truncate *bool             `json:"truncate"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return 400, object{"error": err.Error()}
	}
	s.mu.Lock()
	s.batches = append(s.batches, len(body.Inputs))
	s.mu.Unlock()
	if len(body.Inputs) > maxBatch {
		return 422, object{"error": "batch size > maximum allowed batch size", "error_type": "Validation"}
	}
	if (body.Truncate == nil || *body.Truncate) && r.URL.Path != "/tokenize" {
		return 500, object{"error": "the test wants texts whole"}
	}
	var out []any
	for _, in := range body.Inputs {
		one, failed := s.one(r.Context(), r.URL.Path, in)
		if failed != nil {
			return max(s.tooLong, 413), failed
		}
		out = append(out, one)
	}
	return 200, out
}

func (s *server) one(ctx context.Context, path string, in json.RawMessage) (any, object) {
	var texts []string
	if path != "/predict" {
		texts = make([]string, 1)
		_ = json.Unmarshal(in, &texts[0])
	} else if err := json.Unmarshal(in, &texts); err != nil || len(texts) != 2 {
		return nil, object{"error": "no pair", "error_type": "Tokenizer"}
	}
	if n := len(llmtest.IDs(strings.Join(texts, ""))); n > maxLength {
		return nil, object{"error": fmt.Sprintf("Input validation error: `inputs` must have less than %d tokens. Given: %d", maxLength, n), "error_type": "Validation"}
	}
	switch path {
	case "/tokenize": // as the model puts two tokens around every text
		list := []object{{"id": 101, "text": "[CLS]", "special": true, "start": nil, "stop": nil}}
		for i, word := range strings.Fields(texts[0]) {
			list = append(list, object{"id": 1000 + i, "text": word, "special": false, "start": 0, "stop": len(word)})
		}
		return append(list, object{"id": 102, "text": "[SEP]", "special": true, "start": nil, "stop": nil}), nil
	case "/embed_all": // not brought to length 1
		reply := s.model.Do(ctx, []llm.Request{{Kind: llm.EmbedTokens, Prompt: llm.Prompt{Text: texts[0]}}})[0].Reply
		around := make([]float32, 256)
		around[7] = 5
		vectors, err := llm.TokenVectors(reply)
		if err != nil {
			return [][]float32{around, around}, nil
		}
		list := [][]float32{around}
		for _, v := range vectors {
			long := slices.Clone(v)
			for i := range long {
				long[i] *= 3
			}
			list = append(list, long)
		}
		return append(list, around), nil
	case "/embed":
		reply := s.model.Do(ctx, []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: texts[0]}}})[0]
		return reply.Reply.Embedding, nil
	}
	// What it thinks: equal texts entail, "not" contradicts.
	p := []float64{.1, .7, .2} // contradiction, neutral, entailment
	switch {
	case texts[0] == texts[1]:
		p = []float64{.05, .05, .9}
	case strings.Contains(texts[1], "not"):
		p = []float64{.8, .15, .05}
	}
	return s.sorted(p), nil
}

// sorted are predictions by score, each with the label that the model's maker chose.
func (s *server) sorted(p []float64) []object {
	order := map[string]int{"c": 0, "n": 1, "e": 2}
	var out []object
	for _, label := range s.labels {
		key := strings.ToLower(label[:1])
		if strings.HasPrefix(label, "LABEL_") {
			key = map[string]string{"LABEL_0": "c", "LABEL_1": "n", "LABEL_2": "e"}[label]
		}
		out = append(out, object{"label": label, "score": p[order[key]]})
	}
	slices.SortFunc(out, func(a, b object) int {
		if a["score"].(float64) > b["score"].(float64) {
			return -1
		}
		return 1
	})
	return out
}

func listen(t *testing.T, s *server) string {
	t.Helper()
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return at.URL
}

func TestEmbedderConforms(t *testing.T) {
	t.Parallel()
	url := listen(t, &server{model: llmtest.NewScripted(nil)})
	llmtest.Conformance(t, func(t *testing.T) llm.Engine {
		e, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: url, Tokens: true})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}, llmtest.Expect{})
}

var orders = [][]string{
	{"CONTRADICTION", "NEUTRAL", "ENTAILMENT"},
	{"entailment", "neutral", "contradiction"},
	{"Contradiction", "Entailment", "Neutral"},
}

// TestEntailerConforms holds the client to its promises with servers whose models have their labels in every case and
// order, whose answers are sorted by score, and that refuse long texts with one status or the other.
func TestEntailerConforms(t *testing.T) {
	t.Parallel()
	for _, labels := range orders {
		for _, status := range []int{413, 422} {
			t.Run(fmt.Sprint(labels, status), func(t *testing.T) {
				t.Parallel()
				url := listen(t, &server{labels: labels, tooLong: status})
				llmtest.EntailmentConformance(t, func(t *testing.T) llm.Entailer {
					e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: url})
					if err != nil {
						t.Fatal(err)
					}
					return e
				}, llmtest.EntailExpect{Tokens: maxLength})
			})
		}
	}
}

// TestLabelsOfEveryOrder asks models whose makers named and ordered their labels otherwise.
func TestLabelsOfEveryOrder(t *testing.T) {
	t.Parallel()
	for _, labels := range orders {
		e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: listen(t, &server{labels: labels})})
		if err != nil {
			t.Fatal(err)
		}
		got := e.Entail(t.Context(), []llm.Pair{{Premise: "a", Hypothesis: "a"}, {Premise: "a", Hypothesis: "not a"}, {Premise: "a", Hypothesis: "b"}})
		want := []llm.EntailmentResult{
			{Entailment: llm.Entailment{Entails: .9, Neither: .05, Contradicts: .05}},
			{Entailment: llm.Entailment{Entails: .05, Neither: .15, Contradicts: .8}},
			{Entailment: llm.Entailment{Entails: .2, Neither: .7, Contradicts: .1}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", labels, d)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLabelsThatSayNothing(t *testing.T) {
	t.Parallel()
	meanings := map[string]string{"label_0": "contradicts", "LABEL_1": "neither", "LABEL_2": "entails"}
	for name, c := range map[string]struct {
		labels []string
		said   map[string]string
		ok     bool
	}{
		"careless":             {[]string{"LABEL_0", "LABEL_1", "LABEL_2"}, nil, false},
		"careless, but told":   {[]string{"LABEL_0", "LABEL_1", "LABEL_2"}, meanings, true},
		"two labels":           {[]string{"entailment", "not_entailment"}, nil, false},
		"one twice":            {[]string{"entailment", "entails", "neutral"}, nil, false},
		"told of another":      {[]string{"entailment", "neutral", "contradiction"}, map[string]string{"yes": "entails"}, false},
		"told what is nothing": {[]string{"entailment", "neutral", "contradiction"}, map[string]string{"neutral": "perhaps"}, false},
		"four":                 {[]string{"entailment", "neutral", "contradiction", "other"}, nil, false},
		"no classifier":        {nil, nil, false},
	} {
		e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: listen(t, &server{labels: c.labels, model: llmtest.NewScripted(nil)}), Labels: c.said})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if got := e.Entail(t.Context(), []llm.Pair{{Premise: "a", Hypothesis: "a"}})[0]; got.Err != nil || got.Entailment.Entails != .9 {
			t.Errorf("%s: %+v", name, got)
		}
		_ = e.Close()
	}
	if _, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: listen(t, &server{labels: orders[0]})}); err == nil {
		t.Error("a classifier was taken for an embedder")
	}
}

// TestOnePairDoesNotFailTheOthers sends more pairs than fit a batch, one of them too long and one empty.
func TestOnePairDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	s := &server{labels: orders[1]}
	e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: listen(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	pairs := make([]llm.Pair, 11)
	for i := range pairs {
		pairs[i] = llm.Pair{Premise: fmt.Sprint("text ", i), Hypothesis: fmt.Sprint("text ", i)}
	}
	pairs[5].Hypothesis = strings.Repeat("long ", 800)
	pairs[8].Premise = " "
	pairs[9].Premise = "bad\xff"
	for i, r := range e.Entail(t.Context(), pairs) {
		var over *llm.OverflowError
		switch {
		case i == 5 && (!errors.As(r.Err, &over) || over.Have != maxLength || over.Need < 800):
			t.Errorf("a pair that is too long: %v", r.Err)
		case i == 8 && !errors.Is(r.Err, llm.ErrEmptyText), i == 9 && r.Err == nil:
			t.Errorf("pair %d: %v", i, r.Err)
		case i != 5 && i != 8 && i != 9 && (r.Err != nil || r.Entailment.Entails != .9):
			t.Errorf("pair %d: %+v", i, r)
		}
	}
	if most := slices.Max(s.batches); most > maxBatch {
		t.Errorf("a batch of %d", most)
	}
}

// TestPredictionsThatCannotBe answers 200 with what is no judgement of the pair.
func TestPredictionsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"flat":             `[{"label":"entailment","score":1}]`,
		"another number":   `[[],[]]`,
		"none":             `[[]]`,
		"two":              `[[{"label":"entailment","score":0.5},{"label":"neutral","score":0.5}]]`,
		"doubled":          `[[{"label":"entailment","score":0.5},{"label":"entailment","score":0.3},{"label":"neutral","score":0.2}]]`,
		"unknown":          `[[{"label":"entailment","score":0.5},{"label":"neutral","score":0.3},{"label":"odd","score":0.2}]]`,
		"logits":           `[[{"label":"entailment","score":5.5},{"label":"neutral","score":0.3},{"label":"contradiction","score":-2}]]`,
		"sigmoids":         `[[{"label":"entailment","score":0.9},{"label":"neutral","score":0.8},{"label":"contradiction","score":0.1}]]`,
		"NaN":              `[[{"label":"entailment","score":NaN},{"label":"neutral","score":0.3},{"label":"contradiction","score":0.7}]]`,
		"null":             `[[{"label":"entailment","score":null},{"label":"neutral","score":0.3},{"label":"contradiction","score":0.7}]]`,
		"no score":         `[[{"label":"entailment"},{"label":"neutral","score":0.3},{"label":"contradiction","score":0.7}]]`,
		"error in a 200":   `{"error":"backend","error_type":"Backend"}`,
		"page":             `<html>`,
		"cut":              `[[{"label":"entailment","sco`,
		"another language": `"ok"`,
	} {
		s := &server{labels: orders[1], change: func(path, _ string) (int, string) {
			if path == "/predict" {
				return 200, body
			}
			return 0, ""
		}}
		e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: listen(t, s), Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Entail(t.Context(), []llm.Pair{{Premise: "a", Hypothesis: "b"}})[0]; got.Err == nil {
			t.Errorf("%s: %+v", name, got.Entailment)
		}
		_ = e.Close()
	}
}

// TestStatuses wants what can pass repeated, and what cannot asked for once.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, repeated := range map[int]bool{413: false, 422: false, 424: false, 429: true, 503: true} {
		var mu sync.Mutex
		asked := 0
		s := &server{labels: orders[1]}
		s.change = func(path, _ string) (int, string) {
			mu.Lock()
			defer mu.Unlock()
			if path != "/predict" {
				return 0, ""
			}
			if asked++; asked == 1 {
				return status, `{"error":"no","error_type":"Overloaded"}`
			}
			return 0, ""
		}
		e, err := tei.OpenEntailer(t.Context(), tei.Config{URL: listen(t, s)})
		if err != nil {
			t.Fatal(err)
		}
		got := e.Entail(t.Context(), []llm.Pair{{Premise: "a", Hypothesis: "a"}})[0]
		if (got.Err == nil) != repeated || (asked == 2) != repeated {
			t.Errorf("%d: asked %d times, %v", status, asked, got.Err)
		}
		if !repeated && !errors.Is(got.Err, llm.ErrRefused) {
			t.Errorf("%d: %v is not said to be a refusal", status, got.Err)
		}
		_ = e.Close()
	}
}

// TestVectorsOfTokens wants a vector of length 1 for each token of a text, in order, without those of the tokens that
// the model puts around it; a text that has none is refused alone, as one that is too long is.
func TestVectorsOfTokens(t *testing.T) {
	t.Parallel()
	s := &server{model: llmtest.NewScripted(nil)}
	e, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: listen(t, s), Tokens: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	texts := []string{"a red house", "\u200b \u200b", "house", strings.Repeat("long ", 800), " ", "one two three four", "red", "five", "a red house"}
	reqs := make([]llm.Request, len(texts))
	for i, text := range texts {
		reqs[i] = llm.Request{Kind: llm.EmbedTokens, Prompt: llm.Prompt{Text: text}}
	}
	reqs = append(reqs, llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a red house"}})
	results := e.Do(t.Context(), reqs)
	for i, text := range texts {
		got := results[i]
		var over *llm.OverflowError
		switch i {
		case 3:
			if !errors.As(got.Err, &over) || over.Have != maxLength {
				t.Errorf("a text that is too long: %v", got.Err)
			}
			continue
		case 4:
			if !errors.Is(got.Err, llm.ErrEmptyText) {
				t.Errorf("a blank text: %v", got.Err)
			}
			continue
		}
		vectors, err := llm.TokenVectors(got.Reply)
		if got.Err != nil || err != nil {
			t.Errorf("%q: %v, %v", text, got.Err, err)
			continue
		}
		words := strings.Fields(text)
		if len(vectors) != len(words) {
			t.Fatalf("%q: %d vectors", text, len(vectors))
		}
		for k, word := range words {
			want := s.model.Do(t.Context(), []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: word}}})[0].Reply.Embedding
			if d := cmp.Diff(want, vectors[k], cmpopts.EquateApprox(0, 1e-6)); d != "" || string(got.Reply.Tokens[k].Piece) != word || got.Reply.Tokens[k].ID != int32(1000+k) {
				t.Errorf("%q, token %d: %+v %s", text, k, got.Reply.Tokens[k], d)
			}
		}
	}
	if r := results[len(texts)]; r.Err != nil || len(r.Reply.Embedding) != 256 || r.Reply.Tokens != nil {
		t.Errorf("the vector of a text beside those of tokens: %+v", r)
	}
}

// TestServersWithoutVectorsOfTokens are refused before anything is asked of them, where those are wanted.
func TestServersWithoutVectorsOfTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"no such route":                   {"/embed_all", "", 404},
		"another backend":                 {"/embed_all", `{"error":"model is not an embedding model","error_type":"Backend"}`, 424},
		"one vector a text":               {"/embed_all", `[[0.6,0.8]]`, 200},
		"a vector too few":                {"/embed_all", `[[[0.6,0.8],[0.6,0.8]]]`, 200},
		"vectors of different lengths":    {"/embed_all", `[[[1],[0.6,0.8],[1]],[]]`, 200},
		"a hole":                          {"/embed_all", `[[[0.6,0.8],[null,0.8],[0.6,0.8]]]`, 200},
		"no length":                       {"/embed_all", `[[[0.6,0.8],[0,0],[0.6,0.8]]]`, 200},
		"no tokeniser":                    {"/tokenize", "", 404},
		"tokens of another text":          {"/tokenize", `[[{"id":1,"text":"a","special":false}]]`, 200},
		"it calls all of them special":    {"/tokenize", `[[{"id":1,"special":true},{"id":2,"special":true},{"id":3,"special":true}]]`, 200},
		"a list of tokens, not of texts":  {"/tokenize", `[{"id":1,"special":true},{"id":2},{"id":3}]`, 200},
		"an error in the place of tokens": {"/tokenize", `{"error":"x"}`, 200},
	} {
		s := &server{model: llmtest.NewScripted(nil), change: func(path, _ string) (int, string) {
			if path == c.path {
				return c.status, c.body
			}
			return 0, ""
		}}
		url := listen(t, s)
		if _, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: url, Tokens: true, Attempts: 1}); err == nil || !strings.Contains(err.Error(), "vectors of") {
			t.Errorf("%s: %v", name, err)
		}
		e, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: url})
		if err != nil {
			t.Fatalf("%s, tokens not wanted: %v", name, err)
		}
		r := e.Do(t.Context(), []llm.Request{{Kind: llm.EmbedTokens, Prompt: llm.Prompt{Text: "a"}}})[0]
		if !errors.Is(r.Err, llm.ErrNotSupported) {
			t.Errorf("%s: asked all the same: %v", name, r.Err)
		}
		_ = e.Close()
	}
}

func TestVectorsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"none": `[]`, "flat": `[0.1,0.2]`, "zero": `[[0,0]]`, "empty": `[[]]`, "shorter": `[[1]]`, "null": `[[null,1]]`, "NaN": `[[NaN,NaN]]`,
	} {
		first := true
		s := &server{model: llmtest.NewScripted(nil)}
		s.change = func(path, _ string) (int, string) {
			if path != "/embed" {
				return 0, ""
			}
			if first {
				first = false
				return 200, `[[0.6,0.8]]`
			}
			return 200, body
		}
		e, err := tei.OpenEmbedder(t.Context(), tei.Config{URL: listen(t, s), Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := e.Do(t.Context(), []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a"}}})[0]
		if got.Err == nil {
			t.Errorf("%s: %v", name, got.Reply.Embedding)
		}
		_ = e.Close()
	}
}
