package study_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

func withQuantifiers(list, more string) string {
	return strings.Replace(quantified, "quantifiers: [default]", "quantifiers: ["+list+"]\n"+more, 1)
}

// valueOf is the AUROC of a quantifier under the first judge, with the number of its missing values.
func valueOf(t *testing.T, u *study.UncertaintyResult, id string) (auroc float64, missing map[string]int) {
	t.Helper()
	for k, q := range u.Quantifiers {
		if q.Quantifier == id {
			missing = map[string]int{}
			for _, m := range q.Missing {
				missing[m.Reason] = m.N
			}
			x, _ := u.AUROC[0][k].Get()
			return x, missing
		}
	}
	t.Fatalf("no quantifier %s", id)
	return 0, nil
}

// The default asks the answering model; a server, another model of the study, and words alone take its place, and the
// plan counts what each is asked.
func TestEntailmentComesFromWhereTheStudySays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say, card string
		asks      bool // the model of the study is asked
		source    string
	}{
		"own":     {"", "judged by the answering model itself", true, ""},
		"model":   {"entailment: a", "judged by the model a", true, ""},
		"server":  {"entailment: {engine: tei, url: \"http://127.0.0.1:9\"}", "judged by tei (tei contrary", false, "entailment/tei"},
		"lexical": {"entailment: lexical", "common words stand in for meaning", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := withQuantifiers("semantic-entropy", c.say)
			folder := t.TempDir()
			open := wavering{}
			plan, err := study.MakePlan(t.Context(), parse(t, text), folder, open)
			if err != nil {
				t.Fatal(err)
			}
			results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: open, Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			// Texts that differ mean different things to each of these judges, and are planted on wrong answers.
			if x, missing := valueOf(t, results.Uncertainty[0], "semantic-entropy"); x != 1 || len(missing) > 0 {
				t.Errorf("AUROC %v, missing %v", x, missing)
			}
			if card := read(t, folder, "card.md"); !strings.Contains(card, c.card) {
				t.Errorf("the card does not say %q", c.card)
			}
			var made, planned int64
			for _, m := range info.Models {
				if m.Model == c.source {
					made = m.Made
				}
			}
			for _, s := range plan.Settings {
				if s.Setting.String() == c.source {
					planned = s.Calls
				}
			}
			if c.source != "" && (made == 0 || planned == 0) {
				t.Errorf("planned %d calls of %s, made %d", planned, c.source, made)
			}
			_, again, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: open, Version: "test"})
			if err != nil || again.Made != 0 {
				t.Errorf("again: %d calls, %v", again.Made, err)
			}
		})
	}
}

func TestSourcesAreCheckedBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"entailment: nobody": `no model "nobody"`,
		"entailment: {by: own, engine: tei, url: \"http://h\"}":          "both",
		"entailment: {engine: vllm, url: \"http://h\"}":                  `of the kind "vllm"`,
		"entailment: {engine: tei}":                                      "no address",
		"entailment: {url: \"http://h\"}":                                "no engine",
		"entailment: {engine: tei, url: \"http://k:s@h\"}":               "more than the address",
		"entailment: {engine: tei, url: \"http://h\", model: x}":         "one model",
		"entailment: {by: own, labels: {a: entails}}":                    "those of a server",
		"entailment: {engines: tei}":                                     "unknown key",
		"entailment: none":                                               "no entailment",
		"embeddings: {weights: m, engine: tei, url: \"http://h\"}":       "both weights and a server",
		"embeddings: {engine: teo, url: \"http://h\"}":                   `did you mean "tei"`,
		"embeddings: {engine: tei, url: \"http://h\", thinking: \"on\"}": "does not think",
		"embeddings: {}": "names nothing",
	} {
		_, err := study.Parse("s.yaml", []byte(withQuantifiers("semantic-entropy", say)))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "s.yaml:") {
			t.Errorf("%s: %v, want %q", say, err, want)
		}
	}
}

