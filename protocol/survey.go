package protocol

import (
	"context"

	"github.com/credence-lab/credence/record"
)

// Design says which comparisons a study makes in every setting.
type Design struct {
	Options
	// Main are the comparisons of the model's own answers, the default first: every correctness rule
	// with every aggregation.
	Main []Choice
	// Further are comparisons of other answers or of fewer rows, under names such as "0-100 scale".
	Further []NamedChoice
	// Other names the prompt of a second set of answers, which are compared with the main ones; empty
	// for none. Reference says that reference answers were scored.
	Other     string
	Reference bool
	// Supplied is nil unless answers were supplied.
	Supplied *SuppliedDesign
	// Multiverse are all choices that the records allow, evaluated at MultiverseResamples; nil for none.
	Multiverse          []Choice
	MultiverseResamples int
	// Same says that two texts are one answer.
	Same func(a, b string) bool
}

// NamedChoice is a comparison under a name.
type NamedChoice struct {
	Name   string
	Choice Choice
}

// SettingResult is everything that one setting gave.
type SettingResult struct {
	Setting record.Setting `json:"setting"`
	// Group is the group of the setting's model.
	Group string `json:"group"`
	// Comparisons of the model's own answers, the default choice first.
	Comparisons []*Comparison `json:"comparisons"`
	// Further comparisons by name.
	Further   []Further       `json:"further,omitempty"`
	Selection *Selection      `json:"selection,omitempty"`
	Reference *ReferenceShift `json:"reference,omitempty"`
	Spread    []Spread        `json:"spread,omitempty"`
	Transfer  []MapTransfer   `json:"transfer,omitempty"`
}

// Further is a comparison beside the main ones.
type Further struct {
	Name       string      `json:"name"`
	Comparison *Comparison `json:"comparison"`
}

// Summaries are what a study says over all its settings, by group of models.
type Summaries struct {
	// Shifts has the main comparisons in their order, then the further ones.
	Shifts     []NamedShift         `json:"shifts"`
	Axes       []AxisSummary        `json:"axes,omitempty"`
	Flips      []FlipSummary        `json:"flips,omitempty"`
	Spread     []SpreadSummary      `json:"spread,omitempty"`
	Selection  []SelectionSummary   `json:"selection,omitempty"`
	Reference  []ReferenceSummary   `json:"reference,omitempty"`
	Transfer   []MapTransferSummary `json:"transfer,omitempty"`
	Supplied   []SuppliedSummary    `json:"supplied,omitempty"`
	Multiverse []MultiverseSummary  `json:"multiverse,omitempty"`
}

// NamedShift is a comparison over settings under a name; "main" is the comparison of own answers.
type NamedShift struct {
	Name string `json:"name"`
	ShiftSummary
}

// Survey takes in settings one by one and keeps what their summaries need. Its memory does not grow
// with the number of settings but by the pooled pairs and the outcomes of the multiverse.
type Survey struct {
	design Design
	groups []*groupSurvey
}

// groupSurvey accumulates one group of models.
type groupSurvey struct {
	name       string
	main       []*shifts
	further    []*shifts
	axes       *axes
	flips      *estimatorFlips
	spread     spreadMeans
	selections *selections
	references *references
	transfers  transferMeans
	supplied   *suppliedPool
	outcomes   []Outcome
}

// NewSurvey returns an empty survey.
func NewSurvey(d Design) *Survey { return &Survey{design: d} }

func (s *Survey) group(name string) *groupSurvey {
	for _, g := range s.groups {
		if g.name == name {
			return g
		}
	}
	level := s.design.Level
	g := &groupSurvey{name: name, axes: newAxes(name, level), flips: newEstimatorFlips(name)}
	g.spread = spreadMeans{group: name, level: level}
	g.transfers = transferMeans{group: name, level: level}
	for _, c := range s.design.Main {
		g.main = append(g.main, newShifts(name, c, level))
	}
	for _, c := range s.design.Further {
		g.further = append(g.further, newShifts(name, c.Choice, level))
	}
	if s.design.Supplied != nil {
		g.supplied = newSuppliedPool(name, *s.design.Supplied)
	}
	s.groups = append(s.groups, g)
	return g
}

// Add analyses one setting. items are those of its data set; group is that of its model. An error means
// that ctx ended, or that two settings cannot be averaged.
func (s *Survey) Add(ctx context.Context, r *Records, items []record.Item, group string) (*SettingResult, error) {
	g := s.group(group)
	out := &SettingResult{Setting: r.setting, Group: group}
	main, err := s.comparisons(ctx, r, g, out)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return s.overProtocols(g, main, out) },
		func() error { return s.further(ctx, r, g, out) },
		func() error { return s.selection(ctx, r, g, out) },
		func() error { return s.reference(ctx, r, g, out) },
		func() error { return s.transfer(r, g, out) },
		func() error { return s.multiverse(ctx, r, g) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if g.supplied != nil {
		byID := make(map[string]record.Item, len(items))
		for _, item := range items {
			byID[item.ID] = item
		}
		g.supplied.add(r, byID)
	}
	return out, nil
}

