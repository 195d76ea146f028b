package quantify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

var numbers = cmp.Comparer(func(a, b record.Number) bool { return a == b })

func TestParseGuesses(t *testing.T) {
	t.Parallel()
	known, absent := record.Known, record.Absent
	for name, c := range map[string]struct {
		reply string
		want  quantify.Guesses
	}{
		"plain": {"G1: Paris\nP1: 0.8\nG2: Lyon\nP2: .15", quantify.Guesses{List: []quantify.Guess{
			{"Paris", known(.8)}, {"Lyon", known(.15)}}}},
		"decorated": {"Here are my guesses:\r\n- **G1:** Paris \r\n- **P1:** 80%\r\n* g2 : Lyon: the city\n* p2 : 15 %\n", quantify.Guesses{List: []quantify.Guess{
			{"Paris", known(.8)}, {"Lyon: the city", known(.15)}}}},
		"in any order": {"P2: 0.1\nG2: b\nP1: 1\nG1: a", quantify.Guesses{List: []quantify.Guess{
			{"a", known(1)}, {"b", known(.1)}}}},
		"no probability":         {"G1: a", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.NoProbability)}}}},
		"range":                  {"G1: a\nP1: 0.7-0.8", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.MalformedProbability)}}}},
		"words":                  {"G1: a\nP1: very sure (0.9)", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.MalformedProbability)}}}},
		"exponent":               {"G1: a\nP1: 1e-1", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.MalformedProbability)}}}},
		"negative":               {"G1: a\nP1: -0.1", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.MalformedProbability)}}}},
		"above 1":                {"G1: a\nP1: 90", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.OutOfRange)}}}},
		"above 100 %":            {"G1: a\nP1: 110%", quantify.Guesses{List: []quantify.Guess{{"a", absent(record.OutOfRange)}}}},
		"twice":                  {"G1: a\nP1: .5\nG1: b", quantify.Guesses{Missing: quantify.MalformedGuesses}},
		"probability of nothing": {"G1: a\nP1: .5\nP2: .5", quantify.Guesses{Missing: quantify.MalformedGuesses}},
		"empty guess":            {"G1:\nP1: .5", quantify.Guesses{Missing: quantify.MalformedGuesses}},
		"zero":                   {"G0: a\nP0: .5", quantify.Guesses{Missing: quantify.MalformedGuesses}},
		"too many":               {"G101: a", quantify.Guesses{Missing: quantify.MalformedGuesses}},
		"inside a line":          {"I say G1: a", quantify.Guesses{Missing: record.NoAnswer}},
		"nothing":                {"", quantify.Guesses{Missing: record.NoAnswer}},
	} {
		if diff := cmp.Diff(c.want, quantify.ParseGuesses(c.reply, false), numbers); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if g := quantify.ParseGuesses("G1: Paris\nP1: 0.", true); g.Missing != quantify.GuessesCutOff {
		t.Errorf("cut off: %+v", g)
	}
}

func TestParsePhrase(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]record.Number{
		"Highly likely":                          record.Known(.9),
		"Confidence: **Almost Certain**.":        record.Known(.95),
		"highly\nunlikely":                       record.Known(.05),
		"UNLIKELY":                               record.Known(.2),
		"Probably not":                           record.Known(.265),
		"It is likely, as I said: likely.":       record.Known(.7),
		"likely and probable":                    record.Known(.7), // the same by what people mean
		"almost no chance":                       record.Known(.02),
		"likely, but perhaps unlikely":           record.Absent(quantify.AmbiguousPhrase),
		"not likely":                             record.Absent(quantify.AmbiguousPhrase),
		"isn't likely":                           record.Absent(quantify.AmbiguousPhrase),
		"the likelihood is improbably high":      record.Absent(record.NoProbability),
		"":                                       record.Absent(record.NoProbability),
		"0.9":                                    record.Absent(record.NoProbability),
		"chances":                                record.Absent(record.NoProbability),
		"We believe it, and about even we doubt": record.Absent(quantify.AmbiguousPhrase),
	} {
		if got := quantify.ParsePhrase(reply); got != want {
			t.Errorf("%q: %+v, want %+v", reply, got, want)
		}
	}
}

func TestEveryPhraseIsRead(t *testing.T) {
	t.Parallel()
	last := 1.0
	for _, p := range quantify.Phrases() {
		if got, ok := quantify.ParsePhrase(strings.ToUpper(p.Text)).Get(); !ok || got != p.Probability {
			t.Errorf("%q is read as %v", p.Text, got)
		}
		if p.Probability > last {
			t.Errorf("%q is surer than the one before", p.Text)
		}
		last = p.Probability
	}
}

func TestGuessesWithoutProbability(t *testing.T) {
	t.Parallel()
	e := hand()
	e.Guesses.List[0].Probability = record.Absent(record.NoProbability) // not the answer
	if got := value(t, "verbalised-confidence.top-k", e); got != .3 {
		t.Errorf("as stated: %v", got)
	}
	n, err := quantify.VerbalisedTopK(quantify.SumToOne).Of(e)
	if err != nil || n.Missing() != record.NoProbability {
		t.Errorf("to the sum 1: %+v, %v", n, err)
	}
	e.Guesses.List = []quantify.Guess{{Text: "x y", Probability: record.Known(0)}}
	if n, err = quantify.VerbalisedTopK(quantify.SumToOne).Of(e); err != nil || n.Missing() != quantify.NotFinite {
		t.Errorf("0 of 0: %+v, %v", n, err)
	}
}

func FuzzParseGuesses(f *testing.F) {
	f.Add("G1: Paris\nP1: 0.8\nG2: Lyon\nP2: 15%", false)
	f.Add("**G1**: a\n- p1: 1.0\n", true)
	f.Fuzz(func(t *testing.T, reply string, truncated bool) {
		g := quantify.ParseGuesses(reply, truncated)
		if (g.List == nil) == (g.Missing == record.Present) || len(g.List) > 100 {
			t.Fatalf("%+v", g)
		}
		for _, guess := range g.List {
			if p, ok := guess.Probability.Get(); guess.Text == "" || (ok && !(p >= 0 && p <= 1)) || (!ok && guess.Probability.Missing() == record.Present) {
				t.Fatalf("%+v", guess)
			}
		}
	})
}

func FuzzParsePhrase(f *testing.F) {
	f.Add("Confidence: highly likely")
	f.Fuzz(func(t *testing.T, reply string) {
		n := quantify.ParsePhrase(reply)
		if p, ok := n.Get(); (ok && !(p > 0 && p < 1)) || (!ok && n.Missing() == record.Present) {
			t.Fatalf("%+v", n)
		}
	})
}
