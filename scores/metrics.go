package scores

import (
	"strings"

	"github.com/credence-lab/credence/metric"
)

// AllMetrics as an id stands for every metric of [metric.All].
const AllMetrics = "all"

// usualMetrics are computed where none is named: one each of ranking, selective prediction and
// calibration, and the Brier score, which has a part of all three.
var usualMetrics = []string{"auroc", "aurc.expected", "ece.equal-width.10.left-closed", "brier"}

// Metrics finds metrics by their ids, each once, in the order given; none means the usual ones. The
// beginning of an id, up to a point, stands for the first metric of [metric.All] that begins so: "ece"
// for the default ECE.
func Metrics(ids []string) ([]metric.Statistic, error) {
	if len(ids) == 0 {
		ids = usualMetrics
	}
	var found []metric.Statistic
	seen := map[string]bool{}
	for _, id := range ids {
		list := metric.All()
		if id != AllMetrics {
			s, err := Metric(id)
			if err != nil {
				return nil, err
			}
			list = []metric.Statistic{s}
		}
		for _, s := range list {
			if !seen[s.ID] {
				seen[s.ID] = true
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// Metric finds one metric by its id or the beginning of it; see [Metrics].
func Metric(id string) (metric.Statistic, error) {
	id = strings.ToLower(id) // ids are lower case; people write AUROC
	s, err := metric.ByID(id)
	if err == nil {
		return s, nil
	}
	for _, s := range metric.All() {
		if strings.HasPrefix(s.ID, id+".") {
			return s, nil
		}
	}
	return metric.Statistic{}, err
}
