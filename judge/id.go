package judge

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/nearest"
	"github.com/credence-lab/credence/record"
)

// TiedVerdict: a score lies exactly between correct and incorrect, and no threshold says where it belongs.
const TiedVerdict record.Missing = "verdict tied"

// A Cut makes a verdict of a score. The zero Cut is none.
type Cut struct {
	// At is the threshold, on the scale of the score.
	At float64
	// Rule says what becomes of a score that equals it.
	Rule CutRule
}

// CutRule says on which side of a threshold the threshold itself lies.
type CutRule uint8

const (
	// NoCut: there is no threshold.
	NoCut CutRule = iota
	// Above: correct is a score that surpasses the threshold ("A Tale of Two Error Categories",
	// appendix C.2).
	Above
	// AtLeast: correct is also a score equal to the threshold.
	AtLeast
)

const inclusive = ".inclusive"

// String returns "@0.3", "@0.3.inclusive", or nothing where there is no threshold.
func (c Cut) String() string {
	switch c.Rule {
	case Above:
		return "@" + strconv.FormatFloat(c.At, 'f', -1, 64)
	case AtLeast:
		return "@" + strconv.FormatFloat(c.At, 'f', -1, 64) + inclusive
	}
	return ""
}

// Verdict cuts a score. Without a threshold a score above .5 is correct, one below incorrect, and .5
// itself not judged ([TiedVerdict]). A missing score is not judged, for its own reason.
func (c Cut) Verdict(score record.Number) (record.Verdict, record.Missing) {
	x, known := score.Get()
	switch {
	case !known:
		return record.NotJudged, score.Missing()
	case c.Rule == NoCut && x == .5:
		return record.NotJudged, TiedVerdict
	case c.Rule == NoCut && x > .5, c.Rule == Above && x > c.At, c.Rule == AtLeast && x >= c.At:
		return record.Correct, record.Present
	}
	return record.Incorrect, record.Present
}

// ID names a judge in full: "exact-match", "token-f1@0.3", "rouge-l.stem@0.5.inclusive",
// "llm:qwen-0.5b", "panel-majority:qwen+llama".
type ID struct {
	// Judge is the id of an [Entry].
	Judge string
	// Name is the model, file or person, for entries that are named.
	Name string
	Cut  Cut
}

// String returns the id as [ParseID] reads it.
func (id ID) String() string {
	s := id.Judge
	if id.Name != "" {
		s += ":" + id.Name
	}
	return s + id.Cut.String()
}

// Entry returns what the registry says of the judge. It panics for an id that did not come from
// [ParseID].
func (id ID) Entry() Entry {
	for _, e := range Registry() {
		if e.ID == id.Judge {
			return e
		}
	}
	panic("judge: no judge " + id.Judge)
}

// Members are the names that a panel joins with "+".
func (id ID) Members() []string { return strings.Split(id.Name, "+") }

// ParseID reads an id. An error says what is wrong with it and what to write instead; for an unknown
// judge it wraps ErrUnknown and suggests the nearest.
func ParseID(s string) (ID, error) {
	id, err := parseID(s)
	if err != nil {
		return ID{}, fmt.Errorf("judge %q: %w", s, err)
	}
	return id, nil
}

func parseID(s string) (ID, error) {
	rest, cut, hasCut := strings.Cut(s, "@")
	kind, name, hasName := strings.Cut(rest, ":")
	id := ID{Judge: kind, Name: name}
	entries := Registry()
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == kind })
	if i < 0 {
		return ID{}, unknown(kind, entries)
	}
	e := entries[i]
	switch {
	case e.Named && name == "" && !e.nameOptional():
		return ID{}, fmt.Errorf("name one after a colon, such as \"%s:mine\"", kind)
	case e.Named && strings.ContainsAny(name, ":@, \t\n"):
		return ID{}, fmt.Errorf("name %q may hold neither blanks nor \":\", \"@\" and \",\"", name)
	case hasName && (!e.Named || name == ""):
		return ID{}, fmt.Errorf("%s takes no name: leave out what stands after the colon", kind)
	case hasCut && e.Cut == NeverCut:
		return ID{}, fmt.Errorf("%s gives a verdict at once and takes no threshold: leave out \"@%s\"", kind, cut)
	case !hasCut && e.Cut == MustCut:
		return ID{}, fmt.Errorf("%s gives a score: add a threshold, such as \"%s@0.3\"", kind, rest)
	case !hasCut:
		return id, nil
	}
	var err error
	id.Cut, err = parseCut(cut, e)
	return id, err
}

func parseCut(s string, e Entry) (Cut, error) {
	digits, atLeast := strings.CutSuffix(s, inclusive)
	at, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || math.IsNaN(at) || strings.ContainsAny(digits, "xXpP_"):
		return Cut{}, fmt.Errorf("threshold %q is no number: write it as 0.3, or 0.3%s for a score that may equal it", s, inclusive)
	case !(at >= e.Low && at <= e.High):
		return Cut{}, fmt.Errorf("threshold %s is outside the scores of %s, which lie from %g to %g", digits, e.ID, e.Low, e.High)
	}
	rule := Above
	if atLeast {
		rule = AtLeast
	}
	return Cut{at + 0, rule}, nil // -0 is 0
}

func unknown(kind string, entries []Entry) error {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	if near, ok := nearest.Of(kind, ids); ok {
		return fmt.Errorf("%w: did you mean %q?", ErrUnknown, near)
	}
	return fmt.Errorf("%w: the judges are %s", ErrUnknown, strings.Join(ids, ", "))
}

// Thresholds are .1 to .9 in steps of .1: those of "A Tale of Two Error Categories", section 3.2.
func Thresholds() []float64 { return []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9} }

// Grid returns the ids of a scoring judge at all [Thresholds].
func Grid(judge string) []string {
	ids := make([]string, 0, 9)
	for _, t := range Thresholds() {
		ids = append(ids, judge+Cut{t, Above}.String())
	}
	return ids
}
