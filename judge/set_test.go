package judge

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/record"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// textIDs are all judges that need texts alone, scores at a threshold.
func textIDs() (ids []string) {
	for _, e := range Registry() {
		switch {
		case !e.FromText():
		case e.Cut == MustCut:
			ids = append(ids, e.ID+"@0.5")
		default:
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func textSet(t interface{ Fatal(...any) }) *Set {
	set, err := NewSet(textIDs()...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func scores(set *Set, answer string, references ...string) map[string]record.Number {
	out := map[string]record.Number{}
	for _, s := range set.Scores(record.Answer{Text: answer}, record.Item{References: references}) {
		out[s.Judge] = s.Value
	}
	return out
}

var numbersAlike = cmp.AllowUnexported(record.Number{})

func TestOnePassGivesWhatEachThresholdGives(t *testing.T) {
	t.Parallel()
	ids := append(append(Grid("token-f1"), Grid("rouge-l.stem")...), "bleu.method2@0.3", "exact-match", "token-f1@0.5.inclusive")
	set, err := NewSet(ids...)
	if err != nil {
		t.Fatal(err)
	}
	answer := record.Answer{Text: "the Danube", ID: record.AnswerID{Item: "q"}}
	item := record.Item{References: []string{"Donau", "Danube"}}
	outcomes := set.Outcomes([]Outcome{{}}, answer, item)[1:]
	correct := map[string]int{}
	for i, got := range set.Judge(answer, item) {
		one, err := NewSet(ids[i])
		if err != nil {
			t.Fatal(err)
		}
		if want := one.Judge(answer, item)[0]; got != want {
			t.Errorf("%s: together %+v, alone %+v", ids[i], got, want)
		}
		if (outcomes[i] != Outcome{got.Verdict, got.Missing}) {
			t.Errorf("%s: %+v, without names %+v", ids[i], got, outcomes[i])
		}
		if judge, _, _ := strings.Cut(got.Judge, "@"); got.Verdict == record.Correct {
			correct[judge]++
		}
	}
	// P is 1/2, R 1, F1 2/3, which surpasses .1 to .6. BLEU with 1 added is 1/2 from p1 to p4.
	if diff := cmp.Diff(map[string]int{"token-f1": 7, "rouge-l.stem": 6, "bleu.method2": 1}, correct); diff != "" {
		t.Errorf("thresholds at which it is correct (-want +got):\n%s", diff)
	}
}

func TestNewSetRefusesWhatItCannotJudge(t *testing.T) {
	t.Parallel()
	for ids, says := range map[string]string{
		"llm:qwen":                   "needs [references language model]",
		"embedding@0.7":              "needs [references embeddings]",
		"exact-match exact-match":    "given twice",
		"token-f1@0.3 token-f1@0.30": "given twice",
		"exact-matsch":               `did you mean "exact-match"`,
	} {
		if _, err := NewSet(strings.Fields(ids)...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", ids, err, says)
		}
	}
}

func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	set := textSet(t)
	for _, test := range []struct {
		answer     record.Answer
		references []string
		want       record.Missing
	}{
		{record.Answer{Missing: record.UnclosedThinking}, []string{"x"}, record.AnswerMissing},
		{record.Answer{Text: " \u200b\n"}, []string{"x"}, record.EmptyAnswer},
		{record.Answer{Text: "x"}, nil, record.NoReference},
		{record.Answer{Text: "x"}, []string{"", " \ufeff"}, record.NoReference},
	} {
		test.answer.ID.Item = "q"
		for i, j := range set.Judge(test.answer, record.Item{References: test.references}) {
			want := record.Judgement{Answer: test.answer.ID, Judge: set.IDs()[i], Missing: test.want}
			if j != want {
				t.Errorf("got %+v, want %+v", j, want)
			}
		}
		for _, s := range set.Scores(test.answer, record.Item{References: test.references}) {
			if s.Value != record.Absent(test.want) {
				t.Errorf("%s: %+v, want %s", s.Judge, s.Value, test.want)
			}
		}
	}
}

func TestScoresByHand(t *testing.T) {
	t.Parallel()
	set := textSet(t)
	const answer, reference = "the cats sat", "A cat sat down"
	got := scores(set, answer, reference)
	for id, want := range map[string]float64{
		"token-f1":       2. * (1. / 3) * (1. / 4) / (1./3 + 1./4), // sat
		"token-f1.squad": .4,                                       // cats, sat; cat, sat, down
		"rouge-1":        2. * (1. / 3) * (1. / 4) / (1./3 + 1./4),
		"rouge-1.stem":   2. * (2. / 3) * (2. / 4) / (2./3 + 2./4), // cat, sat
		"rouge-2":        0,
		"rouge-2.stem":   .4, // cat sat: 1 of 2, 1 of 3
		"rouge-l.stem":   2. * (2. / 3) * (2. / 4) / (2./3 + 2./4),
		// p1 1/3, then 1/(2·2), 1/(4·1), 1/(8·1); three words beside four.
		"bleu.method3": math.Exp(1-4./3) * math.Pow(1./3/4/4/8, .25),
	} {
		if x, ok := got[id].Get(); !ok || math.Abs(x-want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", id, x, want)
		}
	}
}

func TestOtherScripts(t *testing.T) {
	t.Parallel()
	set := textSet(t)
	for _, test := range []struct {
		answer, reference string
		want              map[string]record.Number
	}{
		{"北京", "北京市", map[string]record.Number{
			"rouge-l": record.Absent(NoWords), "rouge-l.stem": record.Absent(NoWords),
			"rouge-l.unicode": record.Known(.8), "token-f1.unicode": record.Known(.8), // two of two and of three
			"token-f1": record.Known(0), "containment.words": record.Known(1), "exact-match": record.Known(0),
		}},
		{"МОСКВА!", "Москва", map[string]record.Number{
			"rouge-1": record.Absent(NoWords), "rouge-1.unicode": record.Known(1), "token-f1.unicode": record.Known(1),
			"token-f1": record.Known(0), "exact.unicode": record.Known(1),
		}},
		// One side in letters that ROUGE reads is not enough.
		{"北京", "Beijing", map[string]record.Number{"rouge-l": record.Absent(NoWords), "rouge-l.unicode": record.Known(0)}},
		{"Beijing", "北京", map[string]record.Number{"rouge-l": record.Absent(NoWords)}},
		// Signs are no letters: there is nothing that ROUGE could have read.
		{"?!", "Paris", map[string]record.Number{"rouge-l": record.Known(0), "token-f1.unicode": record.Known(0)}},
		{"٤٢", "42", map[string]record.Number{"number": record.Known(1), "exact-match.number": record.Known(1)}},
	} {
		got := scores(set, test.answer, test.reference)
		for id, want := range test.want {
			if diff := cmp.Diff(want, got[id], numbersAlike); diff != "" {
				t.Errorf("%s, %q with %q (-want +got):\n%s", id, test.answer, test.reference, diff)
			}
		}
	}
}

var symmetric = []string{
	"containment.ascii", "containment.unicode", "exact.ascii", "exact.unicode", "containment.words", "exact-match",
	"exact-match.nfc", "exact-match.squad", "exact-match.number", "number.percent", "token-f1", "token-f1.squad",
	"token-f1.squad-1.1", "token-f1.unicode", "rouge-1", "rouge-2", "rouge-l", "rouge-1.stem", "rouge-2.stem", "rouge-l.stem",
	"rouge-1.unicode", "rouge-2.unicode", "rouge-l.unicode",
}

// phrases have words in common, and pieces that tempt a normaliser.
var phrases = rapid.OneOf(texts, rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
	"the", "a", "cat", "cats", "sat", "東京", "Zürich", "1,000", "-6", "60%", "2.75", "(", ")", ",", "U.S.", "####", "answer:",
}), 1, 8), func(words []string) string { return strings.Join(words, " ") }))

