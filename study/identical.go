package study

import (
	"fmt"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/record"
)

// identicalSamples warns of each setting whose samples are equal byte for byte for every item, although they were
// drawn at a temperature above 0: a server that ignores seeds does that, and a model that is sure of everything.
func (r *runner) identicalSamples() []string {
	var list []string
	for _, m := range r.file.Models {
		for _, d := range r.data {
			setting := record.Setting{Model: m.Name, Dataset: d.Name}
			items, samples := r.uncertain[setting], 0
			alike := len(items) > 1
			for _, u := range items {
				samples = max(samples, len(u.Samples))
				alike = alike && len(u.Samples) > 1 && equalSamples(u.Samples)
			}
			if alike {
				list = append(list, fmt.Sprintf("%s: the %d samples of each of %d items are equal byte for byte at temperature %g; a server that ignores seeds does that, and their agreement then says nothing of confidence",
					setting, samples, len(items), r.file.Sampling.Temperature))
			}
		}
	}
	return list
}

func equalSamples(samples []collect.Sampled) bool {
	for _, s := range samples[1:] {
		if s.Reply != samples[0].Reply {
			return false
		}
	}
	return true
}
