package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/report"
)

// labelling is one person's session.
type labelling struct {
	app        *app
	log        *annotate.Log
	name       string
	tasks      []annotate.Task
	at         int
	note       string
	keys       keys
	guidelines string
	now        func() time.Time
}

// keys are what a person presses.
type keys interface {
	// key is the next key, line the rest of a command that takes a text.
	key() (rune, error)
	line(ask string) (string, error)
}

func sorted(names []string) []string {
	list := slices.Clone(names)
	slices.Sort(list)
	return list
}

func (s *labelling) say(format string, args ...any) {
	for _, line := range report.Wrap(fmt.Sprintf(format, args...), min(s.app.width(), report.DefaultWidth), "") {
		fmt.Fprint(s.app.out, line, "\r\n"[s.crlf():])
	}
}

// crlf is 0 where the terminal is raw and wants a return before each line end, else 1.
func (s *labelling) crlf() int {
	if _, raw := s.keys.(*rawKeys); raw {
		return 0
	}
	return 1
}

// run shows answers and takes keys until the person quits, the input ends, or all is labelled.
func (s *labelling) run(ctx context.Context) error {
	s.help()
	s.at = s.next(-1)
	for {
		if s.at < 0 {
			s.say("All %d answers are labelled. z takes the last label back, g N goes to an answer, q quits.", len(s.tasks))
		} else {
			s.show()
		}
		quit, err := s.command(ctx)
		if quit || err != nil {
			done := len(s.mine())
			s.say("%d of %d answers are labelled. The same command goes on.", done, len(s.tasks))
			return err
		}
	}
}

func (s *labelling) help() {
	for _, line := range strings.Split(strings.TrimSpace(s.guidelines), "\n") {
		s.say("%s", termsafe.String(line))
	}
	s.say("Keys: c correct, i incorrect, u unsure; n note for the next label; z take back; g go to; s skip; ? these lines; q quit.")
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

// next is the first answer after number i that has no label, from the start again where none follows; −1
// where all have one.
func (s *labelling) next(i int) int {
	mine := s.mine()
	for step := 1; step <= len(s.tasks); step++ {
		k := (i + step + len(s.tasks)) % len(s.tasks)
		if _, labelled := mine[k]; !labelled {
			return k
		}
	}
	return -1
}

func (s *labelling) show() {
	task, mine := s.tasks[s.at], s.mine()
	s.say("")
	s.say("%d of %d, %d labelled", s.at+1, len(s.tasks), len(mine))
	s.say("Question: %s", termsafe.String(task.Question))
	s.say("References: %s", termsafe.String(strings.Join(task.References, "; ")))
	s.say("Answer: %s", termsafe.String(task.Text))
	if e, ok := mine[s.at]; ok {
		s.say("Label: %s %s", e.Label, termsafe.String(e.Note))
	}
}

// command takes one key and does what it says.
func (s *labelling) command(ctx context.Context) (quit bool, err error) {
	key, err := s.keys.key()
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return true, ctx.Err()
	}
	if err != nil {
		return true, err
	}
	switch key {
	case 'c':
		return false, s.label(annotate.Correct)
	case 'i':
		return false, s.label(annotate.Incorrect)
	case 'u':
		return false, s.label(annotate.Unsure)
	case 'n':
		s.note, err = s.keys.line("note: ")
	case 'z':
		return false, s.undo()
	case 'g':
		err = s.jump()
	case 's':
		if next := s.next(s.at); next >= 0 {
			s.at = next
		}
	case '?':
		s.help()
	case 'q', 3, 4: // control-C and control-D in a raw terminal
		return true, nil
	case '\r', '\n', ' ':
	default:
		s.say("%q is no key here; ? lists them", key)
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

func (s *labelling) label(l annotate.Label) error {
	if s.at < 0 {
		return nil
	}
	if err := s.log.Add(annotate.Entry{Annotator: s.name, Answer: s.tasks[s.at].Answer, Label: l, Note: s.note, At: s.now()}); err != nil {
		return err
	}
	s.say("%s, saved", l)
	s.note, s.at = "", s.next(s.at)
	return nil
}

// undo takes the last label back and shows its answer.
func (s *labelling) undo() error {
	last, ok := s.log.Latest(s.name)
	if !ok {
		s.say("there is no label to take back")
		return nil
	}
	if err := s.log.Undo(s.name, last.Answer, s.now()); err != nil {
		return err
	}
	s.say("%s taken back", last.Label)
	if i := slices.IndexFunc(s.tasks, func(t annotate.Task) bool { return t.Answer == last.Answer }); i >= 0 {
		s.at = i
	}
	return nil
}

func (s *labelling) jump() error {
	text, err := s.keys.line("number: ")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > len(s.tasks) {
		s.say("answers are numbered 1 to %d", len(s.tasks))
		return nil
	}
	s.at = n - 1
	return nil
}

// keys are those of a terminal, pressed one by one, or lines of anything else. done puts the terminal back.
func (a *app) keys() (keys, func()) {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if state, err := term.MakeRaw(int(f.Fd())); err == nil {
			k := &rawKeys{in: bufio.NewReader(f), out: a.out, fd: int(f.Fd()), state: state}
			return k, k.restore
		}
	}
	return &lineKeys{in: bufio.NewScanner(a.in)}, func() {}
}

// lineKeys takes each line as a key with what belongs to it.
type lineKeys struct {
	in   *bufio.Scanner
	rest string
}

func (k *lineKeys) key() (rune, error) {
	for k.in.Scan() {
		text := strings.TrimSpace(k.in.Text())
		if text == "" {
			continue
		}
		first := []rune(text)[0]
		k.rest = strings.TrimSpace(strings.TrimPrefix(text, string(first)))
		return first, nil
	}
	if err := k.in.Err(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

func (k *lineKeys) line(string) (string, error) { return k.rest, nil }

// rawKeys takes single keys of a terminal, and whole lines where a text is wanted.
type rawKeys struct {
	in    *bufio.Reader
	out   io.Writer
	fd    int
	state *term.State
}

func (k *rawKeys) key() (rune, error) {
	r, _, err := k.in.ReadRune()
	return r, err
}

// line reads a line with echo and the erase key.
func (k *rawKeys) line(ask string) (string, error) {
	fmt.Fprint(k.out, ask)
	var text []rune
	for {
		r, _, err := k.in.ReadRune()
		switch {
		case err != nil:
			return "", err
		case r == '\r' || r == '\n':
			fmt.Fprint(k.out, "\r\n")
			return string(text), nil
		case r == 3 || r == 4:
			return "", io.EOF
		case r == 0x7f || r == '\b':
			if len(text) > 0 {
				text = text[:len(text)-1]
				fmt.Fprint(k.out, "\b \b")
			}
		case r >= ' ':
			text = append(text, r)
			fmt.Fprint(k.out, string(r))
		}
	}
}

func (k *rawKeys) restore() { _ = term.Restore(k.fd, k.state) }
