package llmtest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Item is the planted behaviour of a scripted model on one question. The model knows the question by
// its text: it is the planted question that ends last in what the model was asked.
type Item struct {
	Question string
	// Answer is the answer that Levels are planted for where they name no other.
	Answer string
	// Reply is the whole assistant turn, whatever is asked, where no rule of Replies applies. If the
	// turn is opened with a beginning of Reply, the model goes on from there.
	Reply string
	// Replies are rules; the first that applies is taken.
	Replies []Reply
	// Levels are rules; the first that applies is taken.
	Levels []Level
}

// Reply is a rule for what the model says.
type Reply struct {
	// User restricts the rule to prompts whose last user turn (or plain text) contains it.
	User string
	// Opening restricts the rule to prompts with this opening; empty is no restriction.
	Opening string
	// Choices are the rest of the turn, or the whole turn if they begin with the prompt's opening.
	Choices []Choice
}

// Level plants the log-probability of each token of an answer in one context, so that the geometric
// mean of the answer's token probabilities is exp(LogProb) there.
type Level struct {
	// User restricts the level to prompts whose last user turn (or plain text) contains it.
	User string
	// Opening is the text of the open turn before the answer, exactly; empty is the bare context.
	// Plain text must end with it. The blank between opening and answer counts as the answer's.
	Opening string
	// Answer is the answer this is the level of; empty for the item's own.
	Answer string
	// LogProb is the log-probability of every token of the answer, at most 0.
	LogProb float64
}

// NewQuiz returns a scripted model that behaves on items as planted and babbles on all other prompts.
// It panics on an empty or repeated question, and on a level that is no log-probability.
func NewQuiz(items []Item, opts ...Option) *Scripted {
	q := &quiz{items: items}
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		if it.Question == "" || seen[it.Question] {
			panic(fmt.Sprintf("llmtest: question %q is empty or repeated", it.Question))
		}
		seen[it.Question] = true
		for _, l := range it.Levels {
			if math.IsNaN(l.LogProb) || math.IsInf(l.LogProb, 0) || l.LogProb > 0 {
				panic(fmt.Sprintf("llmtest: question %q: log-probability %v", it.Question, l.LogProb))
			}
		}
	}
	return NewScripted(q, opts...)
}

// Confident returns the planted behaviour of a model that answers item correctly (its first
// reference) or not (its first incorrect answer), states the probability when it is asked, and has
// the given levels. Gaps, shifts and flips are planted by choosing stated and levels.
func Confident(item record.Item, correct bool, stated float64, levels ...Level) Item {
	answer := "unheard of"
	switch {
	case correct && len(item.References) > 0:
		answer = item.References[0]
	case !correct && len(item.Incorrect) > 0:
		answer = item.Incorrect[0]
	}
	return Item{Question: item.Question, Answer: answer, Reply: StateConfidence(answer, stated), Levels: levels}
}

// StateConfidence is a reply in the form that a confidence prompt asks for.
func StateConfidence(answer string, p float64) string {
	return "Guess: " + answer + "\nProbability: " + strconv.FormatFloat(p, 'f', -1, 64)
}

type quiz struct {
	items []Item
	known sync.Map // last user turn -> *Item
}

func (q *quiz) Replies(p llm.Prompt) []Choice {
	at := start(p)
	item := q.find(at)
	if item == nil {
		return nil
	}
	choices := []Choice{{Text: item.Reply}}
	for _, r := range item.Replies {
		if strings.Contains(at.context(), r.User) && (r.Opening == "" || r.Opening == p.Opening) {
			choices = r.Choices
			break
		}
	}
	rest := make([]Choice, len(choices))
	for i, c := range choices {
		c.Text = strings.TrimPrefix(c.Text, p.Opening)
		rest[i] = c
	}
	return rest
}

func (q *quiz) LogProb(at Position) (float64, bool) {
	item := q.find(at)
	if item == nil {
		return 0, false
	}
	for _, l := range item.Levels {
		answer := l.Answer
		if answer == "" {
			answer = item.Answer
		}
		if strings.Contains(at.context(), l.User) && l.covers(answer, at) {
			return l.LogProb, true
		}
	}
	return 0, false
}

// covers reports whether the token at its place goes on with answer after the level's opening.
func (l Level) covers(answer string, at Position) bool {
	if at.Messages != nil {
		return under(l.Opening, answer, at.Before, at.Piece)
	}
	// In plain text the opening may begin anywhere.
	for i := range len(at.Before) + 1 {
		if strings.HasPrefix(at.Before[i:], l.Opening) && under(l.Opening, answer, at.Before[i:], at.Piece) {
			return true
		}
	}
	return false
}

// find returns the item that the model is asked about, nil if there is none.
func (q *quiz) find(at Position) *Item {
	if at.Messages == nil {
		return q.search(at.Before)
	}
	asked := at.context()
	if it, ok := q.known.Load(asked); ok {
		return it.(*Item)
	}
	it := q.search(asked)
	q.known.Store(asked, it)
	return it
}

// search returns the item whose question ends last in text, the longest of those.
func (q *quiz) search(text string) *Item {
	var best *Item
	end := -1
	for i := range q.items {
		question := q.items[i].Question
		at := strings.LastIndex(text, question)
		if at < 0 {
			continue
		}
		if e := at + len(question); e > end || (e == end && len(question) > len(best.Question)) {
			best, end = &q.items[i], e
		}
	}
	return best
}
