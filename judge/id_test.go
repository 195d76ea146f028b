package judge

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/credence-lab/credence/record"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]ID{
		"exact-match":                {Judge: "exact-match"},
		"containment.ascii":          {Judge: "containment.ascii"},
		"token-f1@0.3":               {Judge: "token-f1", Cut: Cut{.3, Above}},
		"rouge-l.stem@0.5.inclusive": {Judge: "rouge-l.stem", Cut: Cut{.5, AtLeast}},
		"embedding@-0.25":            {Judge: "embedding", Cut: Cut{-.25, Above}},
		"bleu.method5@1.05":          {Judge: "bleu.method5", Cut: Cut{1.05, Above}},
		"token-f1@0":                 {Judge: "token-f1", Cut: Cut{0, Above}},
		"token-f1@1":                 {Judge: "token-f1", Cut: Cut{1, Above}},
		"llm:qwen-0.5b":              {Judge: "llm", Name: "qwen-0.5b"},
		"llm:qwen-0.5b@0.8":          {Judge: "llm", Name: "qwen-0.5b", Cut: Cut{.8, Above}},
		"panel-majority:qwen+llama":  {Judge: "panel-majority", Name: "qwen+llama"},
		"people":                     {Judge: "people"},
		"people:ann":                 {Judge: "people", Name: "ann"},
	} {
		got, err := ParseID(s)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", s, got, err)
		}
		if got.String() != s {
			t.Errorf("%s is written %s", s, got)
		}
	}
	// Other spellings of a threshold are the same judge.
	for s, want := range map[string]string{"token-f1@.30": "token-f1@0.3", "token-f1@3e-1": "token-f1@0.3", "token-f1@-0": "token-f1@0"} {
		if got, err := ParseID(s); err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", s, got, err, want)
		}
	}
}

func TestWrongIDsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for s, says := range map[string]string{
		"rouge-L":           `did you mean "rouge-l"`,
		"tokenf1@0.3":       `did you mean "token-f1"`,
		"oracle":            "the judges are containment.ascii",
		"token-f1":          `such as "token-f1@0.3"`,
		"exact-match@0.3":   "takes no threshold",
		"token-f1@":         "is no number",
		"token-f1@x":        "is no number",
		"token-f1@0x1p-2":   "is no number",
		"token-f1@NaN":      "is no number",
		"token-f1@inf":      "lie from 0 to 1",
		"token-f1@1.1":      "lie from 0 to 1",
		"token-f1@-0.1":     "lie from 0 to 1",
		"llm":               `such as "llm:mine"`,
		"llm:":              `such as "llm:mine"`,
		"llm:a:b":           "may hold neither",
		"token-f1:qwen@0.3": "takes no name",
		"people:":           "takes no name",
		"":                  "the judges are",
	} {
		_, err := ParseID(s)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", s, err, says)
		}
	}
	if _, err := ParseID("oracle"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown judge: %v", err)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	const correct, incorrect, none = record.Correct, record.Incorrect, record.NotJudged
	for _, test := range []struct {
		cut     Cut
		score   record.Number
		verdict record.Verdict
		missing record.Missing
	}{
		{Cut{.3, Above}, record.Known(.3), incorrect, ""}, // correct is what surpasses
		{Cut{.3, AtLeast}, record.Known(.3), correct, ""},
		{Cut{.3, Above}, record.Known(math.Nextafter(.3, 1)), correct, ""},
		{Cut{.3, AtLeast}, record.Known(math.Nextafter(.3, 0)), incorrect, ""},
		{Cut{0, Above}, record.Known(0), incorrect, ""},
		{Cut{}, record.Known(.5), none, TiedVerdict},
		{Cut{}, record.Known(.51), correct, ""},
		{Cut{}, record.Known(.49), incorrect, ""},
		{Cut{.3, Above}, record.Absent(NoWords), none, NoWords},
		{Cut{}, record.Absent(NoWords), none, NoWords},
	} {
		if v, why := test.cut.Verdict(test.score); v != test.verdict || why != test.missing {
			t.Errorf("%+v of %+v: got %s (%s)", test.cut, test.score, v, why)
		}
	}
}

func TestRegistryIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range Registry() {
		if seen[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		seen[e.ID] = true
		if e.Title == "" || e.Definition == "" || e.Source == "" || len(e.Needs) == 0 {
			t.Errorf("%s lacks words: %+v", e.ID, e)
		}
		if scored := e.High > e.Low; scored == (e.Cut == NeverCut) {
			t.Errorf("%s: range %g to %g, threshold %d", e.ID, e.Low, e.High, e.Cut)
		}
		s := e.ID
		if e.Named {
			s += ":x"
		}
		if e.Cut == MustCut {
			s += "@0.3"
		}
		if id, err := ParseID(s); err != nil || id.String() != s || id.Entry().ID != e.ID {
			t.Errorf("%s: %v, %v", s, id, err)
		}
	}
	for _, j := range All() { // the first paper's judges have the same verdicts here
		if !seen[j.ID()] {
			t.Errorf("%s is not in the registry", j.ID())
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{"token-f1@0.3", "llm:qwen@.8.inclusive", "people:", "bleu.method7@1e-3", "@:", "rouge-l@-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err != nil {
			return
		}
		if again, err := ParseID(id.String()); err != nil || again != id {
			t.Fatalf("%q is %+v, written %q, read as %+v, %v", s, id, id, again, err)
		}
	})
}
