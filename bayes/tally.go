package bayes

import "math/rand/v2"

// tally keeps of one chain what the posterior is made of.
type tally struct {
	theta      []float64 // the mean correctness of each draw
	sens, spec [][]unit  // by judge and draw
	items      *itemSums
	replicas   *replicas
	draws      int
}

func newTally(d JudgeData, o Options, random *rand.Rand) *tally {
	judges := len(d.Judges)
	return &tally{
		sens: make([][]unit, judges), spec: make([][]unit, judges),
		items: newItemSums(len(d.People)), replicas: newReplicas(d, o, random),
	}
}

func (t *tally) add(theta []float64, sens, spec []unit) {
	mean := 0.0
	for _, x := range theta {
		mean += x
	}
	t.theta = append(t.theta, mean/float64(len(theta)))
	for j := range sens {
		t.sens[j] = append(t.sens[j], sens[j])
		t.spec[j] = append(t.spec[j], spec[j])
	}
	t.replicas.see(t.draws, theta, sens, spec)
	t.draws++
}

// itemSums are sums over draws of the posterior mean of the correctness and of its square, given the
// rest of each draw: they vary less than draws do.
type itemSums struct{ mean, square []float64 }

func newItemSums(items int) *itemSums {
	return &itemSums{make([]float64, items), make([]float64, items)}
}
