package prompt

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/record"
	"pgregory.net/rapid"
)

func TestParseLetter(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"C":                         "C",
		"(c)":                       "C",
		"**C**":                     "C",
		"**C.** Paris":              "C",
		"C) Paris":                  "C",
		"\n C: Paris\nSince ...":    "C",
		"[C]":                       "C",
		"> C":                       "C",
		"Guess: C\nProbability: 1":  "C",
		"Guess: c":                  "C",
		"Answer: C and not B":       "C",
		"Answer: C\nAnswer: B":      "B", // the last one decides
		"\\boxed{C}":                "C",
		"$\\boxed{\\text{C}}$":      "C",
		"答案是C":                      "C",
		"答案：C":                      "C",
		"Ответ: C":                  "C",
		"La respuesta es C.":        "C",
		"The answer is **(C)**":     "C",
		"The correct answer is C":   "C",
		"The answer is option C":    "C",
		"The answer is: C":          "C",
		"I'll go with option B.":    "B",
		"I think option B is right": "B",
		"Answer: A":                 "A",
		"answer: a":                 "A",
		"Answer: A. Paris":          "A",
		"The answer is A because B": "A",
		"Answer: A (Paris)":         "A",
		"Answer:\u200bC":            "C",

		// Words are no letters.
		"Answer: A lorry":                  "",
		"The answer is a lorry":            "",
		"Answer: I think so":               "",
		"Answer: I'm not sure":             "",
		"Answer: Cat":                      "",
		"Answer: C3":                       "",
		"A lorry stops":                    "",
		"B comes before C":                 "",
		"Option B or option C":             "",
		"Both":                             "",
		"":                                 "",
		"The unanswer: C":                  "",
		"Answer: E":                        "", // there are four options
		"Answer: B\nAnswer: E":             "", // and no earlier one instead
		"Question: B. Which is it? Unsure": "",
	} {
		got, why := ParseLetter(reply, 4)
		if got != want || (got == "") != (why == record.NoAnswer) {
			t.Errorf("%q: got %q (%s), want %q", reply, got, why, want)
		}
	}
}

func checkLetter(t interface{ Fatalf(string, ...any) }, reply string, options int) {
	got, why := ParseLetter(reply, options)
	if (got == "") == (why == record.Present) || got != "" && strings.Index(Letters, got) >= options || len(got) > 1 {
		t.Fatalf("%q of %d options: %q (%s)", reply, options, got, why)
	}
}

func FuzzParseLetter(f *testing.F) {
	for _, reply := range []string{"Answer: **B**", "\\boxed{\\text{c}}", "答案：C", "I choose D, a", "<think>A</think>\n(b).", "\xffAnswer is \xff"} {
		f.Add(reply, 4)
	}
	f.Fuzz(func(t *testing.T, reply string, options int) {
		if options < 0 || options > 26 {
			options = 4
		}
		checkLetter(t, reply, options)
	})
}

func TestLetterProperties(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"Answer", ":", "is", " ", "\n", "A", "B", "I", "z", "**", "$", "(", ")", ".", "\\boxed{", "}", "option", "choose", "because", "答案", "<think>", "</think>", "'m",
	})
	rapid.Check(t, func(t *rapid.T) {
		reply := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		checkLetter(t, reply, rapid.IntRange(0, 26).Draw(t, "options"))
		// A plain answer line at the end decides, whatever came before it.
		if got, why := ParseLetter(reply+"\nAnswer: C", 26); got != "C" && why != record.UnclosedThinking {
			t.Fatalf("%q and an answer line: %q (%s)", reply, got, why)
		}
	})
}
