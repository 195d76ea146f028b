package prompt

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/record"
	"pgregory.net/rapid"
)

// TestCasesVerdict holds judges' replies on which published tools went wrong, by the number under which the
// project keeps them: the rows with a grade or a truth.
func TestCasesVerdict(t *testing.T) {
	t.Parallel()
	const c, i, n = record.Correct, record.Incorrect, record.NotJudged
	for _, test := range []struct {
		id, reply string
		want      Ruling
	}{
		// J09: a label begins at a word's edge; zero-width marks are not there; letters in any case.
		{"J09", "GRADE: C. I saw no cause to downgrade: it is complete.", Ruling{Verdict: c}},
		{"J09", "At first sight GRADE: I\nBut it holds.\nGRADE:\u200bC", Ruling{Verdict: c, Notes: Notes{Several: true}}},
		{"J09", "grade: c", Ruling{Verdict: c}},

		// J10: the letter or the whole word.
		{"J10", "GRADE: CI", Ruling{Missing: UnclearVerdict}},
		{"J10", "GRADE: Pending", Ruling{Missing: UnclearVerdict}},
		{"J10", "GRADE: Correct", Ruling{Verdict: c}},

		// J12: a text that says false is not true because it is a text, and no verdict is none.
		{"J12", `{"match":"false"}`, Ruling{Verdict: i}},
		{"J12", `{"match":"FALSE"}`, Ruling{Verdict: i}},
		{"J12", `{"reason":"no verdict given"}`, Ruling{Missing: NoVerdict}},
		{"J12", `{"match":false}`, Ruling{Verdict: i}},
		{"J12", `{"match":true}`, Ruling{Verdict: c}},

		{"J03", "Hm.", Ruling{Verdict: n, Missing: NoVerdict}},
	} {
		if got := ParseVerdict(test.reply); got != test.want {
			t.Errorf("%s, %q: got %+v, want %+v", test.id, test.reply, got, test.want)
		}
	}
}

// TestCasesRating: the rows with a number.
func TestCasesRating(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, reply string
		high      float64
		want      record.Number
		several   bool
	}{
		// J01: brackets outrank bare numbers, and a denominator is no score.
		{"J01", "My rating is [[6]]. In short this earns 6/10.", 10, record.Known(6), false},

		// J02: "out of" names the scale; an unrelated number is no score.
		{"J02", "I would give it 8 out of 10.", 10, record.Known(8), false},
		{"J02", "Full marks: 10.", 10, record.Known(10), false},
		{"J02", "They live at 45 Oak Road.", 100, record.Absent(NoVerdict), false},

		// J03: a label on the same line; an odd reply is one reply's loss.
		{"J03", "Covers all points. Score: 80", 100, record.Known(80), false},
		{"J03", "Covers all points, more or less.", 100, record.Absent(NoVerdict), false},

		// J04: the prompt asks for the verdict at the end.
		{"J04", "a weak draft would be [[3]] ... Rating: [[8]]", 10, record.Known(8), true},
	} {
		got, notes := ParseRating(test.reply, 0, test.high)
		if got != test.want || notes != (Notes{Several: test.several}) {
			t.Errorf("%s, %q: got %+v %+v, want %+v", test.id, test.reply, got, notes, test.want)
		}
	}
}

// TestCasesPreference: the rows with two answers.
func TestCasesPreference(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		id, reply string
		want      Preference
		notes     Notes
	}{
		{"J04", "At first [[A]] looked better ... final: [[B]]", SecondPreferred, Notes{Several: true}},

		// J06: the verdict is there in full, though a string holds a raw line break or the end is cut off.
		{"J06", "{\"reason\":\"B is\nlonger\", \"preferred\":\"B\"}", SecondPreferred, Notes{Repaired: true}},
		{"J06", `{"reason":"shorter", "preferred":"A"`, FirstPreferred, Notes{Repaired: true}},

		// J08: a tie is a verdict (see judge.Tally).
		{"J08", "[[A]]", FirstPreferred, Notes{}},
		{"J08", "[[B]]", SecondPreferred, Notes{}},
		{"J08", "[[C]]", Tied, Notes{}},
	} {
		got, why, notes := ParsePreference(test.reply)
		if got != test.want || why != record.Present || notes != test.notes {
			t.Errorf("%s, %q: got %d (%s) %+v, want %d %+v", test.id, test.reply, got, why, notes, test.want, test.notes)
		}
	}
}

