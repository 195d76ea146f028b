package collect

import (
	"context"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Uncertainty says what is asked of every item so that the uncertainty of an answer can be quantified: the
// answer, samples, and questions about the answer ("A Tale of Two Error Categories", section 4 and appendix
// C.1). What follows from what among them is asked apart; see [Entailment].
type Uncertainty struct {
	Setting record.Setting
	Prompts *prompt.Set
	Form    prompt.Form
	// Prompt asks for the answer alone; answer and samples are written under it.
	Prompt prompt.Name
	Parser prompt.Parser
	// Decoding of the answer; temperature 0 for the paper's protocol.
	Decoding llm.Decoding
	// Samples are drawn by Sampling, whose temperature is above 0, from generators of Seed and the number
	// of the sample.
	Samples  int
	Sampling llm.Decoding
	Seed     uint64
	// Details are what is wanted of the answer's tokens besides their log-probabilities, SampleDetails of those of
	// the samples.
	Details, SampleDetails llm.Details
	// Questions about the answer, by name.
	Questions []Asked
	// Supply reads the probability of a question that asks for one.
	Supply Supply
}

// Asked is a question about the answer.
type Asked struct {
	Name string
	// IsTrue asks whether the answer is true by two forced options; WithIdeas shows the samples.
	IsTrue    *prompt.IsTrue
	WithIdeas bool
	// Elicit asks in words, in the prompt that it returns: first is the prompt under which the answer was written.
	// The reply is kept as it is. Nil, and without IsTrue, asks for the model's confidence in its own answer as a
	// number.
	Elicit func(first llm.Prompt, question, answer string) (llm.Prompt, error)
	// Decoding and Usual are those of Elicit.
	Decoding llm.Decoding
	Usual    string
}

// Uncertain is what one item gave.
type Uncertain struct {
	Item, Question string
	Answer         Sampled
	Samples        []Sampled
	// Forced are the log-probabilities of the two options of each question, true first.
	Forced map[string]Forced
	// Stated are the probabilities that the model wrote of its own answer.
	Stated map[string]record.Number
	// Written are the replies to questions in words.
	Written map[string]Written
}

// Sampled is one text that the model wrote, with the tokens of the parsed text as they were generated.
type Sampled struct {
	record.Answer
	Tokens []record.Token
	// Told is what the model told of Tokens besides; its End is of the turn if Tokens are its last. Nil where
	// nothing was asked for or told.
	Told *llm.Told
	// NoTokens says why there are none.
	NoTokens     record.Missing
	Reproducible bool
}

// Forced are the log-probabilities of the options of a question, or the reason why there are none.
type Forced struct {
	LogProbs []float64
	Missing  record.Missing
}

// TokensCutApart: the parsed answer does not end where a token ends, so that no tokens are its own.
const TokensCutApart record.Missing = "answer ends within a token"

// Item asks for everything of one item, in two rounds: the texts, and questions about the answer. Errors are
// as for [Spec.Item].
func (u *Uncertainty) Item(ctx context.Context, ask Asker, item record.Item) (Uncertain, error) {
	out := Uncertain{Item: item.ID, Question: item.Question}
	for _, round := range []func(context.Context, Asker, record.Item, *Uncertain) error{u.texts, u.questions} {
		if err := round(ctx, ask, item, &out); err != nil {
			return Uncertain{}, fmt.Errorf("item %s: %w", item.ID, err)
		}
	}
	return out, nil
}

// texts asks for answer and samples at once: they share the prompt.
func (u *Uncertainty) texts(ctx context.Context, ask Asker, item record.Item, out *Uncertain) error {
	p, err := u.Prompts.Ask(u.Prompt, u.Form, item.Question)
	if err != nil {
		return err
	}
	requests := []llm.Request{{Kind: llm.Generate, Prompt: p, Decoding: u.Decoding, Details: u.Details, Usual: usualText(0)}}
	for i := range u.Samples {
		requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: u.Sampling, Details: u.SampleDetails, Seed: u.Seed, Sample: i, Usual: usualText(i)})
	}
	for i, result := range ask.Do(ctx, requests) {
		text, err := u.read(item, i, result)
		if err != nil {
			return err
		}
		if i == 0 {
			out.Answer = text
		} else {
			out.Samples = append(out.Samples, text)
		}
	}
	return nil
}

// usualText is what a plan takes for a sample: of ten, nine differ, as they do for the smallest embedded model on the
// built-in questions (8.8 of ten); surer models ask for fewer pairs. Sample 0 is the answer.
func usualText(i int) string {
	if i%10 == 9 {
		i--
	}
	if i == 0 {
		return "two words"
	}
	return fmt.Sprintf("two words, or maybe it is %d", i)
}

// read takes the text of a reply; number 0 is the answer, the others are samples.
func (u *Uncertainty) read(item record.Item, number int, result llm.Result) (Sampled, error) {
	origin := record.Origin{Source: record.Generated, Prompt: string(u.Prompt), Sample: number}
	s := Sampled{Answer: record.Answer{ID: record.AnswerID{Setting: u.Setting, Item: item.ID, Origin: origin}}}
	if result.Err != nil {
		why, err := missing(result.Err)
		s.Missing, s.NoTokens = why, record.AnswerMissing
		return s, err
	}
	reply := result.Reply
	s.Reply, s.Truncated, s.Reproducible = reply.Text, reply.Finish == llm.FinishLength, reply.Reproducible
	if s.Text, s.Missing = u.Parser.ParseAnswer(reply.Text); s.Missing != record.Present {
		s.NoTokens = record.AnswerMissing
		return s, nil
	}
	from, to, why := tokensOf(s.Text, reply.Tokens)
	s.Tokens, s.NoTokens = reply.Tokens[from:to], why
	s.Told = toldOf(reply.Told, from, to, len(reply.Tokens))
	return s, nil
}

