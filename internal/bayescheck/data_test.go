package bayescheck_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
)

// stress reports whether the long versions are asked for.
func stress() bool { return os.Getenv("CREDENCE_STRESS") != "" }

func needStress(t *testing.T, what string) {
	t.Helper()
	if !stress() {
		t.Skipf("%s; set CREDENCE_STRESS=1", what)
	}
}

func read(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "bayes", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// counts reads one digit for each item: 1 for correct, 0 for incorrect.
func counts(digits string) []bayes.Count {
	out := make([]bayes.Count, len(digits))
	for i, d := range digits {
		if d == '1' {
			out[i].Correct = 1
		} else {
			out[i].Incorrect = 1
		}
	}
	return out
}

// moments are a mean with its Monte-Carlo error, and a standard deviation.
type moments struct {
	Mean, SD float64
	MCSE     float64 `json:"mcse_mean"`
}

// joint are the published judgements with reference posteriors.
type joint struct {
	data  bayes.JudgeData
	Cases []struct {
		Name      string
		Judges    int
		MeanTheta moments   `json:"mean_theta"`
		ThetaMean []float64 `json:"theta_mean"`
		ThetaSD   []float64 `json:"theta_sd"`
		Expect    []struct{ TP, TN, F1, Accuracy, P1, P0 moments }
	}
	Judges []struct {
		Name, Family, Y string
		Human           bool
	}
}

func readJoint(t testing.TB) joint {
	var f joint
	read(t, "joint.json", &f)
	for _, j := range f.Judges {
		f.data.Judges = append(f.data.Judges, bayes.Judge{Name: j.Name, Family: j.Family, Human: j.Human, Counts: counts(j.Y)})
	}
	f.data.People = make([]bayes.Votes, len(f.Judges[0].Y))
	for _, j := range f.data.Judges {
		for i, c := range j.Counts {
			if j.Human {
				f.data.People[i].Correct += float64(c.Correct)
				f.data.People[i].Incorrect += float64(c.Incorrect)
			}
		}
	}
	return f
}

// within compares the mean of an estimate with a reference, in combined Monte-Carlo standard errors,
// and the standard deviations.
func within(t *testing.T, what string, got bayes.Estimate, want moments) {
	t.Helper()
	mean, ok := got.Mean.Get()
	own, hasError := got.MCSE.Get()
	if !ok || !hasError {
		t.Errorf("%s: mean is undefined: %s", what, got.Mean.Reason())
		return
	}
	if z := (mean - want.Mean) / math.Hypot(own, want.MCSE); math.Abs(z) > 4 {
		t.Errorf("%s: mean is %v, want %v: %.1f standard errors apart", what, mean, want.Mean, z)
	}
	if sd, _ := got.SD.Get(); math.Abs(sd/want.SD-1) > .12 {
		t.Errorf("%s: standard deviation is %v, want %v", what, sd, want.SD)
	}
}

func converged(t *testing.T, c bayes.Convergence) {
	t.Helper()
	if x, ok := c.RHat.Get(); !ok || x >= bayes.MaxRHat || c.Verdict != bayes.Converged {
		t.Errorf("R-hat is %v, verdict %s: %v", x, c.Verdict, texts(c.Warnings))
	}
}

func texts(w []measure.Warning) (out []string) {
	for _, w := range w {
		out = append(out, w.Text)
	}
	return out
}