func TestParseVerdict(t *testing.T) {
	t.Parallel()
	several, repaired := Notes{Several: true}, Notes{Repaired: true}
	yes, no := Ruling{Verdict: record.Correct}, Ruling{Verdict: record.Incorrect}
	none, unclear := Ruling{Missing: NoVerdict}, Ruling{Missing: UnclearVerdict}
	for reply, want := range map[string]Ruling{
		"True":                                  yes,
		" true.":                                yes,
		"**True**":                              yes,
		"False. The answer names another city.": no,
		"True because both name Paris":          yes,
		"Yes, it is.":                           yes,
		"It names the same city.\nTrue":         yes,
		"Verdict: False":                        no,
		"**Verdict:** False":                    no,
		"Verdict: **True**.":                    yes,
		"Verdict:\n\nTrue":                      yes,
		"Answer: Paris\nVerdict: True":          yes,
		"Verdict: True\nAnswer: Paris is the capital":  yes,
		"The answer is correct: true":                  yes,
		"[[True]]":                                     yes,
		"[[1]] is cited, so [[False]]":                 no,
		"C":                                            yes,
		"```json\n{\"verdict\": \"True\"}\n```":        yes,
		`{"a": {"verdict": "False"}, "verdict": true}`: yes,
		`{"note": "say \"verdict\": false", "verdict": "yes"}`: yes,
		"{\"note\": 1}\nVerdict: True":                         yes,
		"<think>False</think>True":                             yes,

		// The last one counts, and it is said that there were several.
		"True. No, wait.\nFalse":                         {Verdict: record.Incorrect, Notes: several},
		"Verdict: True ... Verdict: False":               {Verdict: record.Incorrect, Notes: several},
		`{"verdict": true} or rather {"verdict": false}`: {Verdict: record.Incorrect, Notes: several},
		`{"verdict": true`:                               {Verdict: record.Correct, Notes: repaired},

		// Unclear is not incorrect, and not correct.
		"":                                      none,
		"True or False?":                        none,
		"True/False":                            none,
		"I cannot say.":                         none,
		"The answer is not correct":             none,
		"Correct would be Rome":                 none,
		"No verdict can be given":               none,
		"Not true":                              none,
		"Falsehoods abound":                     none,
		"I am not sure":                         none,
		"Verdict: not correct":                  unclear,
		"Verdict: no verdict":                   unclear,
		"Verdict: C-":                           unclear,
		"Verdict: True/False":                   unclear,
		"Verdict: True\nVerdict: pending":       {Missing: UnclearVerdict, Notes: several},
		`{"verdict": "maybe"}`:                  unclear,
		`{"verdict": null}`:                     unclear,
		`{"verdict": "tr`:                       none,
		`{"verdict`:                             none,
		"overdict: True, and it goes on to say": none,
		"<think>True":                           {Missing: record.UnclosedThinking},
	} {
		if got := ParseVerdict(reply); got != want {
			t.Errorf("%q: got %+v, want %+v", reply, got, want)
		}
	}
}

func TestParseRating(t *testing.T) {
	t.Parallel()
	unclear, none := record.Absent(UnclearVerdict), record.Absent(NoVerdict)
	for reply, want := range map[string]record.Number{
		"Score: 8.5":                       record.Known(8.5),
		"Score: 8,5":                       record.Known(8.5),
		"**Score:** 8":                     record.Known(8),
		"Score: **8**/10":                  record.Known(8),
		"Score: 8/10. It misses one of 3.": record.Known(8),
		"Score: 0":                         record.Known(0),
		"Score: -0":                        record.Known(0),
		"The rating is 7":                  record.Known(7),
		"A score of 7":                     record.Known(7),
		`{"score": 7}`:                     record.Known(7),
		`{"score": "7", "of": 10}`:         record.Known(7),
		"7/10":                             record.Known(7),

		"Score: 11":           record.Absent(record.OutOfRange),
		"Score: -1":           record.Absent(record.OutOfRange),
		"Score: 4/5":          unclear, // another scale
		"Score: 80%":          unclear,
		"Score: 7-8":          unclear,
		"Score: 8.5.1":        unclear,
		"Score: high":         none,
		"3 of the 5 are good": none,
		`{"score": 1`:         none, // on the way to 10
		`{"score": null}`:     unclear,
		"<think>Score: 8":     record.Absent(record.UnclosedThinking),
	} {
		if got, _ := ParseRating(reply, 0, 10); got != want {
			t.Errorf("%q: got %+v, want %+v", reply, got, want)
		}
	}
}

func checkRulings(t interface{ Fatalf(string, ...any) }, reply string) {
	if got := ParseVerdict(reply); (got.Verdict == record.NotJudged) == (got.Missing == record.Present) {
		t.Fatalf("%q: %+v", reply, got)
	}
	if got, why, _ := ParsePreference(reply); (got == NoPreference) == (why == record.Present) {
		t.Fatalf("%q: %d (%s)", reply, got, why)
	}
	got, _ := ParseRating(reply, 1, 5)
	if x, known := got.Get(); known && !(x >= 1 && x <= 5) || !known && got.Missing() == record.Present {
		t.Fatalf("%q: %+v", reply, got)
	}
}

func FuzzJudgeReplies(f *testing.F) {
	for _, reply := range []string{
		"GRADE:\u200bC", `{"match":"fal\u0073e", "x": [{"a"`, "[[ 4 ]] 4/5", "Verdict: **True**", "{\"preferred\":\"B\n\"}", "\xffScore: −1e5 out of 5", "<think>True",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) { checkRulings(t, reply) })
}

func TestJudgeReplyProperties(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"Verdict", "Score", "GRADE", ":", " ", "\n", "True", "False", "C", "I", "A", "no", "or", "4", "/", "5", ".", "-", "**", "[[", "]]",
		"{", "}", `"`, `"verdict":`, `"score":`, ",", "\\", "[", "]", "\u200b", "<think>", "</think>",
	})
	rapid.Check(t, func(t *rapid.T) {
		reply := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		checkRulings(t, reply)
		if got := ParseVerdict(reply + "\n\n[[False]]"); got.Verdict == record.Correct && !strings.Contains(reply, "{") {
			t.Fatalf("%q and a verdict in brackets: %+v", reply, got)
		}
	})
}