func TestScoreProperties(t *testing.T) {
	t.Parallel()
	set := textSet(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := phrases.Draw(t, "a"), phrases.Draw(t, "b"), phrases.Draw(t, "c")
		ab, ba := scores(set, a, b), scores(set, b, a)
		bc, cb := scores(set, a, b, c), scores(set, a, c, b)
		same := scores(set, a, a)
		for id, score := range ab {
			e := entryOf(id)
			x, known := score.Get()
			switch {
			case known && e.Cut == NeverCut && x != 0 && x != 1:
				t.Fatalf("%s of %+q and %+q is %v", id, a, b, x)
			case known && e.Cut != NeverCut && !(x >= e.Low && x <= e.High):
				t.Fatalf("%s of %+q and %+q is %v, outside %g to %g", id, a, b, x, e.Low, e.High)
			case !known && score.Missing() == record.Present:
				t.Fatalf("%s of %+q and %+q is missing without a reason", id, a, b)
			}
			if slices.Contains(symmetric, id) {
				if y, ok := ba[id].Get(); ok && known && x != y {
					t.Fatalf("%s of %+q and %+q is %v, the other way round %v", id, a, b, x, y)
				}
			}
			if bc[id] != cb[id] {
				t.Fatalf("%s of %+q with %+q and %+q depends on their order: %+v, %+v", id, a, b, c, bc[id], cb[id])
			}
			// A text is as close to itself as can be, where the judge can read it at all. BLEU, ROUGE-2
			// and SQuAD 1.1 want more words than some texts have.
			if y, ok := same[id].Get(); ok && y < 1 && !shortfall(id) {
				t.Fatalf("%s of %+q with itself is %v", id, a, y)
			}
		}
	})
}

