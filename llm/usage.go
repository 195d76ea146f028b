package llm

// Usage is how many tokens a call took, as whoever answered counts them: what servers charge for. The zero
// value says that nobody counted.
type Usage struct {
	// Prompt tokens were read; Cached of them were still known to the server. Generated tokens were written,
	// those of thoughts and of requests that a score is made of included.
	Prompt    int64 `json:"prompt"`
	Cached    int64 `json:"cached"`
	Generated int64 `json:"generated"`
}

// Add returns the sum of two.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Generated + v.Generated}
}

// Tokens is the number of tokens read and written.
func (u Usage) Tokens() int64 { return u.Prompt + u.Generated }
