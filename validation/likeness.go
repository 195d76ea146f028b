package validation

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// Persistence is that of rank-biased overlap in section 5.1.
const Persistence = .9

// Likeness says how like the people's ranking of quantifiers the one under a judge is: a point of
// Figures 4 and 28, whose other axis is the judge's F1.
type Likeness struct {
	Judge string `json:"judge"`
	// RBO is the rank-biased overlap of the two rankings, in [0,1]; equal AUROCs share a place, by
	// expectation over their order. Its N is the number of quantifiers.
	RBO measure.Value `json:"rbo"`
	// Kendall is τ-b of the AUROCs, in [−1,1].
	Kendall measure.Value `json:"kendall"`
	// Tied says that the judge gives some quantifiers equal AUROCs.
	Tied bool `json:"tied"`
}

func likenesses(auroc Matrix) ([]Likeness, error) {
	list := make([]Likeness, len(auroc.Judges))
	for j, row := range auroc.Judges {
		l := Likeness{Judge: row.Judge}
		why := measure.Reason("")
		for _, r := range []Row{auroc.People, row} {
			for _, c := range r.Cells {
				if !c.Value.Defined() && why == "" {
					why = c.Value.Reason()
				}
			}
		}
		if why != "" {
			l.RBO, l.Kendall = measure.Undefined("rbo", why, 0), measure.Undefined("kendall", why, 0)
			list[j] = l
			continue
		}
		people, judge := auroc.People.values(), row.values()
		ranking := metric.Tied(judge, auroc.Better, 0)
		l.Tied = len(ranking) < len(judge)
		var err error
		if l.RBO, err = metric.RBOTied(metric.Tied(people, auroc.Better, 0), ranking, Persistence); err != nil {
			return nil, err
		}
		p, err := metric.Prepare(judge, people, measure.Confidence)
		if err != nil {
			return nil, err
		}
		l.Kendall = metric.Kendall().On(p)
		list[j] = l
	}
	return list, nil
}
