package study_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/resample"
	"github.com/credence-lab/credence/study"
)

func init() { children["calibrate"] = childCalibrates }

// protractor opens a sampler that paraphrases statement number i in five ways, one at a time, and an embedding in
// which way j of it lies at j·i degrees, so that all cosines are known. Of statement 3 it knows one way alone.
type protractor struct {
	options []llmtest.Option
	// embeds is what cannot be embedded; nil where everything can.
	embeds error
}

const ways = 5

func (p protractor) Open(_ context.Context, m study.Model) (study.Opened, error) {
	script := llmtest.Funcs{Reply: func(asked llm.Prompt) []llmtest.Choice {
		i := slices.IndexFunc(collect.Premises(), func(premise string) bool { return strings.Contains(asked.Messages[0].Content, premise) })
		var choices []llmtest.Choice
		for j := range ways {
			if i+1 != 3 || j == 0 {
				choices = append(choices, llmtest.Choice{Text: fmt.Sprintf("1. Put otherwise, %d, %d degrees", i+1, j*(i+1))})
			}
		}
		return choices
	}}
	return study.Opened{Engine: llmtest.NewScripted(script, append(p.options, llmtest.Named(m.Weights))...)}, nil
}

func (p protractor) OpenEmbeddings(_ context.Context, e study.Embeddings) (llm.Engine, error) {
	if p.embeds != nil {
		return nil, p.embeds
	}
	return turned{llmtest.NewScripted(nil, append(p.options, llmtest.Named(e.Weights))...)}, nil
}

func (protractor) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return nil, errors.New("nobody judges entailment")
}

// turned gives a text the vector of the angle that it names.
type turned struct{ *llmtest.Scripted }

func (e turned) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := e.Scripted.Do(ctx, reqs)
	for i, r := range reqs {
		var statement, degrees int
		if _, err := fmt.Sscanf(r.Prompt.Text, "Put otherwise, %d, %d degrees", &statement, &degrees); err == nil && results[i].Err == nil {
			angle := float64(degrees) * math.Pi / 180
			results[i].Reply.Embedding = []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
		}
	}
	return results
}

func calibrating(folder string, open study.Opener) study.CalibrateOptions {
	return study.CalibrateOptions{
		Folder: folder, Open: open, Premises: 8, Paraphrases: ways, Seed: 7, Embeddings: study.Embeddings{Weights: "vectors"},
		Sampler: study.Model{Name: "writer", Engine: "llamacpp", Weights: "writer.gguf", Format: "auto", Mode: "exact"},
	}
}

