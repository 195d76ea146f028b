package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

func (a *app) newLedgerCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "ledger RUN",
		Short: "Say what a run's ledger holds: size, calls by kind",
		Long: `Say what the ledger of a run holds: its size, and the calls by model and kind.

RUN is the folder of a run, or a ledger file. "credence ledger show RUN KEY"
prints one call whole, "credence ledger check RUN" says whether all are.
Nothing is changed.`,
		Example: "  credence ledger runs/quickstart\n  credence ledger show runs/quickstart 8f3a01",
		Args:    exactlyOne("the folder of a run, or a ledger file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			stats, err := l.Stats(cmd.Context())
			if err != nil {
				return err
			}
			return a.printFormatted(format, ledgerStats{l.Path(), stats})
		},
	}
	cmd.PersistentFlags().StringVar(&format, "format", "table", "table or json")
	cmd.AddCommand(a.newLedgerShowCommand(&format), a.newLedgerCheckCommand(&format), a.newLedgerRepairCommand(&format))
	return cmd
}

func (a *app) newLedgerShowCommand(format *string) *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN KEY",
		Short: "Print one call whole: request, reply, tokens, failed attempts",
		Long: `Print one call whole: what was asked of which model, the reply, each token with
its log-probability, and the attempts that failed before.

KEY is the call's key, or as many of its first digits as no other key begins
with. Characters that a terminal would obey are written out, as in \x1b.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageHint(usagef("%s wants a run and a key", cmd.CommandPath()), "usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			call, attempts, err := l.Find(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			return a.printFormatted(*format, ledgerCall{call, attempts})
		},
	}
}

// openLedger opens the ledger of a run to look at.
func openLedger(run string) (*ledger.Ledger, error) {
	path := ledgerOf(run)
	l, err := ledger.OpenReadOnly(path)
	if err != nil {
		return nil, noLedger(err, path)
	}
	return l, nil
}

// ledgerOf is the ledger of a run's folder, or the file itself.
func ledgerOf(run string) string {
	if info, err := os.Stat(run); err == nil && info.IsDir() {
		return filepath.Join(run, "ledger.db")
	}
	return run
}

// formatted is a result that can be printed for people and for programs.
type formatted interface {
	table(width int) string
	json() any
}

func (a *app) printFormatted(format string, f formatted) error {
	switch format {
	case "table":
		_, err := fmt.Fprint(a.out, f.table(a.width()))
		return err
	case "json":
		var b bytes.Buffer
		out := json.NewEncoder(&b)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(f.json()); err != nil {
			return err
		}
		_, err := a.out.Write(termsafe.JSON(b.Bytes()))
		return err
	}
	return usagef("unknown --format %q; the formats are table, json", format)
}

// ledgerStats is what "credence ledger" prints.
type ledgerStats struct {
	path string
	ledger.Stats
}

func (s ledgerStats) table(int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s of %s\n", termsafe.String(s.path), size(s.Bytes), plural(s.Calls(), "call"), plural(s.Prompts, "prompt"))
	if s.Claims > 0 {
		fmt.Fprintf(&b, "%s being made, or cut off while it was\n", plural(s.Claims, "call"))
	}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "\n%s\n", termsafe.String(g.Model.String()))
		fmt.Fprintf(&b, "  %s: %s", termsafe.String(string(g.Kind)), plural(g.Calls, "call"))
		if g.Attempts > 0 {
			fmt.Fprintf(&b, ", %s failed", plural(g.Attempts, "attempt"))
		}
		if g.Calls > 0 {
			fmt.Fprintf(&b, ", %s to %s", g.First.Format(time.DateTime), g.Last.Format(time.DateTime+" UTC"))
		}
		b.WriteString("\n")
		if n := g.Used.Tokens(); n > 0 {
			fmt.Fprintf(&b, "    tokens: %d read (%d of them cached), %d written\n", g.Used.Prompt, g.Used.Cached, g.Used.Generated)
		}
	}
	for _, w := range s.Warnings() {
		fmt.Fprintf(&b, "\nwarning: %s\n", termsafe.String(w))
	}
	return b.String()
}

func (s ledgerStats) json() any {
	type group struct {
		Model    llm.Identity `json:"model"`
		Kind     llm.Kind     `json:"kind"`
		Calls    int          `json:"calls"`
		Attempts int          `json:"failed_attempts"`
		// Used are the tokens that the calls took, but for those that were made before they were counted.
		Used      llm.Usage           `json:"used"`
		Uncounted int                 `json:"uncounted"`
		First     *time.Time          `json:"first"`
		Last      *time.Time          `json:"last"`
		Observed  []map[string]string `json:"observed"`
	}
	groups := []group{}
	for _, g := range s.Groups {
		row := group{Model: g.Model, Kind: g.Kind, Calls: g.Calls, Attempts: g.Attempts, Used: g.Used, Uncounted: g.Uncounted, Observed: g.Observed}
		if g.Calls > 0 {
			row.First, row.Last = &g.First, &g.Last
		}
		groups = append(groups, row)
	}
	return struct {
		Path     string   `json:"path"`
		Bytes    int64    `json:"bytes"`
		Calls    int      `json:"calls"`
		Prompts  int      `json:"prompts"`
		Claims   int      `json:"claims"`
		Groups   []group  `json:"groups"`
		Warnings []string `json:"warnings"`
	}{s.path, s.Bytes, s.Calls(), s.Prompts, s.Claims, groups, append([]string{}, s.Warnings()...)}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// size writes bytes in the unit that leaves at most four digits.
func size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	x := float64(bytes) / 1000
	for len(units) > 1 && x >= 1000 {
		x, units = x/1000, units[1:]
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + units[0]
}

// ledgerCall is what "credence ledger show" prints. A call is nil where all attempts failed.
type ledgerCall struct {
	call     *ledger.Call
	attempts []ledger.Attempt
}

func (c ledgerCall) table(width int) string {
	var b strings.Builder
	if c.call != nil {
		writeCall(&b, c.call, width)
	} else {
		fmt.Fprintf(&b, "call %v\nno reply\n", c.attempts[0].Key)
	}
	if len(c.attempts) > 0 {
		b.WriteString("\nfailed attempts\n")
	}
	for _, t := range c.attempts {
		fmt.Fprintf(&b, "  %s, %s, %v, %v: %s\n", t.Asked.Format(time.DateTime+" UTC"), termsafe.String(t.Model.String()),
			termsafe.String(string(t.Kind)), t.Took, termsafe.String(t.Error))
	}
	return b.String()
}

func writeCall(b *strings.Builder, c *ledger.Call, width int) {
	r := c.Request
	fields := [][2]string{
		{"call", c.Key.String()},
		{"kind", string(r.Kind)},
		{"model", c.Model.String()},
		{"weights", c.Model.Weights},
		{"asked", c.Asked.Format(time.DateTime+" UTC") + ", took " + c.Took.String()},
		{"sample", fmt.Sprintf("%d, seed %d, generation %d", r.Sample, r.Seed, c.Generation)},
		{"finish", string(c.Reply.Finish)},
		{"reproducible", strconv.FormatBool(c.Reply.Reproducible)},
	}
	if r.Kind == llm.Generate {
		fields = append(fields, [2]string{"decoding", decoding(r.Decoding)})
	}
	for _, k := range slices.Sorted(maps.Keys(c.Reply.Observed)) {
		fields = append(fields, [2]string{"observed", k + "=" + c.Reply.Observed[k]})
	}
	writeFields(b, width, fields)
	for _, m := range r.Prompt.Messages {
		block(b, "prompt, "+string(m.Role), m.Content)
	}
	block(b, "prompt, opening of the assistant turn", r.Prompt.Opening)
	title := "prompt"
	if r.Prompt.NoBOS {
		title += ", without the beginning-of-sequence token"
	}
	block(b, title, r.Prompt.Text)
	block(b, "answer that was scored", r.Answer)
	block(b, "reply", c.Reply.Text)
	writeEmbedding(b, c.Reply.Embedding)
	writeTokens(b, c.Reply.Tokens, width)
	if ids := c.Reply.PromptIDs; ids != nil {
		block(b, plural(len(ids), "prompt token")+", ids", strings.Join(report.Wrap(strings.Trim(fmt.Sprint(ids), "[]"), width-2, ""), "\n"))
	}
}

// writeFields writes names and values beside each other; an empty value has no line.
func writeFields(b *strings.Builder, width int, fields [][2]string) {
	label := 0
	for _, f := range fields {
		if f[1] != "" {
			label = max(label, len(f[0])+2)
		}
	}
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		name := f[0]
		for _, line := range report.Wrap(termsafe.String(f[1]), width-label, "") {
			fmt.Fprintf(b, "%-*s%s\n", label, name, line)
			name = ""
		}
	}
}

// decoding lists what was set, in the words of a study file.
func decoding(d llm.Decoding) string {
	text, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return strings.NewReplacer(`"`, "", ":", " ", ",", ", ").Replace(strings.Trim(string(text), "{}"))
}

