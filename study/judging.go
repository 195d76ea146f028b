package study

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Judging says what is asked of models that judge, besides their verdicts: how far these depend on what should not
// matter.
type Judging struct {
	// Orders asks again with the two verdicts in the other order, and with the references in another.
	Orders bool `yaml:"orders,omitempty"`
	// Repeats is how often the verdict on a sample of RepeatItems items of each data set is written again, at
	// Temperature; 0 asks for none.
	Repeats     int     `yaml:"repeats,omitempty"`
	RepeatItems int     `yaml:"repeat_items,omitempty"`
	Temperature float64 `yaml:"temperature,omitempty"`
}

// DefaultRepeatItems are enough to tell a judge that mostly repeats itself from one that tosses coins.
const DefaultRepeatItems = 20

// The judges that are models of the study, or panels of them.
const (
	llmJudge      = "llm"
	textJudge     = "llm-text"
	panelMean     = "panel-mean"
	panelMajority = "panel-majority"
)

// asksModels reports whether a judge is made of what models of the study say.
func asksModels(id judge.ID) bool {
	return slices.Contains([]string{llmJudge, textJudge, panelMean, panelMajority}, id.Judge)
}

// membersOf are the models that a judge asks.
func membersOf(id judge.ID) []string {
	if id.Judge == panelMean || id.Judge == panelMajority {
		return id.Members()
	}
	return []string{id.Name}
}

// checkMembers says what is wrong with who is to judge.
func (f *File) checkMembers(node string, id judge.ID) error {
	members, known := membersOf(id), f.modelNames()
	for i, name := range members {
		switch {
		case !slices.Contains(known, name):
			return f.at.errorf(node, hintFor(name, known), "there is no model %q to judge", name)
		case slices.Contains(members[:i], name):
			return f.at.errorf(node, "name each once", "the panel has %q twice", name)
		}
	}
	if len(members) == 1 && id.Judge != llmJudge && id.Judge != textJudge {
		return f.at.errorf(node, fmt.Sprintf("join members with +, or write \"llm:%s\"", members[0]), "a panel of one is no panel")
	}
	return nil
}

// checkJudging says what is wrong with what is asked of models that judge.
func (f *File) checkJudging() error {
	j := f.Judging
	switch {
	case j != (Judging{}) && len(f.modelJudges()) == 0:
		return f.at.errorf("$.judging", "add a judge such as \"llm:NAME\"", "no model judges in this study")
	case j.Repeats < 0 || j.Repeats > maxSamples || j.Repeats == 1:
		return f.at.errorf("$.judging.repeats", fmt.Sprintf("use 2 to %d, or 0 for none", maxSamples), "repeats is %d", j.Repeats)
	case j.RepeatItems < 0 || !sensible(j.RepeatItems):
		return f.at.errorf("$.judging.repeat_items", "leave it out for 20", "repeat_items is %d", j.RepeatItems)
	case j.Repeats > 0 && !(j.Temperature > 0 && j.Temperature <= math.MaxFloat32):
		return f.at.errorf("$.judging.temperature", "the usual one is 1", "at temperature %g a verdict is only repeated", j.Temperature)
	}
	return nil
}

// modelJudges are the judges that are models of the study, or panels of them, in order.
func (f *File) modelJudges() []judge.ID {
	var list []judge.ID
	for _, text := range f.Judges {
		if id, err := judge.ParseID(text); err == nil && asksModels(id) {
			list = append(list, id)
		}
	}
	return list
}

// judgingRole is what is asked of a model as a judge; the zero role is nothing.
type judgingRole struct{ forced, written bool }

func (f *File) judgingOf(model string) judgingRole {
	var role judgingRole
	for _, id := range f.modelJudges() {
		if slices.Contains(membersOf(id), model) {
			role.written = role.written || id.Judge == textJudge
			role.forced = role.forced || id.Judge != textJudge
		}
	}
	return role
}

// judging is how a model is asked about an item as a judge.
func (f *File) judging(m *model, repeated bool) *collect.Judging {
	role := f.judgingOf(m.Name)
	j := &collect.Judging{
		Prompt: prompt.DefaultVerdict(), Form: m.form, Forced: role.forced, Written: role.written,
		Swapped: role.forced && f.Judging.Orders, Turned: role.forced && f.Judging.Orders,
		Temperature: f.Judging.Temperature, Seed: f.Seed,
	}
	if repeated {
		j.Repeats = f.Judging.Repeats
	}
	return j
}

// repeatedItems are the places of the items whose verdicts are repeated: those whose ids have the lowest hashes with
// the study's seed, so that the sample does not depend on the order or the number of the others.
func (f *File) repeatedItems(items []record.Item) map[int]bool {
	if f.Judging.Repeats == 0 {
		return nil
	}
	order := make([]int, len(items))
	hashes := make([]uint64, len(items))
	for i, item := range items {
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d\x00%s", f.Seed, item.ID)
		order[i], hashes[i] = i, h.Sum64()
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case hashes[a] < hashes[b]:
			return -1
		case hashes[a] > hashes[b]:
			return 1
		}
		return a - b
	})
	chosen := map[int]bool{}
	for _, i := range order[:min(len(order), f.Judging.RepeatItems)] {
		chosen[i] = true
	}
	return chosen
}