// toldOf is what was told of the tokens from..to of n.
func toldOf(t *llm.Told, from, to, n int) *llm.Told {
	if t == nil || from == to {
		return nil
	}
	var part llm.Told
	if t.Alternatives != nil {
		part.Alternatives = t.Alternatives[from:to]
	}
	if t.Entropies != nil {
		part.Entropies = t.Entropies[from:to]
	}
	if to == n {
		part.End = t.End
	}
	return &part
}

// tokensOf says which of the generated tokens spell the text, blanks at its edges aside: from..to.
func tokensOf(text string, tokens []record.Token) (first, end int, why record.Missing) {
	from, spelled := 0, ""
	for i, token := range tokens {
		spelled += string(token.Piece)
		switch trimmed := strings.TrimSpace(spelled); {
		case trimmed == "":
			from = i + 1
		case trimmed == text:
			return from, i + 1, record.Present
		case !strings.HasPrefix(text, trimmed) && len(trimmed) > len(text):
			return 0, 0, TokensCutApart
		}
	}
	if len(tokens) == 0 {
		return 0, 0, record.NotSupported
	}
	return 0, 0, TokensCutApart
}

// Present are the texts of the samples that have one.
func (u *Uncertain) Present() []string {
	var texts []string
	for _, s := range u.Samples {
		if s.Missing == record.Present {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// force adds the requests that score n options after p into one place.
func force(requests []llm.Request, into []*Forced, p llm.Prompt, n int, place *Forced) ([]llm.Request, []*Forced) {
	for i := range n {
		requests = append(requests, llm.Request{Kind: llm.Score, Prompt: p, Answer: prompt.Option(i)})
		into = append(into, place)
	}
	return requests, into
}

// fill asks, and puts the log-probability of each option into its place in the order of requests.
func fill(ctx context.Context, ask Asker, requests []llm.Request, into []*Forced) error {
	if len(requests) == 0 {
		return nil
	}
	for i, result := range ask.Do(ctx, requests) {
		place := into[i]
		if result.Err != nil {
			why, err := missing(result.Err)
			if err != nil {
				return err
			}
			place.Missing, place.LogProbs = why, nil
			continue
		}
		if place.Missing != record.Present {
			continue
		}
		sum := 0.
		for _, token := range result.Reply.Tokens {
			sum += token.LogProb
		}
		place.LogProbs = append(place.LogProbs, sum)
	}
	return nil
}

// questions asks about the answer.
func (u *Uncertainty) questions(ctx context.Context, ask Asker, item record.Item, out *Uncertain) error {
	if out.Answer.Missing != record.Present {
		return nil
	}
	out.Forced, out.Stated, out.Written = map[string]Forced{}, map[string]record.Number{}, map[string]Written{}
	var requests []llm.Request
	var into []*Forced
	forced := make([]Forced, len(u.Questions))
	for i, q := range u.Questions {
		if q.IsTrue == nil {
			continue // asked below
		}
		question := *q.IsTrue
		if q.WithIdeas {
			question.Ideas = out.Present()
		}
		p, err := question.Force(u.Form, item.Question, out.Answer.Text)
		if err != nil {
			return err
		}
		requests, into = force(requests, into, p, 2, &forced[i])
	}
	if err := fill(ctx, ask, requests, into); err != nil {
		return err
	}
	if err := u.elicit(ctx, ask, item, out); err != nil {
		return err
	}
	for i, q := range u.Questions {
		if q.Elicit != nil {
			continue
		}
		if q.IsTrue == nil {
			if err := u.ownAnswer(ctx, ask, item, q.Name, out); err != nil {
				return err
			}
			continue
		}
		if o := forced[i]; q.IsTrue.Swapped && len(o.LogProbs) == 2 {
			o.LogProbs[0], o.LogProbs[1] = o.LogProbs[1], o.LogProbs[0]
		}
		out.Forced[q.Name] = forced[i]
	}
	return nil
}

// elicit asks all questions in words at once.
func (u *Uncertainty) elicit(ctx context.Context, ask Asker, item record.Item, out *Uncertain) error {
	first, err := u.Prompts.Ask(u.Prompt, u.Form, item.Question)
	if err != nil {
		return err
	}
	var requests []llm.Request
	var names []string
	for _, q := range u.Questions {
		if q.Elicit == nil {
			continue
		}
		p, err := q.Elicit(first, item.Question, out.Answer.Text)
		if err != nil {
			return err
		}
		requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: q.Decoding, Usual: q.Usual})
		names = append(names, q.Name)
	}
	if len(requests) == 0 {
		return nil
	}
	for i, result := range ask.Do(ctx, requests) {
		if out.Written[names[i]], err = written(result); err != nil {
			return err
		}
	}
	return nil
}

func (u *Uncertainty) ownAnswer(ctx context.Context, ask Asker, item record.Item, name string, out *Uncertain) error {
	p, err := prompt.OwnAnswer(u.Form, item.Question, out.Answer.Text)
	if err != nil {
		return err
	}
	var stated record.Reading
	result := ask.Do(ctx, []llm.Request{{Kind: llm.Generate, Prompt: p, Decoding: u.Supply.Decoding, Usual: usualProbability}})[0]
	if err := u.Supply.read(&stated, result); err != nil {
		return err
	}
	out.Stated[name] = stated.Value
	return nil
}
