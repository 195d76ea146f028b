package study_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/study"
)

// tokenServer answers as text-embeddings-inference does that tells the vectors of tokens: each word has one of 63
// directions, and two special tokens that are alike stand around every text.
type tokenServer struct {
	without string // a route that it has not

	mu    sync.Mutex
	asked map[string]int
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.mu.Unlock()
	if r.URL.Path == s.without {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.URL.Path == "/info" {
		_, _ = io.WriteString(w, `{"model_id":"org/embed","version":"1.9.3","max_input_length":512,"max_client_batch_size":32,"model_type":{"embedding":{"pooling":"mean"}}}`)
		return
	}
	var body struct {
		Inputs []string `json:"inputs"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	var out []any
	for _, text := range body.Inputs {
		special := map[string]any{"id": 101, "text": "[CLS]", "special": true}
		tokens, vectors := []any{special}, []any{direction("")}
		for _, word := range strings.Fields(strings.ToLower(text)) {
			tokens, vectors = append(tokens, map[string]any{"id": 7, "text": word, "special": false}), append(vectors, direction(word))
		}
		switch r.URL.Path {
		case "/embed":
			out = append(out, direction(text))
		case "/tokenize":
			out = append(out, append(tokens, special))
		case "/embed_all":
			out = append(out, append(vectors, direction("")))
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func direction(word string) []float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word))
	v := make([]float64, 64)
	v[0] = 1 // no two words are at right angles
	v[1+h.Sum32()%63] = 2.5
	return v
}

// TestBERTScoreOfAServer judges by the vectors of tokens: of the planted answers two thirds equal a reference, with a
// score of 1; the others share at most some words with one. Texts are asked for once, only where they are read.
func TestBERTScoreOfAServer(t *testing.T) {
	t.Parallel()
	server := &tokenServer{asked: map[string]int{}}
	at := httptest.NewServer(server)
	defer at.Close()
	text := withQuantifiers("log-probability", "embeddings: {engine: tei, url: \""+at.URL+"\"}")
	text = strings.Replace(text, `judges: [exact-match, rouge-l@0.3, "llm:a"]`, `judges: [exact-match, bert-score@0.9, bert-score.precision@0.9, bert-score.recall@0.9]`, 1)
	plan, err := study.MakePlan(t.Context(), parse(t, text), t.TempDir(), overHTTP{})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: overHTTP{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	judges := results.Uncertainty[0].Judges
	if len(judges) != 4 {
		t.Fatalf("judges %+v", judges)
	}
	for _, j := range judges {
		if x, _ := j.Accuracy.Get(); math.Abs(x-2./3) > 1e-12 || j.Accuracy.N != 12 {
			t.Errorf("%s finds %v of %d right, planted 2/3 of 12", j.Judge, x, j.Accuracy.N)
		}
	}
	rows, err := parquet.ReadFile[judgementRow](filepath.Join(folder, "judgements.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	scored := 0
	for _, r := range rows {
		if !strings.HasPrefix(r.Judge, "bert-score") {
			continue
		}
		scored++
		if r.Score == nil || (math.Abs(*r.Score-1) < 1e-6) != (r.Verdict == "correct") {
			t.Errorf("%+v", r)
		}
	}
	if scored == 0 || server.asked["/embed"] != 2 || server.asked["/embed_all"] == 0 || server.asked["/embed_all"] != server.asked["/tokenize"] {
		t.Errorf("%d scores, asked %v; whole texts only to meet the server", scored, server.asked)
	}
	// The plan counts the same calls as were made.
	made := int64(0)
	for _, m := range info.Models {
		if m.Model == "embeddings/tei" {
			made = m.Made
		}
	}
	planned := int64(0)
	for _, s := range plan.Settings {
		if s.Setting.Model == "embeddings" {
			planned = s.Calls
		}
	}
	if made == 0 || math.Abs(float64(planned-made)) > .3*float64(made) {
		t.Errorf("planned %d calls for vectors, made %d", planned, made)
	}
	if card := read(t, folder, "card.md"); !strings.Contains(card, "mean highest cosine of each token") {
		t.Error("the card does not say what BERTScore is")
	}
	// Again: nothing is asked for twice.
	asked := server.asked["/embed_all"]
	if _, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: overHTTP{}, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	if more := server.asked["/embed_all"] - asked; more > 2 {
		t.Errorf("%d requests for what was known", more)
	}
}

// TestNoVectorsOfTokens wants the reason before any model is asked.
func TestNoVectorsOfTokens(t *testing.T) {
	t.Parallel()
	at := httptest.NewServer(&tokenServer{without: "/embed_all", asked: map[string]int{}})
	defer at.Close()
	for embeddings, want := range map[string]string{
		fmt.Sprintf("embeddings: {engine: tei, url: %q}", at.URL): "gives no vectors of tokens",
		"embeddings: all-minilm-l6-v2":                            "only a text-embeddings-inference server",
		"embeddings: {engine: vllm, url: \"http://h\", model: x}": "only a text-embeddings-inference server",
		"": "only a text-embeddings-inference server",
	} {
		text := strings.Replace(withQuantifiers("log-probability", embeddings), `judges: [exact-match, rouge-l@0.3, "llm:a"]`, "judges: [bert-score@0.9]", 1)
		f, err := study.Parse("s.yaml", []byte(text))
		if err == nil {
			_, info, failed := study.Run(t.Context(), f, study.Options{Folder: t.TempDir(), Open: overHTTP{}, Version: "test"})
			if err = failed; info != nil {
				for _, m := range info.Models {
					if m.Made > 0 {
						t.Errorf("%s was asked before", m.Model)
					}
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", embeddings, err, want)
		}
	}
}