func TestCalibrationOfKnownCosines(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var told []int
	o := calibrating(folder, protractor{})
	o.Progress = func(done, total int) { told = append(told, done, total) }
	c, err := study.CalibrateDiversity(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var cosines []float64
	histogram := make([]int, 100)
	for i := 1; i <= 8; i++ {
		for j := range ways {
			for k := range j {
				if i != 3 {
					cos := math.Cos(float64((j-k)*i) * math.Pi / 180)
					cosines = append(cosines, cos)
					histogram[consistency.Bin(cos, 100)]++
				}
			}
		}
	}
	slices.Sort(cosines)
	if k, ok := c.K.Get(); !ok || math.Abs(k-resample.Quantile(cosines, .05)) > 1e-6 || c.K.N != len(cosines) {
		t.Errorf("k = %+v, want %v of %d pairs", c.K, resample.Quantile(cosines, .05), len(cosines))
	}
	if iv := c.K.Interval; iv == nil || iv.Lower < cosines[0]-1e-6 || iv.Upper > 1 || iv.Lower >= iv.Upper || iv.Resamples != study.DefaultResamples {
		t.Errorf("interval %+v", iv)
	}
	if !slices.Equal(c.Histogram, histogram) {
		t.Errorf("histogram %v, want %v", c.Histogram, histogram)
	}
	if c.Found != 7*ways+1 || c.Short != 1 || c.Premises != 8 || c.Sampler != "writer" || c.Embeddings != "vectors" || c.SamplerSHA256 == "" || c.EmbeddingsSHA256 == "" || !strings.Contains(c.Prompt, "paraphrases") {
		t.Errorf("%+v", c)
	}
	if len(told) == 0 || told[len(told)-2] != 8 || told[len(told)-1] != 8 {
		t.Errorf("progress %v", told)
	}
	var written consistency.Calibration
	if err := json.Unmarshal([]byte(read(t, folder, "calibration.json")), &written); err != nil || written.K.N != c.K.N || !slices.Equal(written.Histogram, histogram) {
		t.Errorf("%v: %+v", err, written)
	}
}

// childCalibrates calibrates in the folder args[0], writes the key of each call to a file beside it before it is
// answered, and dies at call number args[1].
func childCalibrates(args []string) error {
	var dieAt int64
	if _, err := fmt.Sscan(args[1], &dieAt); err != nil {
		return err
	}
	file, err := os.OpenFile(args[0]+".asked", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var made atomic.Int64
	var mu sync.Mutex
	open := noted{protractor{}, func(id llm.Identity, r llm.Request) error {
		key, err := ledger.KeyOf(id, r, 0)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if _, err := fmt.Fprintln(file, key); err != nil {
			return err
		}
		if made.Add(1) == dieAt {
			os.Exit(137)
		}
		return nil
	}}
	_, err = study.CalibrateDiversity(context.Background(), calibrating(args[0], open))
	return err
}

// noted opens the engines of a protractor that tell of each call.
type noted struct {
	protractor
	tell func(llm.Identity, llm.Request) error
}

func (n noted) telling(identity *llm.Identity) protractor {
	return protractor{options: []llmtest.Option{llmtest.Interrupted(func(_ context.Context, _ int, r llm.Request) error { return n.tell(*identity, r) })}}
}

func (n noted) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	var identity llm.Identity
	opened, err := n.telling(&identity).Open(ctx, m)
	identity = opened.Engine.Identity()
	return opened, err
}

func (n noted) OpenEmbeddings(ctx context.Context, e study.Embeddings) (llm.Engine, error) {
	var identity llm.Identity
	engine, err := n.telling(&identity).OpenEmbeddings(ctx, e)
	identity = engine.Identity()
	return engine, err
}

// A calibration that is killed again and again goes on from there: no call is made twice but those that were under
// way, and the result has the bytes of one that was left alone.
func TestKilledCalibrationsGoOn(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	if _, err := study.CalibrateDiversity(t.Context(), calibrating(whole, protractor{})); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "killed")
	claimed, kills := map[string]int{}, 0
	for _, dieAt := range []int{1, 17, 60, 12, 1 << 30} {
		cmd := child(t, "calibrate", folder, fmt.Sprint(dieAt))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil {
			break
		} else if cmd.ProcessState.ExitCode() != 137 {
			t.Fatalf("%v: %s", err, &stderr)
		}
		kills++
		for _, key := range claims(t, folder, cmd.Process.Pid) {
			claimed[key]++
		}
	}
	if kills != 4 {
		t.Errorf("%d kills before its end: the calls ran out", kills)
	}
	asked := map[string]int{}
	for line := range strings.Lines(read(t, filepath.Dir(folder), "killed.asked")) {
		asked[strings.TrimSpace(line)]++
	}
	for key, times := range asked {
		if times > 1+claimed[key] {
			t.Errorf("call %s was made %d times, and was under way %d times at a kill", key, times, claimed[key])
		}
	}
	if read(t, whole, "calibration.json") != read(t, folder, "calibration.json") {
		t.Error("the result differs from that of an undisturbed calibration")
	}
}

func TestCalibrationKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	whole, folder := t.TempDir(), t.TempDir()
	if _, err := study.CalibrateDiversity(t.Context(), calibrating(whole, protractor{})); err != nil {
		t.Fatal(err)
	}
	total := int64(calls(t, whole))
	for name, raise := range map[string]func(*study.Budget){
		"calls":  func(b *study.Budget) { b.Calls += 50 },
		"tokens": func(b *study.Budget) { b.Tokens += 3_000 },
	} {
		folder := filepath.Join(folder, name)
		o, stops := calibrating(folder, protractor{}), 0
		for {
			raise(&o.Budget)
			_, err := study.CalibrateDiversity(t.Context(), o)
			if err == nil {
				break
			}
			var spent *study.BudgetError
			if !errors.As(err, &spent) || !strings.Contains(err.Error(), "over all runs of the calibration") || stops > 100 {
				t.Fatal(err)
			}
			if o.Budget.Calls > 0 && spent.Spent.Calls != int64(o.Budget.Calls) || o.Budget.Tokens > 0 && spent.Spent.Used.Tokens() > int64(o.Budget.Tokens) {
				t.Errorf("%s: spent %v of %v", name, spent.Spent, o.Budget)
			}
			before := calls(t, folder)
			if _, err := study.CalibrateDiversity(t.Context(), o); !errors.As(err, &spent) || calls(t, folder) != before {
				t.Errorf("%s: the same budget again buys %d calls: %v", name, calls(t, folder)-before, err)
			}
			stops++
		}
		if stops < 2 || int64(calls(t, folder)) != total {
			t.Errorf("%s: %d stops, %d calls of %d", name, stops, calls(t, folder), total)
		}
		if read(t, whole, "calibration.json") != read(t, folder, "calibration.json") {
			t.Errorf("%s: another result than without a budget", name)
		}
	}
}

func TestCalibrationsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*study.CalibrateOptions)
		want   string
	}{
		"no premise":        {func(o *study.CalibrateOptions) { o.Premises = 0 }, "0 premises with 5 paraphrases; take 1 to 30"},
		"too many premises": {func(o *study.CalibrateOptions) { o.Premises = 31 }, "31 premises"},
		"one paraphrase":    {func(o *study.CalibrateOptions) { o.Paraphrases = 1 }, "2 to 1000 paraphrases"},
		"a negative budget": {func(o *study.CalibrateOptions) { o.Budget.Calls = -1 }, "a budget of -1 calls"},
		"no price":          {func(o *study.CalibrateOptions) { o.Budget.Money = 1 }, "no model has a price"},
		"no embeddings":     {func(o *study.CalibrateOptions) { o.Open = opener{} }, "this engine cannot embed"},
		"gone":              {func(o *study.CalibrateOptions) { o.Open = protractor{embeds: errors.New("is not there")} }, "embeddings vectors: is not there"},
	} {
		o := calibrating(filepath.Join(t.TempDir(), "k"), protractor{})
		c.change(&o)
		if _, err := study.CalibrateDiversity(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(o.Folder); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
	// Of a sampler that knows no other ways there are no pairs.
	o := calibrating(t.TempDir(), babbler{})
	if _, err := study.CalibrateDiversity(t.Context(), o); err == nil || !strings.Contains(err.Error(), "writer gave 0 paraphrases of 8 statements in at most 40 replies to each") || !strings.Contains(err.Error(), "take another sampler") {
		t.Error(err)
	}
}

// babbler never writes a list.
type babbler struct{ protractor }

func (babbler) Open(_ context.Context, m study.Model) (study.Opened, error) {
	return study.Opened{Engine: llmtest.NewScripted(nil, llmtest.Named(m.Weights))}, nil
}

const calibrated = `name: calibrated
models: [{name: subject, weights: w/subject.gguf}, {name: other, weights: other.gguf}]
datasets: [{name: facts, limit: 3}]
protocol: {contexts: [bare], correctness: [exact.unicode]}
embeddings: {weights: vectors.gguf}
consistency:
  samples: 2
  perturbations: [{from: model, by: subject, batch: 25}, {from: corpus}]
  diversity: calibrated
  calibration: CALIBRATION
  item_resamples: 20
analysis: {resamples: 50}
`

// A study takes the threshold from the folder of a calibration, for the model that writes and for texts that none
// writes, and says so on its card.
func TestStudiesReadCalibrations(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	o := calibrating(folder, crossed{})
	o.Sampler.Weights, o.Embeddings.Weights, o.Paraphrases = "w/subject.gguf", "vectors.gguf", 2
	c, err := study.CalibrateDiversity(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(calibrated, "CALIBRATION", folder, 1)
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: crossed{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	k, _ := c.K.Get()
	for _, f := range results.Consistency.Sources {
		if f.K != k || f.KFrom != "calibrated: subject under vectors" {
			t.Errorf("%+v, want k = %v", f, k)
		}
	}
	if len(results.Consistency.Calibrations) != 1 || !slices.Equal(results.Consistency.Calibrations[0].Histogram, c.Histogram) {
		t.Errorf("%+v", results.Consistency.Calibrations)
	}
	if card := results.Card.Markdown(); strings.Count(card, fmt.Sprintf("from a cosine of %.4f", k)) != 2 {
		t.Error("the card does not state the threshold of both sources")
	}
	asked := 0
	counting := crossed{options: []llmtest.Option{llmtest.Interrupted(func(context.Context, int, llm.Request) error { asked++; return nil })}}
	for change, want := range map[[2]string]string{
		{"by: subject", "by: other"}:                      `s.yaml:10:16: the source "model" needs a calibration of the sampler other under vectors, and FOLDER has that of subject under vectors; run "credence calibrate-diversity --study s.yaml --sampler other"`,
		{"vectors.gguf", "others.gguf"}:                   "needs a calibration of the sampler subject under others, and FOLDER has that of subject under vectors",
		{"  calibration: FOLDER\n", ""}:                   `needs a calibration of the sampler subject under vectors, and the program carries that of qwen2.5-coder-0.5b-instruct under all-minilm-l6-v2`,
		{"calibration: FOLDER", "calibration: FOLDER/no"}: "FOLDER/no: cannot be read",
		{"calibration: FOLDER", "calibration: s"}:         `name a file that "credence calibrate-diversity" wrote`,
		{"{from: corpus}", "{from: corpus, file: gone}"}:  "gone: cannot be read",
	} {
		replace := func(s string) string { return strings.ReplaceAll(s, "FOLDER", folder) }
		wrong := strings.Replace(text, replace(change[0]), replace(change[1]), 1)
		_, _, err := study.Run(t.Context(), parse(t, wrong), study.Options{Folder: t.TempDir(), Open: counting, Version: "test"})
		if err == nil || !strings.Contains(err.Error(), replace(want)) {
			t.Errorf("%v:\n%v\nwant %s", change, err, replace(want))
		}
	}
	// Other weights of the same name are told by their checksum.
	for from, want := range map[string]string{"w/subject.gguf": "other weights of the name subject than", "vectors.gguf": "other weights of the name vectors than"} {
		wrong := strings.Replace(text, from, "elsewhere/"+filepath.Base(from), 1)
		if _, _, err := study.Run(t.Context(), parse(t, wrong), study.Options{Folder: t.TempDir(), Open: renamed{counting}, Version: "test"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if asked > 0 {
		t.Errorf("%d calls were made before it was refused", asked)
	}
}

// renamed embeds by the weights that it is told.
type renamed struct{ crossed }

func (r renamed) OpenEmbeddings(_ context.Context, e study.Embeddings) (llm.Engine, error) {
	name := e.Weights
	if name == "vectors.gguf" {
		name = "embeddings"
	}
	return llmtest.NewScripted(nil, append(r.options, llmtest.Named(name))...), nil
}
