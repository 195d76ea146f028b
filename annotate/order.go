package annotate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// Design says who labels what.
type Design struct {
	// Annotators by name; at least one, each once.
	Annotators []string
	// Overlap is how many answers all of them label, so that their agreement can be measured; the others are
	// dealt out. A number of all tasks or more means that everybody labels everything.
	Overlap int
	// Seed fixes who gets what, and in which order.
	Seed uint64
}

// Check says what is wrong with a design; nil if nothing is.
func (d Design) Check() error {
	if len(d.Annotators) == 0 {
		return fmt.Errorf("a design without annotators")
	}
	if d.Overlap < 0 {
		return fmt.Errorf("overlap %d is negative", d.Overlap)
	}
	for i, name := range d.Annotators {
		if err := CheckName(name); err != nil {
			return err
		}
		if slices.Contains(d.Annotators[:i], name) {
			return fmt.Errorf("annotator %q is named twice", name)
		}
	}
	return nil
}

// CheckName says whether a text can name an annotator: printable, without blanks at its edges, at most 100
// characters.
func CheckName(name string) error {
	printable := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' }) < 0
	if name == "" || name != strings.TrimSpace(name) || utf8.RuneCountInString(name) > 100 || !printable {
		return fmt.Errorf("%q cannot name an annotator: use printable characters, at most 100", name)
	}
	return nil
}

// Tasks are those of one annotator, in the order in which they are shown: what all label and what is dealt
// to this one, shuffled by a generator of seed and name. The order depends on nothing but the design and
// the tasks' identities, so that it is the same in every session. It panics for somebody whom the design
// does not name.
func (d Design) Tasks(all []Task, annotator string) []Task {
	at := slices.Index(d.Annotators, annotator)
	if at < 0 {
		panic(fmt.Sprintf("annotate: the design has no annotator %q", annotator))
	}
	dealt := slices.Clone(all)
	slices.SortFunc(dealt, func(a, b Task) int { return strings.Compare(a.Answer.String(), b.Answer.String()) })
	shuffle(dealt, d.Seed, "deal")
	shared := min(d.Overlap, len(dealt))
	if len(d.Annotators) == 1 {
		shared = len(dealt)
	}
	mine := slices.Clone(dealt[:shared])
	for i, task := range dealt[shared:] {
		if i%len(d.Annotators) == at {
			mine = append(mine, task)
		}
	}
	shuffle(mine, d.Seed, "order\x00"+annotator)
	return mine
}

func shuffle(tasks []Task, seed uint64, purpose string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
}
