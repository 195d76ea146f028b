package judge

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// overlapCase is a line of testdata/overlap.jsonl: values by rouge_score 0.1.2, nltk 3.10.4, sacrebleu 2.6.0,
// and SQuAD's rule
// in Python. References has one element but in the cases for several.
type overlapCase struct {
	Name, Prediction string
	References       []string
	ExactMatch       *bool                 `json:"exact_match"`
	ExactSQuAD       *bool                 `json:"exact_squad"`
	SQuAD            []string              `json:"squad"`
	F1SQuAD2         float64               `json:"f1_squad_2"`
	F1SQuAD1         float64               `json:"f1_squad_1"`
	TokenF1          [3]float64            `json:"token_f1"`
	Rouge            map[string][3]float64 `json:"rouge"`
	RougeStem        map[string][3]float64 `json:"rouge_stem"`
	RougeLsum        [3]float64            `json:"rouge_lsum"`
	BLEU             map[string]*float64   `json:"bleu"`           // null where nltk raises
	ContainsWords    *bool                 `json:"contains_words"` // reference in prediction, ASCII; null without a word
	SacreBLEU        float64               `json:"sacrebleu"`
	SacreBLEULower   *float64              `json:"sacrebleu_lower"`
	Max              map[string]float64    `json:"max"`
}

func overlapCases(t *testing.T) []overlapCase {
	t.Helper()
	file, err := os.Open("testdata/overlap.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var cases []overlapCase
	for dec := json.NewDecoder(file); dec.More(); {
		var c overlapCase
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) < 60 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// TestGoldenOverlap wants the bits of the libraries: at a score that equals a threshold the last bit decides.
func TestGoldenOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range overlapCases(t) {
		if c.Rouge == nil {
			continue
		}
		answer, reference := c.Prediction, c.References[0]
		check := func(what string, got overlap.Score, want [3]float64) {
			t.Helper()
			if got != (overlap.Score{Precision: want[0], Recall: want[1], F1: want[2]}) {
				t.Errorf("case %s, %s: got %v, want %v", c.Name, what, got, want)
			}
		}
		for stem, want := range map[bool]map[string][3]float64{false: c.Rouge, true: c.RougeStem} {
			check("ROUGE-1", RougeN(answer, reference, 1, stem), want["rouge1"])
			check("ROUGE-2", RougeN(answer, reference, 2, stem), want["rouge2"])
			check("ROUGE-L", RougeL(answer, reference, stem), want["rougeL"])
		}
		check("token F1", overlap.Bag(text.Lowercase.Words(answer), text.Lowercase.Words(reference)), c.TokenF1)

		a, r := text.SQuAD.Words(answer), text.SQuAD.Words(reference)
		for i, words := range [][]string{a, r} {
			if got := strings.Join(words, " "); c.SQuAD != nil && got != c.SQuAD[i] {
				t.Errorf("case %s: SQuAD's form %q, want %q", c.Name, got, c.SQuAD[i])
			}
		}
		if got := slices.Equal(a, r); got != *c.ExactSQuAD {
			t.Errorf("case %s: SQuAD's exact match is %v", c.Name, got)
		}
		ascii := [2][]string{strings.Fields(asciiForm(answer)), strings.Fields(asciiForm(reference))}
		if want := c.ContainsWords; want != nil && holds(ascii[0], ascii[1]) != *want {
			t.Errorf("case %s: words contained: want %v", c.Name, *want)
		}
		if got := overlap.Bag(a, r).F1; got != c.F1SQuAD1 {
			t.Errorf("case %s: SQuAD 1.1's F1 is %v, want %v", c.Name, got, c.F1SQuAD1)
		}
	}
}

func TestGoldenBLEU(t *testing.T) {
	t.Parallel()
	for _, c := range overlapCases(t) {
		answer, references := text.Whitespace.Words(c.Prediction), make([][]string, len(c.References))
		for i, r := range c.References {
			references[i] = text.Whitespace.Words(r)
		}
		for method, want := range c.BLEU {
			b, ok := bleuNamed(method)
			if !ok {
				t.Fatalf("no method %s", method)
			}
			got, known := b.Of(answer, references).Get()
			switch {
			case want == nil:
				if why := b.Of(answer, references).Missing(); why != ShortForSmoothing {
					t.Errorf("case %s, %s: got %v, want none", c.Name, method, got)
				}
			case !known || math.Abs(got-*want) > 1e-13*math.Abs(*want):
				t.Errorf("case %s, %s: got %v, want %v", c.Name, method, got, *want)
			}
		}
	}
}

func bleuNamed(method string) (BLEU, bool) {
	switch digit, isMethod := strings.CutPrefix(method, "method"); {
	case method == "none_default":
		return BLEU{}, true
	case method == "method1_auto_reweigh":
		return BLEU{AddEpsilon, true}, true
	case isMethod:
		n, err := strconv.Atoi(digit)
		return BLEU{Smoothing: Smoothing(n)}, err == nil
	}
	return BLEU{}, false
}

// TestGoldenJudges holds the judges of the registry to the same values, several references included.
func TestGoldenJudges(t *testing.T) {
	t.Parallel()
	for _, c := range overlapCases(t) {
		want := c.Max
		if want == nil {
			want = map[string]float64{
				"token-f1": c.TokenF1[2], "token-f1.squad": c.F1SQuAD2, "token-f1.squad-1.1": c.F1SQuAD1,
				"rouge-1": c.Rouge["rouge1"][2], "rouge-2": c.Rouge["rouge2"][2], "rouge-l": c.Rouge["rougeL"][2],
				"rouge-1.stem": c.RougeStem["rouge1"][2], "rouge-2.stem": c.RougeStem["rouge2"][2], "rouge-l.stem": c.RougeStem["rougeL"][2],
				"rouge-lsum":  c.RougeLsum[2],
				"exact-match": number(*c.ExactMatch), "exact-match.squad": number(*c.ExactSQuAD),
			}
		}
		want["bleu.sacrebleu"] = c.SacreBLEU / 100
		if c.SacreBLEULower != nil {
			want["bleu.sacrebleu.lower"] = *c.SacreBLEULower / 100
		}
		for method, x := range c.BLEU {
			id := "bleu." + method
			switch method {
			case "none_default", "method0":
				id = "bleu"
			case "method1_auto_reweigh":
				id = "bleu.method1.reweighed"
			}
			if x != nil {
				want[id] = *x
			}
		}
		var ids []string
		for id := range want {
			if entry(t, id).Cut == MustCut {
				id += "@0.5"
			}
			ids = append(ids, id)
		}
		set, err := NewSet(ids...)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range set.Scores(record.Answer{Text: c.Prediction}, record.Item{References: c.References}) {
			got, known := s.Value.Get()
			if !known {
				// Where one side is blank, or has letters that ROUGE does not read, this package says so.
				blank := strings.TrimSpace(c.Prediction) == "" || strings.TrimSpace(c.References[0]) == ""
				foreign := strings.HasPrefix(s.Judge, "rouge-") && s.Value.Missing() == NoWords && want[s.Judge] == 0
				if !blank && !foreign {
					t.Errorf("case %s, %s: missing (%s), want %v", c.Name, s.Judge, s.Value.Missing(), want[s.Judge])
				}
				continue
			}
			if math.Abs(got-want[s.Judge]) > 1e-13*want[s.Judge] {
				t.Errorf("case %s, %s: got %v, want %v", c.Name, s.Judge, got, want[s.Judge])
			}
		}
	}
}

func entry(t *testing.T, id string) Entry {
	t.Helper()
	for _, e := range Registry() {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("no judge %s", id)
	return Entry{}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
