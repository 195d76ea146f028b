package judge

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/credence-lab/credence/record"
	"pgregory.net/rapid"
)

// golden is a line of testdata/text.jsonl: normal forms and verdicts computed apart from this
// package, by Python's str methods.
type golden struct {
	Prediction, Reference string
	Normal                [2]string
	Exact                 bool
	// GoldInPrediction is one half of containment; null where the reference normalises to nothing.
	GoldInPrediction *bool `json:"gold_in_prediction"`
}

func TestGoldenASCII(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/text.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compared := 0
	for dec := json.NewDecoder(file); dec.More(); {
		var g golden
		if err := dec.Decode(&g); err != nil {
			t.Fatal(err)
		}
		for i, s := range []string{g.Prediction, g.Reference} {
			if got := ASCII.Normalise(s); g.Normal[i] != "" && got != g.Normal[i] {
				t.Errorf("normal form of %q: got %q, want %q", s, got, g.Normal[i])
			}
		}
		if g.Normal[0] == "" || g.Normal[1] == "" {
			continue // There this package departs on purpose: see the tests below.
		}
		compared++
		if got := New(Exact, ASCII).Match(g.Prediction, g.Reference); got != g.Exact {
			t.Errorf("exact, %q with %q: got %v", g.Prediction, g.Reference, got)
		}
		contains := *g.GoldInPrediction || strings.Contains(g.Normal[1], g.Normal[0])
		if got := New(Containment, ASCII).Match(g.Prediction, g.Reference); got != contains {
			t.Errorf("containment, %q with %q: got %v", g.Prediction, g.Reference, got)
		}
	}
	if compared < 50 {
		t.Errorf("only %d golden cases compared", compared)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	const (
		none  = ""
		both  = "containment exact"
		holds = "containment"
	)
	for _, test := range []struct {
		answer, reference string
		ascii, unicode    string // which rules match
	}{
		// Containment goes both ways; exact does not care about case and punctuation.
		{"the Eiffel Tower", "Eiffel Tower", holds, holds},
		{"Tower", "Eiffel Tower", holds, holds},
		{"eiffel-tower!", "Eiffel Tower", both, both},
		{"Big Ben", "Eiffel Tower", none, none},
		{"art", "Mozart", holds, holds}, // characters, not words

		// An option letter or a blood group is not an article, and keeps its text.
		{"B", "A", none, none},
		{"A", "A", both, both},

		// What normalises to nothing keeps its text, so that it equals itself and nothing else.
		{"!!!", "!!!", both, both},
		{"?!", "#", none, none},
		{"", "", none, none},
		{"x", "?", none, none},
		{"北京", "北京", both, both},
		{"北京", "東京", none, none},
		{"北京市", "北京", holds, holds},
		{"Москва", "МОСКВА", both, both},
		{"Москва!", "Москва", holds, both}, // under ascii both keep their text, the mark too

		// Blanks around a reference are no difference.
		{"Paris", " Paris", both, both},
		{"  ", "Paris", none, none},

		// Canonically equal texts are equal under unicode; the ascii rule knows neither.
		{"Z\u00fcrich", "Zu\u0308rich", none, both},
		{"caf\u00e9", "cafe\u0301", holds, both}, // "caf" is in "cafe"
		{"se\u00f1or", "sen\u0303or", none, both},
		{"Zurich", "Z\u00fcrich", none, none},

		{"Stra\u00dfe", "STRASSE", none, both},
		{"ΟΔΥΣΣΕΥΣ", "Οδυσσευς", none, both},         // a final sigma
		{"ꭰꭱ", "ᎠᎡ", both, both},                     // Cherokee, in which the small letters came later
		{"co\u00adoperate", "cooperate", none, both}, // a soft hyphen
		{"किताब", "किताब।", holds, both},
	} {
		for norm, want := range map[Normaliser]string{ASCII: test.ascii, Unicode: test.unicode} {
			for _, rule := range []Rule{Containment, Exact} {
				j := New(rule, norm)
				if got := j.Match(test.answer, test.reference); got != strings.Contains(want, string(rule)) {
					t.Errorf("%s, %q with %q: got %v", j.ID(), test.answer, test.reference, got)
				}
			}
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	id := record.AnswerID{Item: "q1", Origin: record.Origin{Source: record.Generated}}
	for _, test := range []struct {
		name       string
		answer     record.Answer
		references []string
		verdict    record.Verdict
		missing    record.Missing
	}{
		{"canonical", record.Answer{Text: "Paris"}, []string{"Paris", "City of Light"}, record.Correct, ""},
		{"any reference", record.Answer{Text: "city of light"}, []string{"Paris", "City of Light"}, record.Correct, ""},
		{"wrong", record.Answer{Text: "Lyon"}, []string{"Paris", "City of Light"}, record.Incorrect, ""},
		{"blank references are passed over", record.Answer{Text: "Paris"}, []string{"", " ", "Paris"}, record.Correct, ""},
		{"a blank reference is in nothing", record.Answer{Text: "Lyon"}, []string{"", "Paris"}, record.Incorrect, ""},
		{"no references", record.Answer{Text: "Paris"}, nil, record.NotJudged, record.NoReference},
		{"blank references only", record.Answer{Text: "Paris"}, []string{"", "\t"}, record.NotJudged, record.NoReference},
		{"no answer", record.Answer{Missing: record.UnclosedThinking}, []string{"Paris"}, record.NotJudged, record.AnswerMissing},
		{"blank answer", record.Answer{Text: " \n"}, []string{"Paris"}, record.NotJudged, record.EmptyAnswer},
		{"sign for an answer", record.Answer{Text: "?"}, []string{"Paris"}, record.Incorrect, ""},
	} {
		test.answer.ID = id
		for _, j := range All() {
			want := record.Judgement{Answer: id, Judge: j.ID(), Verdict: test.verdict, Missing: test.missing}
			if got := j.Judge(test.answer, test.references); got != want {
				t.Errorf("%s, %s:\ngot  %+v\nwant %+v", test.name, j.ID(), got, want)
			}
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"containment.ascii", "containment.unicode", "exact.ascii", "exact.unicode"} {
		if j, err := Named(id); err != nil || j.ID() != id {
			t.Errorf("%s: %v, %v", id, j, err)
		}
	}
	if _, err := Named("contains"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "containment.ascii") {
		t.Errorf("an unknown judge is not answered with the known ones: %v", err)
	}
}

// texts are made of pieces that tempt a normaliser: marks that compose, letters that fold to several,
// characters that vanish, bytes that are no character.
var texts = rapid.Map(rapid.SliceOf(rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", "B", "e", "\u0301", "\u0345", "\u1fb3", "ß", "ς", "Σ", "İ", "ı", "ŉ", "ﬁ", "K", "Å", "\u00ad", "\u200d", "\ufeff",
		" ", "\u00a0", "\u2028", ".", "?", "ü", "한", "\u1112\u1161\u11ab", "東", "ा", "\xff", "½", "7", "٣",
	}),
	rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
)), func(parts []string) string { return strings.Join(parts, "") })

func TestNormaliseProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "s")
		for _, n := range []Normaliser{ASCII, Unicode} {
			out := n.Normalise(s)
			if again := n.Normalise(out); again != out {
				t.Fatalf("%s: %+q becomes %+q, and that %+q", n, s, out, again)
			}
			if out != strings.Join(strings.Fields(out), " ") {
				t.Fatalf("%s: %+q becomes %+q, whose blanks are not merged", n, s, out)
			}
		}
	})
}

