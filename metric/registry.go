package metric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Family is a metric up to its parameters.
type Family struct {
	// Prefix is the part of the id that all members share, such as "ece.equal-width".
	Prefix string
	// Parameters shows the rest of the id, such as "{bins}.{left-closed|right-closed}"; empty if the
	// family has one member.
	Parameters string
	// Usual lists the parameters of the members that [All] names.
	Usual []string
	// New makes the member with the given parameters.
	New func(parameters string) (Statistic, error)
}

// Families lists every metric family. A file of this package that adds metrics has a function with
// its families, named here.
func Families() []Family {
	return slices.Concat(
		levelFamilies(),
		binnedFamilies(),
		rankingFamilies(),
		selectiveFamilies(),
		calibrationFamilies(),
	)
}

// All lists the usual member or members of every family, in a fixed order.
func All() []Statistic {
	var all []Statistic
	for _, f := range Families() {
		for _, parameters := range f.Usual {
			s, err := f.New(parameters)
			if err != nil {
				panic("metric: " + f.Prefix + "." + parameters + ": " + err.Error()) // a mistake in the table
			}
			all = append(all, s)
		}
	}
	return all
}

// ByID finds the statistic with this id, which need not be among [All]: any number of bins will do.
// The error of an unknown id names those nearest to it.
func ByID(id string) (Statistic, error) {
	var family Family
	for _, f := range Families() {
		if (id == f.Prefix || strings.HasPrefix(id, f.Prefix+".")) && len(f.Prefix) > len(family.Prefix) {
			family = f
		}
	}
	if family.New == nil {
		return Statistic{}, fmt.Errorf("metric: unknown metric %q; did you mean %s?", id, nearest(id))
	}
	s, err := family.New(strings.TrimPrefix(strings.TrimPrefix(id, family.Prefix), "."))
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: %q: %w", id, err)
	}
	if s.ID != id {
		return Statistic{}, fmt.Errorf("metric: unknown metric %q; did you mean %q?", id, s.ID)
	}
	return s, nil
}

// nearest names the usual ids that share most with id, for a message.
func nearest(id string) string {
	all := All()
	shared := func(s Statistic) int {
		n := 0
		for n < min(len(id), len(s.ID)) && id[n] == s.ID[n] {
			n++
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b Statistic) int { return shared(b) - shared(a) })
	names := make([]string, 0, 3)
	for _, s := range all[:min(3, len(all))] {
		names = append(names, strconv.Quote(s.ID))
	}
	return strings.Join(names, ", ")
}

// single is the family of one statistic that has no parameters.
func single(s Statistic) Family {
	return Family{Prefix: s.ID, Usual: []string{""}, New: func(parameters string) (Statistic, error) {
		if parameters != "" {
			return Statistic{}, fmt.Errorf("%s takes no parameters", s.ID)
		}
		return s, nil
	}}
}
