// Package openai asks models that a server runs: an [llm.Engine] over HTTP, for servers that speak
// OpenAI's routes or are known by their own.
//
// # Dialects
//
// A [Dialect] says how one kind of server is asked, and what its answers mean. Two strategies give the
// log-probability of a given answer, both over token ids: reading the prompt's log-probabilities (vLLM,
// SGLang), and forcing one token a request (llama-server). Servers that can do neither cannot score;
// [llm.Capabilities] says so before the first call. docs/servers.md says what each can do and how each
// one misleads.
//
// Where a server tokenises, context and answer are tokenised apart and joined by their ids, and a reply
// is checked to be about the ids that were sent. A server that tells no ids is asked in text; the tokens
// of its replies then have the id [llm.NoID].
//
// # What comes from a server is not trusted
//
// Bodies are bounded, counts compared, log-probabilities held to be finite and at most 0. What stands for
// a value too small to write (-9999, -3.4e38, a bare -Infinity) is recognised and reported as
// [llm.ErrNoLogProb]: never a number. A reply whose text is good and whose log-probabilities are not has
// the text and no tokens.
//
// # Waiting
//
// Requests in flight are as many as the server takes without complaint, up to a ceiling: their number
// grows with success and is cut on 429 and time-outs. An attempt that failed for a passing reason is
// repeated after the time that the server asks for, or after a growing pause; attempts and total time
// are bounded. What can only fail again is not repeated: see [Error].
//
// # Keys
//
// A [Key] comes from the environment or from a file. It is sent in one header and stands in no error, log
// line or identity.
package openai
