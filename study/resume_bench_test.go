package study_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

func init() {
	children["resume"] = childResumes
}

// callsPerItem of the study: an answer, scored in four contexts.
const callsPerItem = 5

const manyItems = "name: many\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {file: %s}\nanalysis: {resamples: 0}\n"

// babbling opens a model that makes up its answers, and holds up whatever it is asked of the last item.
type babbling struct {
	last string
	held func(ctx context.Context) error
}

func (b babbling) Open(_ context.Context, m study.Model) (study.Opened, error) {
	hold := llmtest.Interrupted(func(ctx context.Context, _ int, r llm.Request) error {
		if strings.Contains(r.Prompt.Messages[0].Content, b.last) {
			return b.held(ctx)
		}
		return nil
	})
	return study.Opened{Engine: llmtest.NewScripted(nil, llmtest.Named(m.Weights), hold)}, nil
}

// resumable makes a folder in which all items of a study are done but the last, and returns its study file.
func resumable(b *testing.B, items int) (folder, file, last string) {
	b.Helper()
	folder = b.TempDir()
	file, last = filepath.Join(folder, "study.yaml"), fmt.Sprintf("number %d of all", items-1)
	var rows bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range items {
		_ = json.NewEncoder(&rows).Encode(map[string]string{"id": fmt.Sprint(n), "answer": "yes",
			"question": fmt.Sprintf("What is %x, and what was %x before it became number %d of all?", rng.Uint64(), rng.Uint64(), n)})
	}
	data := filepath.Join(folder, "items.jsonl")
	for path, content := range map[string][]byte{data: rows.Bytes(), file: fmt.Appendf(nil, manyItems, data)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var done atomic.Int64
	gone := errors.New("gone")
	open := babbling{last, func(ctx context.Context) error {
		for done.Load() < int64(items-1) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		return gone
	}}
	f, err := study.Load(file)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	_, _, err = study.Run(b.Context(), f, study.Options{Folder: filepath.Join(folder, "run"), Open: open, Version: "test",
		Progress: func(p study.Progress) { done.Store(int64(p.Done)) }})
	if !errors.Is(err, gone) {
		b.Fatalf("the first run: %v", err)
	}
	b.Logf("%d calls made in %v", callsPerItem*(items-1), time.Since(start).Round(time.Second))
	return folder, file, last
}

// childResumes resumes a run, and ends when the last item is asked for.
func childResumes(args []string) error {
	start := time.Now()
	open := babbling{args[1], func(context.Context) error {
		fmt.Println(time.Since(start).Seconds(), peakMegabytes())
		os.Exit(0)
		return nil
	}}
	f, err := study.Load(args[0])
	if err != nil {
		return err
	}
	_, _, err = study.Run(context.Background(), f, study.Options{Folder: filepath.Join(filepath.Dir(args[0]), "run"), Open: open, Version: "test"})
	return fmt.Errorf("the last item was not asked for: %w", err)
}

// peakMegabytes is the most memory that this process has had, as Linux counts it; 0 elsewhere.
func peakMegabytes() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kilobytes / 1000
		}
	}
	return 0
}

// BenchmarkResume resumes a run of which all items are done but one, in a process of its own, and reports
// the time from its start to its first new call, data set and ledger read, and the peak of its memory.
// CREDENCE_BENCH_CALLS sets how many calls the ledger has (20,000; the design's target is stated for
// 1,000,000, which take some minutes to make).
func BenchmarkResume(b *testing.B) {
	calls := 20_000
	if n, err := strconv.Atoi(os.Getenv("CREDENCE_BENCH_CALLS")); err == nil {
		calls = n
	}
	folder, file, last := resumable(b, calls/callsPerItem+1)
	if info, err := os.Stat(filepath.Join(folder, "run", "ledger.db")); err == nil {
		b.Logf("the ledger has %.0f MB", float64(info.Size())/1e6)
	}
	var seconds, peak float64
	for b.Loop() {
		out, err := child(b, "resume", file, last).Output()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		var s, m float64
		if _, err := fmt.Sscan(string(out), &s, &m); err != nil {
			b.Fatal(err)
		}
		b.Logf("%.2f s to the first new call, %.0f MB", s, m)
		seconds, peak = max(seconds, s), max(peak, m)
	}
	b.ReportMetric(seconds, "s-to-call")
	b.ReportMetric(peak, "MB")
}
