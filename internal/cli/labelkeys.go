package cli

import (
	"bufio"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// keys are what a person presses.
type keys interface {
	// key is the next key, line the text that a command takes.
	key() (rune, error)
	line(ask string) (string, error)
}

// keys are those of a terminal, pressed one by one, or lines of anything else. done puts the terminal back.
func (a *app) keys() (k keys, raw bool, done func()) {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if state, err := term.MakeRaw(int(f.Fd())); err == nil {
			k := &rawKeys{in: bufio.NewReader(f), out: a.out, width: a.width}
			return k, true, func() { _ = term.Restore(int(f.Fd()), state) }
		}
	}
	return &lineKeys{in: bufio.NewReader(a.in)}, false, func() {}
}

// lineKeys takes each line as a key with what belongs to it.
type lineKeys struct {
	in   *bufio.Reader
	rest string
}

func (k *lineKeys) key() (rune, error) {
	for {
		text, err := k.in.ReadString('\n')
		if text = strings.TrimSpace(text); text != "" {
			first, n := utf8.DecodeRuneInString(text)
			k.rest = strings.TrimSpace(text[n:])
			return first, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (k *lineKeys) line(string) (string, error) { return k.rest, nil }

// rawKeys takes single keys of a terminal, and whole lines where a text is wanted.
type rawKeys struct {
	in    *bufio.Reader
	out   io.Writer
	width func() int
}

const escape = 0x1b

// key is the next key that is one character. Arrows, function keys and combinations with Alt are sequences that
// begin with an escape and end with a letter, which must not be taken for a label.
func (k *rawKeys) key() (rune, error) {
	for {
		r, _, err := k.in.ReadRune()
		if err != nil || r != escape {
			return r, err
		}
		if err := k.skipSequence(); err != nil {
			return 0, err
		}
	}
}

// skipSequence reads what belongs to an escape; a terminal sends all of it at once, so that an escape with nothing
// behind it is the key of that name.
func (k *rawKeys) skipSequence() error {
	if k.in.Buffered() == 0 {
		return nil
	}
	r, _, err := k.in.ReadRune()
	if err != nil || r != '[' && r != 'O' {
		return err
	}
	for k.in.Buffered() > 0 {
		// Parameters and intermediate bytes, then one of @ to ~ (ECMA-48, section 5.4).
		if r, _, err = k.in.ReadRune(); err != nil || r >= '@' && r <= '~' {
			return err
		}
	}
	return nil
}

// line reads a line with the editing keys of a terminal.
func (k *rawKeys) line(ask string) (string, error) {
	// One byte at a time, so that what follows the line is left to key.
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{oneByOne{k.in}, k.out}, ask)
	_ = editor.SetSize(k.width(), 1)
	return editor.ReadLine()
}

// oneByOne reads single bytes.
type oneByOne struct{ r *bufio.Reader }

func (o oneByOne) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := o.r.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}
