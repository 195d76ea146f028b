package judge

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/record"
)

func TestNumberIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"51.0": "51", "The answer is 2,125.": "2125", "$29.00": "29", "-3": "-3", "1/3": "1/3", "0.10": "0.1", "60%": "60%",
		"5 apples and 7 pears, so the answer is 12 because 5 + 7": "12", "٣": "3",
	} {
		if got, missing := NumberIn(text); got != want || missing != record.Present {
			t.Errorf("%q: %q, %q; want %q", text, got, missing, want)
		}
	}
	for _, text := range []string{"", "none", "2024-05-06"} {
		if got, missing := NumberIn(text); got != "" || missing != NoNumber {
			t.Errorf("%q: %q, %q", text, got, missing)
		}
	}
	for text, want := range map[string]bool{
		"It is some 149 metres high.": true, "They paid 148.0, or 7.": true, "152 steps": true, "It is 147 or 153.": false, "Nobody counted them.": false, "In 1490 it was built.": false,
	} {
		if got := NamesInRange([]string{"150 (acceptable range: anything between 148 and 152)"}, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if NamesInRange([]string{"150"}, "150") {
		t.Error("a reference without a range has none to be in")
	}
	if !HasRange([]string{"150", "150 (acceptable range: anything between 148 and 152)"}) || HasRange([]string{"150", "between 148 and 152"}) {
		t.Error("ranges")
	}
}

// The canonical form is equal where the judge says that the numbers are.
func TestNumberInAgreesWithTheJudge(t *testing.T) {
	t.Parallel()
	set, err := NewSet("number")
	if err != nil {
		t.Fatal(err)
	}
	number := rapid.StringMatching(`(-?[0-9]{1,3}(,[0-9]{3})?(\.[0-9]{1,2})?%?)|([1-9]/[1-9])`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, lacksX := NumberIn(a)
		y, lacksY := NumberIn(b)
		if lacksX != record.Present || lacksY != record.Present {
			return
		}
		j := set.Judge(record.Answer{Text: a}, record.Item{References: []string{b}})[0]
		if (x == y) != (j.Verdict == record.Correct) {
			t.Fatalf("%q is %q, %q is %q; the judge says %v %v", a, x, b, y, j.Verdict, j.Missing)
		}
		if again, _ := NumberIn(x); again != x && !strings.Contains(x, ",") {
			t.Fatalf("%q becomes %q", x, again)
		}
	})
}