// Details of tokens are asked for where a quantifier reads them, and nowhere else.
func TestDetailsOfTokensServeQuantifiers(t *testing.T) {
	t.Parallel()
	const list = "token-entropy, probability-margin, token-entropy.full, log-probability.end, sequence-entropy.end"
	var mu sync.Mutex
	var asked []llm.Request
	watch := llmtest.Interrupted(func(_ context.Context, _ int, r llm.Request) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r)
		return nil
	})
	results, _, err := study.Run(t.Context(), parse(t, withQuantifiers(list, "")), study.Options{Folder: t.TempDir(), Open: wavering{options: []llmtest.Option{watch}}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range results.Uncertainty[0].Quantifiers {
		if len(q.Missing) > 0 {
			t.Errorf("%s: missing %v", q.Quantifier, q.Missing)
		}
	}
	if asked == nil {
		t.Fatal("nothing was watched")
	}
	for _, r := range asked {
		sample, answer := r.Decoding.Temperature > 0, r.Kind == llm.Generate && !strings.Contains(r.Prompt.Messages[0].Content, "Probability")
		want := llm.Details{}
		switch {
		case sample:
			want = llm.Details{End: true}
		case answer && r.Prompt.Opening == "":
			want = llm.Details{Alternatives: study.DefaultAlternatives, Entropy: true, End: true}
		}
		if r.Details != want {
			t.Errorf("%s at temperature %g asks for %+v, want %+v", r.Kind, r.Decoding.Temperature, r.Details, want)
		}
	}
}

// What an engine cannot tell is said before it is asked, and gives missing values with the reason.
func TestWhatAModelDoesNotSupportIsSaidBefore(t *testing.T) {
	t.Parallel()
	mute := wavering{options: []llmtest.Option{llmtest.Lacking(func(c *llm.Capabilities) { c.Details = llm.Details{} })}}
	text := withQuantifiers("token-entropy, log-probability.end, log-probability", "")
	plan, err := study.MakePlan(t.Context(), parse(t, text), t.TempDir(), mute)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	folder := t.TempDir()
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: mute, Version: "test", Note: func(about, note string) { notes = append(notes, about+": "+note) }})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(notes, "\n")
	for id, why := range map[string]string{"token-entropy": "no alternatives", "log-probability.end": "no end-of-turn probability"} {
		if _, missing := valueOf(t, results.Uncertainty[0], id); missing[why] != 12 {
			t.Errorf("%s: missing %v, want 12 with %q", id, missing, why)
		}
		if !strings.Contains(said, "model a: no value of "+id+": "+why) {
			t.Errorf("of %s nothing was said in\n%s", id, said)
		}
		found := false
		for _, u := range plan.Settings[0].Unsupported {
			found = found || u.Quantifier == id && string(u.Why[0]) == why
		}
		if !found {
			t.Errorf("the plan says nothing of %s: %v", id, plan.Settings[0].Unsupported)
		}
		if !strings.Contains(read(t, folder, "card.md"), "gives no value of "+id) {
			t.Errorf("the card says nothing of %s", id)
		}
	}
	if x, missing := valueOf(t, results.Uncertainty[0], "log-probability"); len(missing) > 0 || math.IsNaN(x) {
		t.Errorf("log-probability: %v, %v", x, missing)
	}
}