// block writes a text under its title, indented; nothing for an empty text.
func block(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, "\n%s\n", termsafe.String(title))
	for line := range strings.SplitSeq(termsafe.Text(text), "\n") {
		b.WriteString("  " + line + "\n")
	}
}

// writeEmbedding shows the first numbers of a vector; --format json has all.
func writeEmbedding(b *strings.Builder, vector []float32) {
	const most = 8
	text := strings.Trim(fmt.Sprint(vector[:min(len(vector), most)]), "[]")
	if len(vector) > most {
		text += " …"
	}
	block(b, "embedding of "+plural(len(vector), "dimension"), text)
}

func writeTokens(b *strings.Builder, tokens []record.Token, width int) {
	if len(tokens) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", plural(len(tokens), "token"))
	rows := [][]string{{"  piece", "id", "log-probability", "probability"}}
	for _, t := range tokens {
		rows = append(rows, []string{"  " + strconv.Quote(string(t.Piece)), strconv.Itoa(int(t.ID)),
			strconv.FormatFloat(t.LogProb, 'g', -1, 64), strconv.FormatFloat(math.Exp(t.LogProb), 'f', 4, 64)})
	}
	_ = report.WriteTable(b, width, rows) // a strings.Builder takes all
}

func (c ledgerCall) json() any {
	type attempt struct {
		Asked time.Time `json:"asked"`
		Took  float64   `json:"took_seconds"`
		// Status is that of HTTP; 0 if there was none.
		Status int    `json:"status"`
		Error  string `json:"error"`
	}
	attempts := []attempt{}
	for _, t := range c.attempts {
		attempts = append(attempts, attempt{t.Asked, t.Took.Seconds(), t.Status, t.Error})
	}
	if c.call == nil {
		return map[string]any{"key": c.attempts[0].Key.String(), "model": c.attempts[0].Model, "reply": nil, "failed_attempts": attempts}
	}
	return map[string]any{
		"key": c.call.Key.String(), "model": c.call.Model, "request": c.call.Request, "generation": c.call.Generation,
		"asked": c.call.Asked, "took_seconds": c.call.Took.Seconds(), "used": c.call.Used, "reply": jsonReply(c.call.Reply), "failed_attempts": attempts,
	}
}

