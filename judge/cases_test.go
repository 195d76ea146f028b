package judge

import (
	"testing"

	"github.com/credence-lab/credence/record"
)

// TestCasesAnswerNormalise holds inputs on which published tools went wrong, by the number under which
// the project keeps them.
func TestCasesAnswerNormalise(t *testing.T) {
	t.Parallel()
	const correct, incorrect, none = record.Correct, record.Incorrect, record.NotJudged
	for _, test := range []struct {
		id, judge, answer, reference string
		verdict                      record.Verdict
		missing                      record.Missing
	}{
		// N01: commas group thousands only in groups of three; others keep numbers apart.
		{"N01", "exact-match.number", "(2,5)", "2,5", correct, ""},
		{"N01", "exact-match.number", "2, 5", "2,5", correct, ""},
		{"N01", "exact-match.number", "25", "2,5", incorrect, ""},
		{"N01", "exact-match.number", "48000", "48,000", correct, ""},
		{"N01", "exact-match.number", "1234", "12,34", incorrect, ""},
		{"N01", "exact-match.number", "3821", "3,8,21", incorrect, ""},
		{"N01", "number", "So the pair is (2,5).", "2,5", correct, ""},
		{"N01", "number", "So the pair is 2, 5.", "2,5", correct, ""},
		{"N01", "number", "So the pair is (2,5).", "5", incorrect, ""},
		{"N01", "number", "It costs 48000 in all.", "48,000", correct, ""},

		// N02: a number needs a digit.
		{"N02", "number", "She ends with 48 marbles, as required.", "48", correct, ""},
		{"N02", "number", "She ends with none, as required.", "48", none, NoNumber},

		// N04: numbers are compared as numbers.
		{"N04", "exact-match.number", "$29.00", "29", correct, ""},
		{"N04", "exact-match.number", "29.", "29", correct, ""},
		{"N04", "exact-match.number", "1,029", "1029", correct, ""},
		{"N04", "number", "The bill comes to $29.00", "29", correct, ""},
		{"N04", "number", "They paid 29.", "29", correct, ""},

		// N05: the sign belongs to the number, on both sides.
		{"N05", "number", "-6", "It fell from 4 to -6. #### -6", correct, ""},
		{"N05", "number", "6", "It fell from 4 to -6. #### -6", incorrect, ""},

		// N07: a full stop ends a sentence only when no digit follows.
		{"N07", "number", "The answer is 2.75", "2.75", correct, ""},
		{"N07", "number", "The answer is 2.75", "2", incorrect, ""},
		{"N07", "number", "final answer: -0.4", "-0.4", correct, ""},
		{"N07", "number", "final answer: -0.4", "0", incorrect, ""},

		// N08: the answer line outranks numbers before it; whether 60% is 60 is a stated option.
		{"N08", "number", "There are 20 of them.\nANSWER: 60%", "60%", correct, ""},
		{"N08", "number", "There are 20 of them.\nANSWER: 60%", "60", incorrect, ""},
		{"N08", "number.percent", "There are 20 of them.\nANSWER: 60%", "60", correct, ""},
		{"N08", "number.percent", "There are 20 of them.\nANSWER: 60%", "20", incorrect, ""},

		// N11: the letter A is no article, and what normalises to nothing is in nothing.
		{"N11", "exact-match", "B", "A", incorrect, ""},
		{"N11", "exact-match.squad", "B", "A", incorrect, ""},
		{"N11", "exact-match.squad", "banana", "A", incorrect, ""},
		{"N11", "exact-match.squad", "A", "A", correct, ""},
		{"N11", "token-f1.squad@0.5", "B", "A", incorrect, ""},
		{"N11", "token-f1.squad@0.5", "banana", "A", incorrect, ""},
		{"N11", "token-f1.squad@0.5", "A", "A", correct, ""},
		{"N11", "token-f1.unicode@0.5", "A", "A", correct, ""},
		{"N11", "containment.words", "B", "A", incorrect, ""},
		{"N11", "containment.words", "banana", "A", incorrect, ""},
		{"N11", "containment.words", "A", "A", correct, ""},
		{"N11", "exact.unicode", "banana", "A", incorrect, ""},
		{"N11", "exact.unicode", "A", "A", correct, ""},
		{"N11", "letter", "B", "A", incorrect, ""},
		{"N11", "letter", "A", "A", correct, ""},

		// N12: a blank before a reference is no difference; an empty reference is a reason.
		{"N12", "exact-match", "Paris", " Paris", correct, ""},
		{"N12", "token-f1@0.9", "Paris", " Paris", correct, ""},
		{"N12", "token-f1.squad@0.9", "Paris", " Paris", correct, ""},
		{"N12", "exact-match", "Paris", "", none, record.NoReference},
		{"N12", "token-f1@0.9", "Paris", "", none, record.NoReference},

		// N13: canonically equal texts match; without the mark they match under the looser rule only.
		{"N13", "exact-match.nfc", "Zu\u0308rich", "Z\u00fcrich", correct, ""},
		{"N13", "exact-match.nfc", "cafe\u0301", "caf\u00e9", correct, ""},
		{"N13", "exact-match.nfc", "sen\u0303or", "se\u00f1or", correct, ""},
		{"N13", "exact-match.nfc", "Zurich", "Z\u00fcrich", incorrect, ""},
		{"N13", "token-f1.unicode@0.9", "Zu\u0308rich", "Z\u00fcrich", correct, ""},
		{"N13", "rouge-l.unicode@0.9", "Zu\u0308rich", "Z\u00fcrich", correct, ""},
		{"N13", "containment.words", "in Zu\u0308rich", "Z\u00fcrich", correct, ""},
	} {
		set, err := NewSet(test.judge)
		if err != nil {
			t.Fatal(err)
		}
		got := set.Judge(record.Answer{Text: test.answer}, record.Item{References: []string{test.reference}})[0]
		if got.Verdict != test.verdict || got.Missing != test.missing {
			t.Errorf("%s, %s, %q with %q: got %s (%s), want %s (%s)",
				test.id, test.judge, test.answer, test.reference, got.Verdict, got.Missing, test.verdict, test.missing)
		}
	}
	if !NearlyCorrect("Zurich", []string{"Z\u00fcrich"}) {
		t.Error("N13: the looser rule does not know Zurich")
	}
}