// teiServers are two local servers that answer as text-embeddings-inference does: one judges pairs, with labels in any
// case, sorted by their score, and refuses what it is told to; one embeds.
func teiServers(t *testing.T, refuse func(pair [2]string) bool) (entailment, embeddings string) {
	t.Helper()
	serve := func(handle map[string]http.HandlerFunc) string {
		mux := http.NewServeMux()
		for path, h := range handle {
			mux.HandleFunc(path, h)
		}
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server.URL
	}
	entailment = serve(map[string]http.HandlerFunc{
		"/info": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"model_id":"org/nli","model_sha":"abc","version":"1.8.0","max_input_length":512,"max_client_batch_size":4,"model_type":{"classifier":{"id2label":{"0":"CONTRADICTION","1":"NEUTRAL","2":"ENTAILMENT"}}}}`)
		},
		"/predict": func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Inputs [][2]string `json:"inputs"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Inputs) > 4 {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			var out []string
			for _, pair := range body.Inputs {
				if refuse(pair) {
					w.WriteHeader(http.StatusFailedDependency)
					_, _ = io.WriteString(w, `{"error":"backend","error_type":"Backend"}`)
					return
				}
				out = append(out, `[{"label":"contradiction","score":0.8},{"label":"neutral","score":0.15},{"label":"entailment","score":0.05}]`)
			}
			_, _ = io.WriteString(w, "["+strings.Join(out, ",")+"]")
		},
	})
	embeddings = serve(map[string]http.HandlerFunc{
		"/info": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"model_id":"org/embed","version":"1.8.0","max_input_length":512,"max_client_batch_size":4,"model_type":{"embedding":{"pooling":"mean"}}}`)
		},
		"/embed": func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Inputs []string `json:"inputs"`
			}
			_ = json.NewDecoder(r.Body).Decode(&body)
			var out []string
			for _, text := range body.Inputs {
				out = append(out, fmt.Sprintf("[%d,1,%d]", len(text), text[0]))
			}
			_, _ = io.WriteString(w, "["+strings.Join(out, ",")+"]")
		},
	})
	return entailment, embeddings
}

// overHTTP asks servers as the command does.
type overHTTP struct{ wavering }

func (overHTTP) OpenEmbeddings(ctx context.Context, e study.Embeddings) (llm.Engine, error) {
	return study.OpenEmbeddings(ctx, e)
}

func (overHTTP) OpenEntailment(ctx context.Context, e study.Entailment) (llm.Engine, error) {
	return study.OpenEntailment(ctx, e)
}

func TestServersOfEntailmentAndEmbeddingsServeAStudy(t *testing.T) {
	t.Parallel()
	// Of the pairs of one item the server judges none.
	facts, err := dataset.Builtin("facts")
	if err != nil {
		t.Fatal(err)
	}
	unjudged := facts.Items[3].Incorrect[0]
	entailment, embeddings := teiServers(t, func(pair [2]string) bool { return pair[0] == unjudged || pair[1] == unjudged })
	text := withQuantifiers("semantic-entropy, cosine-agreement", "entailment: {engine: tei, url: \""+entailment+"\"}\nembeddings: {engine: tei, url: \""+embeddings+"\"}")
	folder := t.TempDir()
	results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: overHTTP{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if x, missing := valueOf(t, results.Uncertainty[0], "semantic-entropy"); x != 1 || missing["entailment refused"] != 1 || len(missing) != 1 {
		t.Errorf("semantic entropy: AUROC %v, missing %v", x, missing)
	}
	if _, missing := valueOf(t, results.Uncertainty[0], "cosine-agreement"); len(missing) != 0 {
		t.Errorf("cosine agreement: missing %v", missing)
	}
	made := map[string]int64{}
	for _, m := range info.Models {
		made[m.Model] = m.Made
	}
	if made["entailment/tei"] == 0 || made["embeddings/tei"] == 0 {
		t.Errorf("made %v", made)
	}
	card := read(t, folder, "card.md")
	for _, want := range []string{"org/nli", "revision=abc", "org/embed", "pooling=mean"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not name %s", want)
		}
	}
}

func TestAnEnsembleHasAColumnUnderEveryJudge(t *testing.T) {
	t.Parallel()
	text := withQuantifiers("predictive-entropy, p-true, verbalised-confidence", "ensemble: [predictive-entropy, verbalised-confidence]")
	text = strings.Replace(text, `judges: [exact-match, rouge-l@0.3, "llm:a"]`, `judges: [exact-match, "llm:a@0.99"]`, 1)
	text = strings.Replace(text, "limit: 12", "limit: 30", 1)
	folder := t.TempDir()
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	u := results.Uncertainty[0]
	if last := u.Quantifiers[len(u.Quantifiers)-1]; last.Quantifier != "ensemble" || len(u.AUROC[0]) != 4 {
		t.Fatalf("columns %+v", u.Quantifiers)
	}
	// The stated confidence is always the same, so that all weight is on the entropy, which is planted to rank rightly.
	if x, _ := u.AUROC[0][3].Get(); x < .99 || u.Judges[0].Weights["predictive-entropy"] < .99 || u.AUROC[0][3].Interval == nil {
		t.Errorf("AUROC %v of the ensemble, weights %v", x, u.Judges[0].Weights)
	}
	// A judge that finds nothing right tunes nothing.
	if _, ok := u.AUROC[1][3].Get(); ok || u.Judges[1].NoWeights == "" || u.Judges[1].Weights != nil {
		t.Errorf("%+v: %+v", u.Judges[1], u.AUROC[1][3])
	}
	for say, want := range map[string]string{
		"ensemble: [p-true]":         "of one",
		"ensemble: [p-true, luq]":    "does not compute",
		"ensemble: [p-true, p-true]": "twice",
	} {
		_, err := study.Parse("s.yaml", []byte(withQuantifiers("p-true, predictive-entropy", say)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", say, err, want)
		}
	}
}

// A server that writes and does not score, as most chat routes are, gives what needs writing alone.
func TestAModelThatDoesNotScoreGivesWhatItCan(t *testing.T) {
	t.Parallel()
	mute := wavering{options: []llmtest.Option{llmtest.Lacking(func(c *llm.Capabilities) { c.Score, c.Details = false, llm.Details{} })}}
	text := withQuantifiers("predictive-entropy, semantic-entropy, p-true, verbalised-confidence, log-probability", "entailment: lexical")
	text = strings.Replace(text, `"llm:a"]`, `"llm:a", "llm-text:a"]`, 1)
	var notes []string
	folder := t.TempDir()
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: mute, Version: "test", Note: func(about, note string) { notes = append(notes, about+": "+note) }})
	if err != nil {
		t.Fatal(err)
	}
	u := results.Uncertainty[0]
	for id, want := range map[string]float64{"predictive-entropy": 1, "semantic-entropy": 1, "verbalised-confidence": .5} {
		if x, missing := valueOf(t, u, id); x != want || len(missing) > 0 {
			t.Errorf("%s: %v, missing %v", id, x, missing)
		}
	}
	if _, missing := valueOf(t, u, "p-true"); missing["not supported by the engine"] != 12 {
		t.Errorf("p-true: missing %v", missing)
	}
	for _, j := range u.Judges {
		if judged := j.Accuracy.N; judged != map[string]int{"llm:a": 0}[j.Judge] && judged != 12 || j.Judge == "llm:a" && judged != 0 {
			t.Errorf("%s judges %d answers", j.Judge, judged)
		}
	}
	if said := strings.Join(notes, "\n"); !strings.Contains(said, "no value of p-true: not asked") || strings.Contains(said, "predictive-entropy") {
		t.Errorf("said before:\n%s", said)
	}
	if _, err := study.MakePlan(t.Context(), parse(t, text), t.TempDir(), mute); err != nil {
		t.Error(err)
	}
}
