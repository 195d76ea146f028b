package study

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
)

// Server is the part of a model that says which server runs it. It holds no key: a study file is shared.
type Server struct {
	// URL of the server, such as "http://127.0.0.1:8000".
	URL string `yaml:"url,omitempty"`
	// Served is the name that the server has the model under; empty takes the only one it lists.
	Served string `yaml:"model,omitempty"`
	// KeyEnv names the environment variable that holds the key, KeyFile a file that holds nothing else.
	KeyEnv  string `yaml:"key_env,omitempty"`
	KeyFile string `yaml:"key_file,omitempty"`
	// Thinking is "off" (the default) or "on", for models that can reason before they answer.
	Thinking string `yaml:"thinking,omitempty"`
	// Concurrency is the most requests in flight; 0 is the engine's default.
	Concurrency int `yaml:"concurrency,omitempty"`
	// RequestsPerMinute and TokensPerMinute pace what is sent; 0 is no limit.
	RequestsPerMinute int `yaml:"requests_per_minute,omitempty"`
	TokensPerMinute   int `yaml:"tokens_per_minute,omitempty"`
}

// OnServer reports whether the model is run by a server, of which Engine names the kind.
func (m Model) OnServer() bool { return slices.Contains(openai.Dialects(), m.Engine) }

// checkServer says what is wrong with a model that a server runs, and with server settings of one that none runs.
func (f *File) checkServer(node string, m Model) error {
	if !m.OnServer() {
		if m.Server != (Server{}) {
			return f.at.errorf(node, "add \"engine:\" with one of "+strings.Join(openai.Dialects(), ", "), "model %q has settings of a server, but its engine %q is none", m.Name, m.Engine)
		}
		return nil
	}
	const apart = "it takes \"url:\" and \"model:\""
	switch {
	case m.URL == "":
		return f.at.errorf(node, "add \"url:\", such as http://127.0.0.1:8000", "model %q has no server", m.Name)
	case m.Weights != "" || m.Mode != "" || m.CPU != "" || m.Threads != 0 || m.Memory != "" || m.GPULayers != 0:
		return f.at.errorf(node, apart, "weights, mode, cpu, threads, memory and gpu_layers are a server's own business; model %q names one", m.Name)
	case !slices.Contains([]string{"", string(openai.ThinkingOff), string(openai.ThinkingOn)}, m.Thinking):
		return f.at.errorf(node+".thinking", "use off or on", "unknown thinking %q", m.Thinking)
	}
	return f.checkAddress(node, m.Server)
}

// checkAddress says what is wrong with where a server is and how it is paced.
func (f *File) checkAddress(node string, s Server) error {
	switch {
	case s.KeyEnv != "" && s.KeyFile != "":
		return f.at.errorf(node+".key_file", "remove one", "key_env and key_file both say where the key is")
	case !sensible(s.Concurrency) || !sensible(s.RequestsPerMinute) || !sensible(s.TokensPerMinute):
		return f.at.errorf(node, "leave it out for the default", "concurrency, requests_per_minute and tokens_per_minute lie between 0 and %d", maxCount)
	}
	if u, err := url.Parse(s.URL); err != nil || u.User != nil || u.RawQuery != "" {
		return f.at.errorf(node+".url", "use key_env or key_file for a key", "the url holds more than the address of a server")
	}
	return nil
}

// Loopback reports whether the server is on this machine.
func (s Server) Loopback() bool {
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// config is how the server is asked.
func (m Model) config() (openai.Config, error) {
	c := openai.Config{
		URL: m.URL, Dialect: openai.Dialect(m.Engine), Model: m.Served, ContextTokens: m.ContextTokens, Thinking: openai.Thinking(m.Thinking),
		Concurrency: m.Concurrency, RequestsPerMinute: m.RequestsPerMinute, TokensPerMinute: m.TokensPerMinute,
	}
	var err error
	c.Key, err = m.key()
	return c, err
}

// key is read anew each time: a study holds none.
func (s Server) key() (openai.Key, error) {
	switch {
	case s.KeyEnv != "":
		return openai.KeyFromEnv(s.KeyEnv)
	case s.KeyFile != "":
		return openai.KeyFromFile(s.KeyFile)
	}
	return openai.Key{}, nil
}

// OpenServer asks a model's server what it is. Before the first call of a study the server's answers are
// checked (see [openai.Check]); one whose scores are not true ends the study.
func OpenServer(ctx context.Context, m Model) (Opened, error) {
	c, err := m.config()
	if err != nil {
		return Opened{}, err
	}
	engine, err := openai.Open(ctx, c)
	if err != nil {
		return Opened{}, err
	}
	return ServedBy(engine), nil
}

// ServedBy is a model that a server runs, whose answers are checked before the first call.
func ServedBy(engine llm.Engine) Opened {
	return Opened{Engine: engine, Verify: func(ctx context.Context) (Verified, error) {
		findings, err := openai.Check(ctx, engine)
		if err != nil {
			return Verified{}, err
		}
		v := Verified{}
		for _, f := range findings {
			v.Checks = append(v.Checks, card.Check{Check: f.Check, State: string(f.State), Found: f.Found, Means: f.Means, Affects: f.Affects})
		}
		v.Words, err = verdict(findings)
		return v, err
	}}
}

// verdict says in words how the checks of a server went. It is an error where scores of given answers are not
// what they should be: token confidence would be made of them.
func verdict(findings []openai.Finding) (string, error) {
	good := 0
	var doubts, faults []string
	for _, f := range findings {
		switch f.State {
		case openai.Good:
			good++
		case openai.Doubtful:
			doubts = append(doubts, f.Check+": "+f.Found)
		case openai.Bad:
			if slices.Contains(f.Affects, "token confidence") {
				faults = append(faults, fmt.Sprintf("%s: %s. %s", f.Check, f.Found, f.Means))
			} else {
				doubts = append(doubts, f.Check+": "+f.Found)
			}
		}
	}
	if len(faults) > 0 {
		return "", errors.New("the server's scores cannot be used: " + strings.Join(faults, " ") + " See \"credence doctor --url\"")
	}
	words := fmt.Sprintf("a server; of %d checks at the start %d hold", len(findings), good)
	if len(doubts) > 0 {
		words += "; " + strings.Join(doubts, "; ")
	}
	return words, nil
}

// DescribeServer is [OpenServer] for a plan: nothing is sent. What the server says of itself is part of each
// call's key and stays unknown, so calls of an earlier run count as new.
func DescribeServer(m Model) (Opened, string) {
	return Opened{Engine: unasked{m}}, "the server was not asked: what an earlier run of it made counts as new"
}

// unasked stands for a model whose server was not asked.
type unasked struct{ m Model }

func (u unasked) Identity() llm.Identity {
	return llm.Identity{Engine: u.m.Engine, Model: u.m.Served}
}

func (u unasked) Capabilities() llm.Capabilities {
	can := openai.Dialect(u.m.Engine).Capabilities()
	can.Chat, can.ContextTokens = u.m.Format != "base", u.m.ContextTokens
	return can
}

func (u unasked) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i := range results {
		results[i].Err = fmt.Errorf("the server of %s was not asked", u.m.Name)
	}
	return results
}

func (u unasked) Close() error { return nil }
