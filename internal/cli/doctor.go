package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
)

// doctorFlags say what is examined, and how much of it.
type doctorFlags struct {
	engineFlags
	engine    bool
	json      bool
	weights   string
	mode, cpu string
	lengths   []int
	sequences int
	crowd     int
	server    serverFlags
}

func (a *app) newDoctorCommand() *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor --engine | --url ADDRESS",
		Short: "Examine the engine, or a server: are its values true?",
		Long: `With --engine, run the exactness matrix on a model: texts are read in pieces,
beside others, by several threads, out of reused cells, and as they are
generated, and each log-probability is compared with that of the text alone.

In exact mode on the CPU every row must be exact, or the command exits with 1.
In fast mode, or with layers on a GPU, the table says how far values move.

With --url, find out what a server is, what it can do, and whether the numbers
that it gives are true, by a few short calls: docs/servers.md says how servers
mislead. The table says what each failure means for which analyses; one that is
bad makes the command exit with 1.`,
		Example: "  credence doctor --engine\n  credence doctor --engine --mode fast --weights smollm2-135m-instruct\n  credence doctor --engine --lengths 640,1500 --sequences 30 --crowd 1500\n  credence doctor --url http://127.0.0.1:8000\n  credence doctor --url https://api.example.com --key-env API_KEY --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case flags.server.url != "" && flags.engine:
				return usagef("--engine and --url are two examinations; ask for one")
			case flags.server.url != "":
				return a.examineServer(cmd.Context(), flags.server, flags.json)
			case !flags.engine:
				return usagef("say what to examine: --engine or --url")
			}
			return a.examineEngine(cmd.Context(), flags)
		},
	}
	flags.engineFlags.add(cmd)
	flags.server.add(cmd)
	short := llamacpp.ShortMatrix
	cmd.Flags().BoolVar(&flags.engine, "engine", false, "examine the embedded engine")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print JSON in place of tables")
	cmd.Flags().StringVar(&flags.weights, "weights", study.DefaultWeights, "a GGUF `file`, or a name that \"credence models\" lists")
	cmd.Flags().StringVar(&flags.mode, "mode", string(llamacpp.Exact), "exact or fast")
	cmd.Flags().StringVar(&flags.cpu, "cpu", "", "CPU `variant` of the library, or portable; the best of this machine if left out")
	cmd.Flags().IntSliceVar(&flags.lengths, "lengths", short.Lengths, "lengths of the texts in `tokens`")
	cmd.Flags().IntVar(&flags.sequences, "sequences", short.Sequences, "texts that are read together")
	cmd.Flags().IntVar(&flags.crowd, "crowd", short.Crowd, "the longest text, in `tokens`, that is read in the cases with several")
	return cmd
}

// engineReport is what doctor prints of the engine.
type engineReport struct {
	Model    string       `json:"model"`
	Identity llm.Identity `json:"identity"`
	Threads  int          `json:"threads"`
	// Exact says that every row is.
	Exact bool `json:"exact"`
	// Nats is the largest difference of all rows.
	Nats float64 `json:"nats"`
	*llamacpp.Matrix
	Seconds float64 `json:"seconds"`
	// Memory is what the model takes at most in a study, computed; PeakBytes is what this process had at most,
	// whose texts and sequences may be others, 0 where the system does not tell.
	Memory    llamacpp.Memory `json:"memory"`
	PeakBytes int64           `json:"peak_bytes,omitempty"`
}

func (a *app) examineEngine(ctx context.Context, flags doctorFlags) error {
	size, err := flags.size()
	if err != nil {
		return err
	}
	opener, err := a.newEmbedded(flags.engineFlags)
	if err != nil {
		return err
	}
	c, err := opener.prepare(ctx, study.Model{
		Name: flags.weights, Engine: "llamacpp", Weights: flags.weights, Mode: flags.mode, CPU: flags.cpu,
	})
	if err != nil {
		return err
	}
	engine, err := llamacpp.New(c)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }() // nothing was loaded by it
	start := time.Now()
	matrix, err := llamacpp.Measure(ctx, c, size, nil)
	if err != nil {
		return err
	}
	r := engineReport{
		Model: flags.weights, Identity: engine.Identity(), Threads: matrix.Threads, Exact: matrix.Exact(), Nats: matrix.Nats(),
		Matrix: matrix, Seconds: time.Since(start).Seconds(), Memory: engine.Memory(), PeakBytes: peakBytes(),
	}
	if err := a.printEngineReport(r, flags.json); err != nil {
		return err
	}
	if !r.Exact && engine.Promises() {
		return fmt.Errorf("%s is not exact on this machine: do not trust its exact mode, and report this", flags.weights)
	}
	return nil
}

// size is the matrix that the flags ask for.
func (f *doctorFlags) size() (llamacpp.MatrixSize, error) {
	size := llamacpp.MatrixSize{Lengths: slices.Clone(f.lengths), Crowd: f.crowd, Sequences: f.sequences}
	slices.Sort(size.Lengths)
	size.Lengths = slices.Compact(size.Lengths)
	if err := size.Check(); err != nil {
		return size, usageHint(err, "the default is --lengths 60,300,640 --sequences 8 --crowd 60")
	}
	return size, nil
}

func (a *app) printEngineReport(r engineReport, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	return writeEngineReport(a.out, r)
}

func writeEngineReport(w io.Writer, r engineReport) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Model\t%s\n", termsafe.Text(r.Model))
	fmt.Fprintf(t, "Engine\t%s\n", termsafe.Text(r.Identity.String()))
	fmt.Fprintf(t, "Threads\t%d against 1\n", r.Threads)
	fmt.Fprintf(t, "Memory\ta study takes at most %s\n", r.Memory)
	if r.PeakBytes > 0 {
		fmt.Fprintf(t, "\tthis measurement took %d MB at most\n", r.PeakBytes/1e6)
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TOKENS\tCASE\tCOMPARED\tNATS APART\t\tSECONDS")
	for _, row := range r.Rows {
		word := "exact"
		if !row.Exact {
			word = "not exact"
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%.2g\t%s\t%.1f\n", row.Tokens, row.Case, row.Compared, row.Nats, word, row.Seconds)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := fmt.Sprintf("Not exact: values move by up to %.2g nats.", r.Nats)
	if r.Exact {
		verdict = "Exact: all values are equal to the last bit."
	}
	_, err := fmt.Fprintf(w, "\n%s %.0f seconds.\n", verdict, r.Seconds)
	return err
}
