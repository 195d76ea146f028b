package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/cli"
)

const someScores = "correct,token\n1,0.9\n0,0.2\n1,0.4\n0,0.6\n1,0.8\n0,0.1\n"

// TestEvalExitCodes: a pipeline reads nothing else.
func TestEvalExitCodes(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	tests := []struct {
		name  string
		ctx   context.Context
		input string
		args  []string
		want  int
	}{
		{"done", t.Context(), someScores, nil, 0},
		{"gate holds", t.Context(), someScores, []string{"--gate", "auroc(token) > 0.5"}, 0},
		{"gate falls short", t.Context(), someScores, []string{"--gate", "auroc(token) > 0.99"}, 3},
		{"gate without a number", t.Context(), "correct,token\n1,0.9\n1,0.8\n", []string{"--gate", "auroc(token) > 0.5"}, 3},
		{"bad gate", t.Context(), someScores, []string{"--gate", "auroc(token"}, 2},
		{"bad input", t.Context(), "correct,token\n1,0.9\n0,1e-\n", []string{"--score", "token"}, 2},
		{"bad flag", t.Context(), someScores, []string{"--level", "2"}, 2},
		{"interrupted", stopped, someScores, nil, 130},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			args := append([]string{"eval", "-", "--bootstrap", "100"}, tt.args...)
			if got := cli.Run(tt.ctx, args, strings.NewReader(tt.input), &out, &err); got != tt.want {
				t.Errorf("exit code %d, want %d\n%s", got, tt.want, err.String())
			}
		})
	}
}

// TestEvalInterruptedWhileReading: a terminal or a pipe that gives nothing cannot keep the command.
func TestEvalInterruptedWhileReading(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, nobody := io.Pipe()
	defer nobody.Close()
	var out, err bytes.Buffer
	if code := cli.Run(ctx, []string{"eval", "-"}, stopping{in, stop}, &out, &err); code != 130 || !strings.HasSuffix(err.String(), "credence: interrupted\n") {
		t.Errorf("exit code %d\n%s", code, err.String())
	}
}

// stopping calls stop once somebody reads.
type stopping struct {
	io.Reader
	stop func()
}

func (s stopping) Read(p []byte) (int, error) {
	s.stop()
	return s.Reader.Read(p)
}

// TestWrongArgumentsAreWrongUsage holds for every command.
func TestWrongArgumentsAreWrongUsage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quickstart", "models", "metrics", "version", "eval", "run", "plan", "ledger", "pull", "nonsense"} {
		var out, err bytes.Buffer
		args := []string{name, "no such thing", "nor this"}
		if code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &err); code != 2 || out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, err.String())
		}
	}
}

// TestErrorsDoNotCommandTheTerminal: what a file says stands in messages.
func TestErrorsDoNotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	cli.Run(t.Context(), []string{"eval", "\x1b[2Jnowhere.csv"}, strings.NewReader(""), &out, &err)
	if got, want := err.String(), "credence: \\x1b[2Jnowhere.csv: no such file; check the path\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at the end", got, want)
	}
}

// TestEvalJSONIsStrict: no NaN and no infinity, whatever comes in.
func TestEvalJSONIsStrict(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	in := "correct,a,b\n1,-inf,0\n0,-1,1\n1,nan,NaN\n0,-inf,1\n"
	args := []string{"eval", "-", "--bootstrap", "50", "--metric", "all", "--format", "json", "--score", "a:log-probability", "--score", "b", "--compare", "a,b"}
	if code := cli.Run(t.Context(), args, strings.NewReader(in), &out, &err); code != 0 {
		t.Fatalf("exit code %d\n%s", code, err.String())
	}
	var rows []struct {
		Metric string
		Value  *float64
		Reason string
		N      int
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if (r.Value == nil) != (r.Reason != "") {
			t.Errorf("%s has the value %v and the reason %q", r.Metric, r.Value, r.Reason)
		}
	}
}

// A column may have any name, and a Markdown table of it must stay one.
func TestHostileColumnsStayInTheirMarkdownCells(t *testing.T) {
	t.Parallel()
	name := "a|b`<img src=x>*[x](y)\u202e"
	file := filepath.Join(t.TempDir(), "scores.csv")
	if err := os.WriteFile(file, []byte("correct,\""+name+"\"\n1,.9\n0,.1\n1,.6\n0,.7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), []string{"eval", file, "--score", name + ":confidence", "--bootstrap", "0", "--format", "markdown"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 14 {
			t.Errorf("a row of %d bars: %s", n, line)
		}
		if strings.ContainsAny(line, "<\u202e") || strings.Contains(strings.ReplaceAll(line, "\\`", ""), "`") {
			t.Errorf("markup of the file's own: %s", line)
		}
	}
}
