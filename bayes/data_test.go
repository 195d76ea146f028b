package bayes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

func read(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// counts reads one digit for each item: 1 for correct, 0 for incorrect, - for no judgement.
func counts(digits string) []bayes.Count {
	out := make([]bayes.Count, len(digits))
	for i, d := range digits {
		switch d {
		case '1':
			out[i].Correct = 1
		case '0':
			out[i].Incorrect = 1
		}
	}
	return out
}

// published are the judgements of 100 answers by 48 automatic judges, and by two people, who are the
// last two judges.
func published(t testing.TB) bayes.JudgeData {
	var file struct {
		Judges []struct {
			Name, Family, Y string
			Human           bool
		}
	}
	read(t, "joint.json", &file)
	var d bayes.JudgeData
	for _, j := range file.Judges {
		d.Judges = append(d.Judges, bayes.Judge{Name: j.Name, Family: j.Family, Human: j.Human, Counts: counts(j.Y)})
	}
	d.People = make([]bayes.Votes, len(d.Judges[0].Counts))
	for _, j := range d.Judges {
		for i, c := range j.Counts {
			if j.Human {
				d.People[i].Correct += float64(c.Correct)
				d.People[i].Incorrect += float64(c.Incorrect)
			}
		}
	}
	return d
}
