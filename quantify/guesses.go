package quantify

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/record"
)

// Guess is one of several guesses with the probability that the model stated for it.
type Guess struct {
	Text string
	// Probability lies in [0,1], or is absent with a reason.
	Probability record.Number
}

// Guesses is the parsed reply to [TopK]. The zero value was not asked for.
type Guesses struct {
	// List is in the order of the guesses' numbers.
	List []Guess
	// Missing says why there is no list; [record.Present] if there is.
	Missing record.Missing
}

// Reasons that only the reading of guesses gives.
const (
	// MalformedGuesses: a number occurs twice, or a probability has no guess.
	MalformedGuesses record.Missing = "malformed guesses"
	// GuessesCutOff: the reply ended at its token limit, so that its last line may be torn.
	GuessesCutOff record.Missing = "guesses cut off"
)

// mostGuesses bounds what is read of one reply.
const mostGuesses = 100

var guessLine = regexp.MustCompile(`^(?:[-*•]\s*)?\**([GgPp])(\d{1,3})\**\s*:\s*\**\s*(.*?)\s*\**$`)

// ParseGuesses reads a reply of lines "G1: text" and "P1: probability", in any order, the label perhaps in
// bold or behind a list mark. A probability is a number from 0 to 1, or a percentage with its sign; anything
// else makes that guess's probability missing. Other lines are passed over. A number that occurs twice, a
// probability without its guess, more than 100 guesses, or a reply cut off at its token limit give no list.
func ParseGuesses(reply string, truncated bool) Guesses {
	if truncated {
		return Guesses{Missing: GuessesCutOff}
	}
	texts, stated := map[int]string{}, map[int]string{}
	highest := 0
	for line := range strings.Lines(reply) {
		found := guessLine.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		k, _ := strconv.Atoi(found[2]) // at most three digits
		into := texts
		if strings.EqualFold(found[1], "p") {
			into = stated
		}
		if _, twice := into[k]; twice || k < 1 || k > mostGuesses {
			return Guesses{Missing: MalformedGuesses}
		}
		into[k] = found[3]
		highest = max(highest, k)
	}
	return assemble(texts, stated, highest)
}

func assemble(texts, stated map[int]string, highest int) Guesses {
	var list []Guess
	for k := 1; k <= highest; k++ {
		text, guessed := texts[k]
		probability, has := stated[k]
		switch {
		case has && (!guessed || text == ""):
			return Guesses{Missing: MalformedGuesses}
		case !guessed || text == "":
			continue
		}
		list = append(list, Guess{Text: text, Probability: statedProbability(probability)})
	}
	if list == nil {
		return Guesses{Missing: record.NoAnswer}
	}
	return Guesses{List: list}
}

var plainNumber = regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,20})?|\.\d{1,20})\s*(%?)$`)

// statedProbability reads a number alone on its line.
func statedProbability(text string) record.Number {
	if text == "" {
		return record.Absent(record.NoProbability)
	}
	found := plainNumber.FindStringSubmatch(text)
	if found == nil {
		return record.Absent(record.MalformedProbability)
	}
	x, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return record.Absent(record.MalformedProbability)
	}
	if found[2] == "%" {
		x /= 100
	}
	return inUnit(record.Known(x))
}

// confidence is what the guesses say of one text. Guesses are equal to it but for case and outer blanks.
func (g Guesses) confidence(answer string, scaling Scaling) record.Number {
	if g.Missing != record.Present {
		return record.Absent(g.Missing)
	}
	if g.List == nil {
		return record.Absent(NotAsked)
	}
	ours, all, among := 0.0, 0.0, false
	for _, guess := range g.List {
		equal := strings.EqualFold(strings.TrimSpace(guess.Text), strings.TrimSpace(answer))
		probability := inUnit(guess.Probability)
		p, known := probability.Get()
		if !known && (equal || scaling == SumToOne) {
			return probability
		}
		if all += p; equal {
			ours += p
			among = true
		}
	}
	switch {
	case !among:
		return record.Absent(NotAmongGuesses)
	case scaling == SumToOne:
		return record.Known(ours / all)
	}
	return record.Known(min(1, ours))
}
