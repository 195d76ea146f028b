package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
)

// serverFlags say which server is examined.
type serverFlags struct {
	url, dialect, model string
	keyEnv, keyFile     string
	thinking            string
	context             int
}

func (f *serverFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "examine the server at this `address`, such as http://127.0.0.1:8000")
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "kind of the server: "+strings.Join(openai.Dialects(), ", ")+"; found out if left out")
	cmd.Flags().StringVar(&f.model, "model", "", "served `name` of the model; the only one if left out")
	cmd.Flags().StringVar(&f.keyEnv, "key-env", "", "environment `variable` that holds the server's key")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "`file` that holds the server's key and nothing else")
	cmd.Flags().StringVar(&f.thinking, "thinking", string(openai.ThinkingOff), "whether a model may reason before it answers: on or off")
	cmd.Flags().IntVar(&f.context, "context-tokens", 0, "longest prompt and answer together, where the server does not say")
}

func (f *serverFlags) config() (openai.Config, error) {
	c := openai.Config{URL: f.url, Dialect: openai.Dialect(f.dialect), Model: f.model, Thinking: openai.Thinking(f.thinking), ContextTokens: f.context}
	var err error
	switch {
	case f.keyEnv != "" && f.keyFile != "":
		return c, usagef("--key-env and --key-file both say where the key is; use one")
	case f.keyEnv != "":
		c.Key, err = openai.KeyFromEnv(f.keyEnv)
	case f.keyFile != "":
		c.Key, err = openai.KeyFromFile(f.keyFile)
	}
	return c, err
}

// serverReport is what doctor prints of a server.
type serverReport struct {
	Dialect      openai.Dialect   `json:"dialect"`
	Identity     llm.Identity     `json:"identity"`
	Capabilities llm.Capabilities `json:"capabilities"`
	Findings     []openai.Finding `json:"findings"`
	// Usable says that no finding is bad.
	Usable bool `json:"usable"`
}

// examineServer asks a server what it is, what it can do, and whether its numbers are true. It exits with 1
// where something is bad.
func (a *app) examineServer(ctx context.Context, flags serverFlags, asJSON bool) error {
	c, err := flags.config()
	if err != nil {
		return err
	}
	engine, err := openai.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }() // closes idle connections
	r := serverReport{Dialect: engine.Dialect(), Identity: engine.Identity(), Capabilities: engine.Capabilities(), Usable: true}
	if r.Findings, err = openai.Check(ctx, engine); err != nil {
		return err
	}
	bad := 0
	for _, f := range r.Findings {
		if f.State == openai.Bad {
			bad++
		}
	}
	r.Usable = bad == 0
	if err := a.printServerReport(r, asJSON); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d checks of the server do not hold", bad, len(r.Findings))
	}
	return nil
}

func (a *app) printServerReport(r serverReport, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	return writeServerReport(a.out, r)
}

func writeServerReport(w io.Writer, r serverReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Server\t%s\n", termsafe.Text(strings.TrimSpace(string(r.Dialect)+" "+r.Identity.Version)))
	fmt.Fprintf(t, "Model\t%s\n", termsafe.Text(r.Identity.Model))
	fmt.Fprintf(t, "Scores a given answer\t%s\n", scoring(r.Identity))
	fmt.Fprintln(t)
	fmt.Fprintf(t, "Check\tState\tFound\n")
	for _, f := range r.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Check, f.State, termsafe.Text(f.Found))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if f.Means == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s (%s; touches %s)\n  %s\n", f.Check, f.State, strings.Join(f.Affects, ", "), f.Means); err != nil {
			return err
		}
	}
	return nil
}

// scoring says by which strategy, if at all.
func scoring(id llm.Identity) string {
	if strategy := id.Settings["scoring"]; strategy != "" {
		return "yes, by " + strategy
	}
	return "no"
}