func shortfall(id string) bool {
	for _, prefix := range []string{"bleu", "rouge-2", "token-f1.squad-1.1", "rouge-1", "rouge-l", "rouge-lsum"} {
		if strings.HasPrefix(id, prefix) && !strings.HasSuffix(id, "l.unicode") && !strings.HasSuffix(id, "1.unicode") {
			return true
		}
	}
	return false
}

func entryOf(id string) Entry { return byID()[id] }

var byID = sync.OnceValue(func() map[string]Entry {
	entries := map[string]Entry{}
	for _, e := range Registry() {
		entries[e.ID] = e
	}
	return entries
})

// FuzzJudges runs every text judge on anything.
func FuzzJudges(f *testing.F) {
	for _, pair := range [][2]string{
		{"The river Danube.", "Danube"}, {"2,5", "(2, 5)"}, {"#### -1e99/0", "150 (acceptable range: anything between 1 and x)"},
		{"\xff東\u0301", "\u00ad"}, {"1 000 000.5%", "answer is 1/0"}, {"(B)", "b"},
	} {
		f.Add(pair[0], pair[1])
	}
	set := textSet(f)
	f.Fuzz(func(t *testing.T, answer, reference string) {
		item := record.Item{References: []string{reference, "x"}, Choices: []string{"x", answer}}
		for _, j := range set.Judge(record.Answer{Text: answer}, item) {
			if (j.Verdict == record.NotJudged) == (j.Missing == record.Present) {
				t.Fatalf("%q with %q: %+v", answer, reference, j)
			}
		}
		for _, s := range set.Scores(record.Answer{Text: answer}, item) {
			e := entryOf(s.Judge)
			if x, known := s.Value.Get(); known && e.Cut != NeverCut && !(x >= e.Low && x <= e.High) {
				t.Fatalf("%s of %q with %q is %v", s.Judge, answer, reference, x)
			}
		}
		if near := NearlyCorrect(answer, []string{reference}); near != NearlyCorrect(reference, []string{answer}) {
			t.Fatalf("%q is near %q one way only", answer, reference)
		}
		if v, why := ParseLabel(answer); (v == record.NotJudged) == (why == record.Present) {
			t.Fatalf("label %q: %s (%s)", answer, v, why)
		}
	})
}
