package ledger

import (
	"sync/atomic"
	"time"

	"github.com/credence-lab/credence/llm"
)

// Counts says what an [Asker] did. Reused + Made + Failed is the number of requests put to it.
type Counts struct {
	// Reused requests were answered from the ledger, or by an equal call under way.
	Reused int64
	// Made is the number of calls that the engine answered.
	Made int64
	// Failed requests have an error for a result.
	Failed int64
	// PromptTokens, GeneratedTokens and ScoredTokens are those of the calls made; embedded texts count
	// as prompts.
	PromptTokens, GeneratedTokens, ScoredTokens int64
	// Asking is the time spent in the engine. Calls beside each other add up.
	Asking time.Duration
}

// Add returns the sum of two counts.
func (c Counts) Add(d Counts) Counts {
	c.Reused += d.Reused
	c.Made += d.Made
	c.Failed += d.Failed
	c.PromptTokens += d.PromptTokens
	c.GeneratedTokens += d.GeneratedTokens
	c.ScoredTokens += d.ScoredTokens
	c.Asking += d.Asking
	return c
}

// Since returns what was done after an earlier reading.
func (c Counts) Since(earlier Counts) Counts {
	c.Reused -= earlier.Reused
	c.Made -= earlier.Made
	c.Failed -= earlier.Failed
	c.PromptTokens -= earlier.PromptTokens
	c.GeneratedTokens -= earlier.GeneratedTokens
	c.ScoredTokens -= earlier.ScoredTokens
	c.Asking -= earlier.Asking
	return c
}

type counter struct {
	reused, made, failed, prompt, generated, scored, asking atomic.Int64
}

func (c *counter) read() Counts {
	return Counts{
		Reused: c.reused.Load(), Made: c.made.Load(), Failed: c.failed.Load(),
		PromptTokens: c.prompt.Load(), GeneratedTokens: c.generated.Load(), ScoredTokens: c.scored.Load(),
		Asking: time.Duration(c.asking.Load()),
	}
}

func (c *counter) tokens(kind llm.Kind, r llm.Reply) {
	c.prompt.Add(int64(len(r.PromptIDs)))
	switch kind {
	case llm.Score:
		c.scored.Add(int64(len(r.Tokens)))
	case llm.Generate:
		c.generated.Add(int64(len(r.Tokens)))
	}
}