func TestRulesAreSymmetricAndExactIsStricter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		for _, n := range []Normaliser{ASCII, Unicode} {
			exact, contains := New(Exact, n), New(Containment, n)
			if exact.Match(a, b) != exact.Match(b, a) || contains.Match(a, b) != contains.Match(b, a) {
				t.Fatalf("%s: %+q with %+q depends on the order", n, a, b)
			}
			if exact.Match(a, b) && !contains.Match(a, b) {
				t.Fatalf("%s: %+q with %+q is exact but not contained", n, a, b)
			}
			if n.Normalise(a) != "" && !exact.Match(a, a) {
				t.Fatalf("%s: %+q does not match itself", n, a)
			}
		}
	})
}

func BenchmarkContainment(b *testing.B) {
	for _, n := range []Normaliser{ASCII, Unicode} {
		j := New(Containment, n)
		answer := record.Answer{Text: "The Eiffel Tower, in Paris"}
		references := []string{"Notre-Dame de Paris", "Sacré-Cœur", "Eiffel Tower"}
		b.Run(n.String(), func(b *testing.B) {
			for b.Loop() {
				if j.Judge(answer, references).Verdict != record.Correct {
					b.Fatal("not correct")
				}
			}
		})
	}
}

// TestAnswerText: an imported judgement is of the same text in either encoding, and of no other.
func TestAnswerText(t *testing.T) {
	t.Parallel()
	for text, same := range map[string]bool{"Zürich": true, " Zu\u0308rich\n": true, "\u00a0Zürich": true, "zürich": false, "Zurich": false, "Zürich.": false, "": false} {
		if got := AnswerText(text) == AnswerText("Zürich"); got != same {
			t.Errorf("%q is the same: %v", text, got)
		}
	}
}
