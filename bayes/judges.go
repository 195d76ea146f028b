package bayes

import (
	"fmt"
)

// Votes are the labels that people gave to one item. They may be fractions: an "unsure" can count half.
type Votes struct {
	Correct, Incorrect float64
}

// Count is the number of judgements of each kind that one judge gave on one item. Both are 0 where
// the judge gave none; more than one is allowed.
type Count struct {
	Correct, Incorrect int
}

func (c Count) total() int { return c.Correct + c.Incorrect }

// A Judge is whoever said of items whether they are correct.
type Judge struct {
	// Name is unique among the judges.
	Name string
	// Family is what judges share that are thresholds of one score, such as "token-f1"; empty for a
	// judge of its own kind.
	Family string
	// Human says that the judge is a person, whose sensitivity and specificity have the prior for people.
	Human bool
	// Counts has one entry for each item.
	Counts []Count
}

// JudgeData is what the judge model is fitted to.
type JudgeData struct {
	// People has the labels of people for each item, at least one item. They inform how probably an
	// item is correct.
	People []Votes
	// Judges are those that are fitted together. A person may be among them, and then counts in both
	// places, as "A Tale of Two Error Categories", Appendix B.1, has it.
	Judges []Judge
}

// Beta is the distribution Beta(A, B) on (0,1); A and B lie in [.1, 10⁶].
type Beta struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func (b Beta) check(what string) error {
	const least, most = .1, 1e6
	if !(b.A >= least && b.A <= most && b.B >= least && b.B <= most) {
		return fmt.Errorf("bayes: prior of the %s is Beta(%v, %v); give numbers in [%v, %v]", what, b.A, b.B, least, most)
	}
	return nil
}

// String is "Beta(a, b)".
func (b Beta) String() string { return fmt.Sprintf("Beta(%v, %v)", b.A, b.B) }

// JudgePriors are the priors of the judge model. The zero value of a prior stands for that of [PaperPriors].
type JudgePriors struct {
	// Correctness is the prior of the probability that an item is correct, before the labels of people.
	Correctness Beta `json:"correctness"`
	// Sensitivity and Specificity are the priors of judges that are no people.
	Sensitivity Beta `json:"sensitivity"`
	Specificity Beta `json:"specificity"`
	// HumanSensitivity and HumanSpecificity are those of people as judges.
	HumanSensitivity Beta `json:"human_sensitivity"`
	HumanSpecificity Beta `json:"human_specificity"`
}

// PaperPriors are those of "A Tale of Two Error Categories", Appendix B.1: Beta(.5, .5) for
// correctness, Beta(1, 1) for judges, Beta(1, .5) for people as judges.
func PaperPriors() JudgePriors {
	return JudgePriors{
		Correctness: Beta{.5, .5},
		Sensitivity: Beta{1, 1}, Specificity: Beta{1, 1},
		HumanSensitivity: Beta{1, .5}, HumanSpecificity: Beta{1, .5},
	}
}

func (p JudgePriors) withDefaults() (JudgePriors, error) {
	d := PaperPriors()
	for _, f := range []struct {
		have, def *Beta
		what      string
	}{
		{&p.Correctness, &d.Correctness, "correctness"},
		{&p.Sensitivity, &d.Sensitivity, "sensitivity"},
		{&p.Specificity, &d.Specificity, "specificity"},
		{&p.HumanSensitivity, &d.HumanSensitivity, "human sensitivity"},
		{&p.HumanSpecificity, &d.HumanSpecificity, "human specificity"},
	} {
		if *f.have == (Beta{}) {
			*f.have = *f.def
		}
		if err := f.have.check(f.what); err != nil {
			return p, err
		}
	}
	return p, nil
}

// of returns the priors of one judge.
func (p JudgePriors) of(j Judge) (sensitivity, specificity Beta) {
	if j.Human {
		return p.HumanSensitivity, p.HumanSpecificity
	}
	return p.Sensitivity, p.Specificity
}

// Bounds of what is fitted at once: far beyond any study, near enough that nothing overflows.
const (
	maxVotes      = 1e5
	maxJudgements = 512 // on one item
)

func (d JudgeData) check() error {
	if len(d.People) == 0 {
		return fmt.Errorf("bayes: no items")
	}
	if len(d.Judges) == 0 {
		return fmt.Errorf("bayes: no judges")
	}
	for i, v := range d.People {
		if !(v.Correct >= 0 && v.Incorrect >= 0 && v.Correct <= maxVotes && v.Incorrect <= maxVotes) {
			return fmt.Errorf("bayes: item %d has %v and %v labels of people; give numbers in [0, %v]", i, v.Correct, v.Incorrect, float64(maxVotes))
		}
	}
	names := map[string]bool{}
	for _, j := range d.Judges {
		if names[j.Name] {
			return fmt.Errorf("bayes: two judges are called %q; names must differ", j.Name)
		}
		names[j.Name] = true
		if len(j.Counts) != len(d.People) {
			return fmt.Errorf("bayes: judge %q has judgements for %d items, people for %d; give one count for each item", j.Name, len(j.Counts), len(d.People))
		}
		for i, c := range j.Counts {
			if c.Correct < 0 || c.Incorrect < 0 {
				return fmt.Errorf("bayes: judge %q has a negative number of judgements on item %d", j.Name, i)
			}
		}
	}
	for i := range d.People {
		total := 0
		for _, j := range d.Judges {
			if total += j.Counts[i].total(); total > maxJudgements || total < 0 {
				return fmt.Errorf("bayes: more than %d judgements on item %d; fit fewer judges together", maxJudgements, i)
			}
		}
	}
	return nil
}

// names of the judges, in order.
func (d JudgeData) names() []string {
	names := make([]string, len(d.Judges))
	for i, j := range d.Judges {
		names[i] = j.Name
	}
	return names
}

// judged counts the items that the judge said something about.
func (j Judge) judged() int {
	n := 0
	for _, c := range j.Counts {
		if c.total() > 0 {
			n++
		}
	}
	return n
}

// prior of the probability that item i is correct, given the labels of people.
func (d JudgeData) prior(p JudgePriors, i int) Beta {
	return Beta{p.Correctness.A + d.People[i].Correct, p.Correctness.B + d.People[i].Incorrect}
}
