package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/record"
)

// labelling is one person's session.
type labelling struct {
	log   *annotate.Log
	name  string
	tasks []annotate.Task
	// at is the number of the answer that is shown; −1 where none is.
	at     int
	filter annotate.Filter
	// note is for the next label of the answer that is shown.
	note   string
	keys   keys
	screen *labelScreen
	now    func() time.Time
}

func sorted(names []string) []string {
	list := slices.Clone(names)
	slices.Sort(list)
	return list
}

// run shows answers and takes keys until the person quits or the input ends.
func (s *labelling) run(ctx context.Context) error {
	s.screen.begin()
	s.at = s.next(-1)
	for {
		s.show()
		quit, err := s.command(ctx)
		if quit || err != nil {
			s.dropNote()
			s.screen.say("%d of %d answers are labelled. The same command goes on.", len(s.mine()), len(s.tasks))
			return err
		}
	}
}

// mine are the labels of this person that stand, on this person's answers.
func (s *labelling) mine() map[int]annotate.Entry {
	current, mine := s.log.Current(s.name), map[int]annotate.Entry{}
	for i, task := range s.tasks {
		if e, ok := current[task.Answer]; ok {
			mine[i] = e
		}
	}
	return mine
}

// next is the first answer after number i that the filter shows, from the start again where none follows; −1
// where there is none.
func (s *labelling) next(i int) int {
	mine := s.mine()
	for step := 1; step <= len(s.tasks); step++ {
		k := (i + step + len(s.tasks)) % len(s.tasks)
		if s.filter.Shows(s.tasks[k], mine[k]) {
			return k
		}
	}
	return -1
}

// move shows another answer. A note that was meant for the one before does not follow.
func (s *labelling) move(to int) {
	s.dropNote()
	s.at = to
}

func (s *labelling) dropNote() {
	if s.note != "" {
		s.screen.say("The note was for a label that was not given; it is dropped.")
	}
	s.note = ""
}

func (s *labelling) show() {
	mine := s.mine()
	if s.at < 0 {
		what := fmt.Sprintf("No answer is %s. f chooses others", s.filter)
		if s.filter == annotate.Open {
			what = fmt.Sprintf("All %d answers are labelled. z takes the last label back, f shows some of them again", len(s.tasks))
		}
		s.screen.say("%s, g N goes to an answer, q quits.", termsafe.String(what))
		return
	}
	s.screen.show(s.tasks[s.at], s.progress(mine), mine[s.at], s.note)
}

// progress says where the person is.
func (s *labelling) progress(mine map[int]annotate.Entry) string {
	text := fmt.Sprintf("%d of %d, %d labelled", s.at+1, len(s.tasks), len(mine))
	if s.filter == annotate.Open {
		return text
	}
	shown := 0
	for i, task := range s.tasks {
		if s.filter.Shows(task, mine[i]) {
			shown++
		}
	}
	return text + fmt.Sprintf("; %d are %s", shown, s.filter)
}

// command takes one key and does what it says. A signal ends the wait for it.
func (s *labelling) command(ctx context.Context) (quit bool, err error) {
	key, err := await.Result(ctx, s.keys.key)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil {
		return true, err
	}
	switch unicode.ToLower(key) {
	case 'c':
		err = s.label(annotate.Correct)
	case 'i':
		err = s.label(annotate.Incorrect)
	case 'u':
		err = s.label(annotate.Unsure)
	case 'n':
		err = s.takeNote(ctx)
	case 'z':
		err = s.undo()
	case 'g':
		err = s.jump(ctx)
	case 'f':
		err = s.choose(ctx)
	case 's':
		if next := s.next(s.at); next >= 0 {
			s.move(next)
		}
	case 'r':
		s.screen.toggleGuidelines()
	case '?':
		s.screen.help()
	case 'q', 3, 4: // control-C and control-D in a raw terminal
		return true, nil
	case '\r', '\n', ' ':
	default:
		s.screen.say("%q is no key here; ? lists them", key)
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// label saves a label, and goes on only when it is on disk.
func (s *labelling) label(l annotate.Label) error {
	if s.at < 0 {
		return nil
	}
	if err := s.log.Add(annotate.Entry{Annotator: s.name, Answer: s.tasks[s.at].Answer, Label: l, Note: s.note, At: s.now()}); err != nil {
		return err
	}
	s.screen.say("%s, saved", l)
	s.note = ""
	s.move(s.next(s.at))
	return nil
}

func (s *labelling) takeNote(ctx context.Context) error {
	if s.at < 0 {
		s.screen.say("no answer is shown that a note could be for")
		return nil
	}
	text, err := s.line(ctx, "note: ")
	if err != nil {
		return err
	}
	if err := annotate.CheckNote(text); err != nil {
		s.screen.say("%v", err)
		return nil
	}
	s.note = strings.TrimSpace(text)
	return nil
}

// undo takes the last label back and shows its answer.
func (s *labelling) undo() error {
	number := map[record.AnswerID]int{}
	for i, task := range s.tasks {
		number[task.Answer] = i
	}
	last, ok := s.log.Latest(s.name, func(id record.AnswerID) bool { _, mine := number[id]; return mine })
	if !ok {
		s.screen.say("there is no label to take back")
		return nil
	}
	if err := s.log.Undo(s.name, last.Answer, s.now()); err != nil {
		return err
	}
	s.screen.say("%s taken back", last.Label)
	s.move(number[last.Answer])
	return nil
}

func (s *labelling) jump(ctx context.Context) error {
	text, err := s.line(ctx, "number: ")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > len(s.tasks) {
		s.screen.say("answers are numbered 1 to %d", len(s.tasks))
		return nil
	}
	s.move(n - 1)
	return nil
}

// choose takes a filter and shows the first answer of it.
func (s *labelling) choose(ctx context.Context) error {
	text, err := s.line(ctx, "show (open, all, labelled, correct, incorrect, unsure, noted, /text): ")
	if err != nil {
		return err
	}
	f, err := annotate.ParseFilter(text)
	if err != nil {
		s.screen.say("%s", termsafe.String(err.Error()))
		return nil
	}
	s.filter = f
	s.move(s.next(-1))
	return nil
}

func (s *labelling) line(ctx context.Context, ask string) (string, error) {
	return await.Result(ctx, func() (string, error) { return s.keys.line(ask) })
}
