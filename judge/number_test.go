package judge

import (
	"testing"

	"github.com/credence-lab/credence/record"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	const yes, no = 1., 0.
	for _, test := range []struct {
		judge, answer, reference string
		want                     float64
	}{
		// The place that decides.
		{"number", "First 3, then 4, so the answer is 12 because 3 times 4 is 12.", "12", yes},
		{"number", "The answer is 5. Check: 2 + 3 = 5, not 6.", "5", yes},
		{"number", "Answer: 7\nAnswer: 8", "8", yes},
		{"number", "\\boxed{42} as shown in 3 steps", "42", yes},
		{"number", "Of the 12 eggs 5 are left.", "5", yes},
		{"number", "Of the 12 eggs 5 are left.", "12", no},
		{"number", "48 marbles", "48 (accepted: forty-eight)", yes},

		// Forms of one number.
		{"number", "1 000 000 people", "1000000", yes},
		{"number", "1\u202f000", "1,000", yes},
		{"number", "-$5", "-5", yes},
		{"number", "$-5", "-5", yes},
		{"number", "−5 °C", "-5", yes},
		{"number", "+5", "5", yes},
		{"number", "5km", "5", yes},
		{"number", "1.50", "1.5", yes},
		{"number", ".5", "0.50", yes},
		{"number", "1/2", "0.5", yes},
		{"number", "1e3", "1000", yes},
		{"number", "1e3m", "1000", yes},
		{"number", "007", "7", yes},
		{"number", "４２", "42", yes},
		{"number", "৪২", "42", yes},
		{"number", "0", "-0", yes},
		{"number", "60 %", "60%", yes},
		{"number", "60 percent", "60%", yes},
		{"number", "0.1", "0.10000000000000000001", no}, // exact, not as floats

		// A hyphen within a word or between numbers is no sign.
		{"number", "Apollo-11", "11", yes},
		{"number", "Apollo-11", "-11", no},

		{"number-range", "about 149 engravings", "150 (acceptable range: anything between 148 and 152)", yes},
		{"number-range", "148", "150 (acceptable range: anything between 148 and 152)", yes},
		{"number-range", "152", "150 (acceptable range: anything between 148 and 152)", yes},
		{"number-range", "147.99", "150 (acceptable range: anything between 148 and 152)", no},
		{"number-range", "11,540,028", "10,990,502 (acceptable range: anything between 10,440,976 and 11,540,028)", yes},
		{"number-range", "394 m", "390 metres (acceptable range: anything between 386 and 394 metres)", yes},
		{"number-range", "150", "150", yes},
		{"number-range", "149", "150", no},
		{"number", "150", "150 (acceptable range: anything between 148 and 152)", yes},
		{"number", "149", "150 (acceptable range: anything between 148 and 152)", no},

		{"number-closeness", "99", "100", .99},
		{"number-closeness", "101", "100", .99},
		{"number-closeness", "-100", "100", 0},
		{"number-closeness", "1000", "100", 0},
		{"number-closeness", "0", "0", 1},
		{"number-closeness", "0.001", "0", 0},

		{"exact-match.number", "€ 5", "5", yes},
		{"exact-match.number", "5 €.", "5", yes},
		{"exact-match.number", "[5]", "5.0", yes},
		{"exact-match.number", "5 apples", "5", no},
		{"exact-match.number", "five", "FIVE", yes},
		{"exact-match.number", "3/4", "0.75", yes},
		{"exact-match.number", "5%", "5", no},
	} {
		set := map[string]string{"number-closeness": "number-closeness@0.5"}[test.judge]
		if set == "" {
			set = test.judge
		}
		s, err := NewSet(set)
		if err != nil {
			t.Fatal(err)
		}
		got, known := scores(s, test.answer, test.reference)[test.judge].Get()
		if !known || got != test.want {
			t.Errorf("%s, %q with %q: got %v (known %v), want %v", test.judge, test.answer, test.reference, got, known, test.want)
		}
	}
}

// A wrong number is worse than none.
func TestWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	set, err := NewSet("number")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		answer, reference string
		why               record.Missing
	}{
		{"none", "5", NoNumber},
		{"ANSWER: none of 5", "5", record.Present}, // the first number after the cue
		{"ANSWER: none. I counted", "5", NoNumber}, // what stands before the cue does not count
		{"on 2024-01-05", "5", NoNumber},
		{"5 to 10-12", "12", NoNumber},
		{"version 1.2.3", "3", NoNumber},
		{"1/2/2024", "2024", NoNumber},
		{"B2", "2", NoNumber},
		{"1/0", "1", NoNumber},
		{"1e4567", "1", NoNumber},
		{"5", "five", NoReferenceNumber},
	} {
		if got := scores(set, test.answer, test.reference)["number"]; got.Missing() != test.why {
			t.Errorf("%q with %q: %+v, want %q", test.answer, test.reference, got, test.why)
		}
	}
}

func TestLetter(t *testing.T) {
	t.Parallel()
	set, err := NewSet("letter")
	if err != nil {
		t.Fatal(err)
	}
	cities := []string{"London", "Paris", "Rome"}
	groups := []string{"B", "A", "AB"} // blood groups: option A is "B"
	for _, test := range []struct {
		answer, reference string
		choices           []string
		verdict           record.Verdict
	}{
		{"B", "Paris", cities, record.Correct},
		{"(b).", "paris", cities, record.Correct},
		{"**B**", "Paris", cities, record.Correct},
		{"$B$", "B", cities, record.Correct},
		{"Paris", "Paris", cities, record.Correct},
		{"A", "Paris", cities, record.Incorrect},
		{"London", "Paris", cities, record.Incorrect},
		{"D", "Paris", cities, record.NotJudged},
		{"Paris and Rome", "Paris", cities, record.NotJudged},
		{"B", "Madrid", cities, record.NotJudged},
		{"A", "B", groups, record.Correct},   // letter A, which is the text B
		{"B", "B", groups, record.Incorrect}, // letter B, which is the text A
		{"C", "AB", groups, record.Correct},
		{"B", "b", nil, record.Correct},
		{"B", "C", nil, record.Incorrect},
	} {
		got := set.Judge(record.Answer{Text: test.answer}, record.Item{References: []string{test.reference}, Choices: test.choices})[0]
		if got.Verdict != test.verdict || (got.Verdict == record.NotJudged) != (got.Missing == NoLetter) {
			t.Errorf("%q for %q of %v: %s (%s), want %s", test.answer, test.reference, test.choices, got.Verdict, got.Missing, test.verdict)
		}
	}
}

func TestNearlyCorrect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer, reference string
		want              bool
	}{
		{"Zurich", "Zürich", true},
		{"the cats", "cat", true},
		{"berries", "Berry", true},
		{"boxes", "box", true},
		{"José", "JOSE", true},
		{"Malmo", "Malmø", true},
		{"Ho Chi Minh", "Hồ Chí Minh", true},
		{"Athènes", "Athens", false},
		{"news", "new", true}, // flagged for a person, who knows better
		{"glass", "gla", false},
		{"bus", "bu", false},
		{"art", "Mozart", false}, // words, not characters
		{"किताब", "कताब", false}, // vowel signs are no accents
		{"Rome", "Paris", false},
		{"", "Paris", false},
		{"A", "B", false},
		{"the", "a", false},
	} {
		if got := NearlyCorrect(test.answer, []string{"xyz", test.reference}); got != test.want {
			t.Errorf("%q with %q: %v", test.answer, test.reference, got)
		}
	}
}