func jsonReply(r llm.Reply) any {
	type token struct {
		ID int32 `json:"id"`
		// LogProb is null where the probability is 0: JSON has no infinity.
		LogProb *float64 `json:"log_probability"`
		Piece   string   `json:"piece"`
		// Bytes are those of a piece that is no text by itself.
		Bytes []int `json:"bytes,omitempty"`
	}
	tokens := []token{}
	for _, t := range r.Tokens {
		row := token{ID: t.ID, Piece: string(t.Piece)}
		if !math.IsInf(t.LogProb, 0) {
			row.LogProb = &t.LogProb
		}
		if text := strings.ToValidUTF8(row.Piece, "\ufffd"); text != row.Piece {
			row.Piece = text
			for _, c := range t.Piece {
				row.Bytes = append(row.Bytes, int(c))
			}
		}
		tokens = append(tokens, row)
	}
	return struct {
		Text         string            `json:"text"`
		Finish       llm.Finish        `json:"finish"`
		Reproducible bool              `json:"reproducible"`
		Tokens       []token           `json:"tokens"`
		Embedding    []float32         `json:"embedding,omitempty"`
		PromptIDs    []int32           `json:"prompt_ids"`
		Observed     map[string]string `json:"observed,omitempty"`
	}{r.Text, r.Finish, r.Reproducible, tokens, r.Embedding, r.PromptIDs, r.Observed}
}