func (s *Survey) comparisons(ctx context.Context, r *Records, g *groupSurvey, out *SettingResult) ([]*compared, error) {
	var main []*compared
	for i, choice := range s.design.Main {
		c, err := compare(ctx, r.Align(choice), s.design.Options)
		if err != nil {
			return nil, err
		}
		if err := g.main[i].add(c); err != nil {
			return nil, err
		}
		main = append(main, c)
		out.Comparisons = append(out.Comparisons, c.Comparison)
	}
	return main, nil
}

// overProtocols takes the comparisons of one setting beside each other.
func (s *Survey) overProtocols(g *groupSurvey, main []*compared, out *SettingResult) error {
	if len(main) == 0 || main[0].Used == 0 {
		return nil
	}
	if err := g.axes.add(main); err != nil {
		return err
	}
	g.flips.add(main[0])
	out.Spread = spreads(main)
	return g.spread.add(out.Spread)
}

func (s *Survey) further(ctx context.Context, r *Records, g *groupSurvey, out *SettingResult) error {
	for i, named := range s.design.Further {
		if !r.Has(named.Choice.answers()) {
			g.further[i].summary.LeftOut = append(g.further[i].summary.LeftOut, LeftSetting{r.setting.String(), "no such answers"})
			continue
		}
		c, err := compare(ctx, r.Align(named.Choice), s.design.Options)
		if err != nil {
			return err
		}
		if err := g.further[i].add(c); err != nil {
			return err
		}
		out.Further = append(out.Further, Further{named.Name, c.Comparison})
	}
	return nil
}

func (s *Survey) selection(ctx context.Context, r *Records, g *groupSurvey, out *SettingResult) error {
	if s.design.Other == "" || len(s.design.Main) == 0 {
		return nil
	}
	first := s.design.Main[0]
	one, err := r.selection(ctx, first.answers(), s.design.Other, first.Aggregation, s.design.Same, s.design.Options)
	if err != nil {
		return err
	}
	out.Selection = one.Selection
	if g.selections == nil {
		g.selections = &selections{group: g.name, level: s.design.Level}
	}
	return g.selections.add(one)
}

func (s *Survey) reference(ctx context.Context, r *Records, g *groupSurvey, out *SettingResult) error {
	if !s.design.Reference || len(s.design.Main) == 0 {
		return nil
	}
	one, err := r.reference(ctx, s.design.Main[0], s.design.Options)
	if err != nil || one == nil {
		return err
	}
	out.Reference = one.ReferenceShift
	if g.references == nil {
		g.references = &references{group: g.name, level: s.design.Level}
	}
	return g.references.add(one)
}

func (s *Survey) transfer(r *Records, g *groupSurvey, out *SettingResult) (err error) {
	if len(s.design.Main) == 0 {
		return nil
	}
	if out.Transfer, err = r.Align(s.design.Main[0]).transfers(s.design.Options); err != nil {
		return err
	}
	return g.transfers.add(out.Transfer)
}

func (s *Survey) multiverse(ctx context.Context, r *Records, g *groupSurvey) error {
	if s.design.Multiverse == nil {
		return nil
	}
	o := s.design.Options
	o.Resamples = min(o.Resamples, s.design.MultiverseResamples)
	var allowed []Choice
	for _, c := range s.design.Multiverse {
		if r.Has(c.answers()) {
			allowed = append(allowed, c)
		}
	}
	outcomes, err := r.Multiverse(ctx, allowed, o)
	g.outcomes = append(g.outcomes, outcomes...)
	return err
}

// Outcomes are all rows of the multiverse, in the order of groups and settings.
func (s *Survey) Outcomes() []Outcome {
	var list []Outcome
	for _, g := range s.groups {
		list = append(list, g.outcomes...)
	}
	return list
}

// MainName is the name of the comparison of own answers among the shifts.
const MainName = "main"

// Summaries are over all settings added so far. An error means that ctx ended.
func (s *Survey) Summaries(ctx context.Context) (*Summaries, error) {
	out := &Summaries{}
	for _, g := range s.groups {
		for _, one := range g.main {
			out.Shifts = append(out.Shifts, NamedShift{MainName, one.result()})
		}
		for i, one := range g.further {
			out.Shifts = append(out.Shifts, NamedShift{s.design.Further[i].Name, one.result()})
		}
		out.Axes = append(out.Axes, g.axes.result()...)
		out.Flips = append(out.Flips, g.flips.result()...)
		out.Spread = append(out.Spread, g.spread.result()...)
		if g.selections != nil {
			out.Selection = append(out.Selection, g.selections.result())
		}
		if g.references != nil {
			out.Reference = append(out.Reference, g.references.result())
		}
		out.Transfer = append(out.Transfer, g.transfers.result()...)
		if g.supplied != nil {
			sum, err := g.supplied.result(ctx, s.design.Options)
			if err != nil {
				return nil, err
			}
			out.Supplied = append(out.Supplied, sum)
		}
		out.Multiverse = append(out.Multiverse, SummariseMultiverse(g.name, g.outcomes)...)
	}
	return out, nil
}
