//go:build linux || darwin

package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/study"
)

// terminal is the command on a terminal of its own, with what it has shown so far.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File

	mu     sync.Mutex
	more   *sync.Cond
	shown  bytes.Buffer
	seen   int // how far expect has read
	ended  bool
	killAt int // the length of the output at which the command is killed; 0 for never
}

// annotating starts "credence annotate" on a terminal of so many columns.
func annotating(t *testing.T, folder string, columns int, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command("credence", append([]string{"annotate", "runs/mine"}, args...)...)
	cmd.Dir = filepath.Dir(filepath.Dir(folder))
	cmd.Env = append(os.Environ(), "TERM=xterm", "COLUMNS=")
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: uint16(columns)})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, cmd: cmd, keys: keys}
	term.more = sync.NewCond(&term.mu)
	go term.watch()
	t.Cleanup(term.kill)
	return term
}

// watch takes what the command shows, until it ends.
func (x *terminal) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := x.keys.Read(buffer)
		x.mu.Lock()
		x.shown.Write(buffer[:n])
		if x.killAt > 0 && x.shown.Len() >= x.killAt {
			_ = x.cmd.Process.Kill()
		}
		x.ended = err != nil
		x.more.Broadcast()
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the screen has shown something since the last expectation.
func (x *terminal) expect(pattern string) {
	x.t.Helper()
	if !x.shows(pattern) {
		x.t.Fatalf("the command ended without showing %q; it showed:\n%s", pattern, x.shown.String())
	}
}

// shows is expect for a command that may have been killed.
func (x *terminal) shows(pattern string) bool {
	want := regexp.MustCompile(pattern)
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		if at := want.FindIndex(x.shown.Bytes()[x.seen:]); at != nil {
			x.seen += at[1]
			return true
		}
		if x.ended {
			return false
		}
		x.more.Wait()
	}
}

func (x *terminal) press(keys string) {
	// A command that was killed in the meantime has no terminal to press a key on.
	_, _ = x.keys.WriteString(keys)
}

// end waits for the command.
func (x *terminal) end() {
	x.t.Helper()
	for x.shows(`(?s).`) {
		continue
	}
	if err := x.cmd.Wait(); err != nil {
		x.t.Errorf("%v; it showed:\n%s", err, x.shown.String())
	}
}

// kill ends the command as kill -9 does.
func (x *terminal) kill() {
	_ = x.cmd.Process.Kill()
	_ = x.cmd.Wait()
	_ = x.keys.Close()
}

// scriptedRun is the folder of a run with answers of the scripted model.
func scriptedRun(t *testing.T, items int) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "study.yaml")
	text := fmt.Sprintf("name: mine\nmodels:\n  - {name: one, weights: scripted}\ndatasets:\n  - {name: facts, limit: %d}\nanalysis: {resamples: 0}\n", items)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("credence", "run", "study.yaml")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "CREDENCE_TEST_SCRIPTED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, "runs", "mine")
}

// labelsOf are the labels that stand, by item with their notes, and the number of lines of the file.
func labelsOf(t *testing.T, folder, who string) (map[string]string, int) {
	t.Helper()
	path := filepath.Join(folder, study.LabelsFile)
	l, err := annotate.ReadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stand := map[string]string{}
	for id, e := range l.Current(who) {
		stand[id.Item] = strings.TrimSpace(string(e.Label) + " " + e.Note)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return stand, bytes.Count(data, []byte("\n"))
}

// order is the order in which one person sees the items.
func order(t *testing.T, folder, who string) []string {
	t.Helper()
	tasks, _, err := study.Tasks(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var items []string
	for _, task := range (annotate.Design{Annotators: []string{who}, Seed: study.DefaultSeed}).Tasks(tasks, who) {
		items = append(items, task.Answer.Item)
	}
	return items
}

// TestLabellingOnATerminal goes through every key, and twice through kill -9: one between two labels, one while a note is written.
func TestLabellingOnATerminal(t *testing.T) {
	t.Parallel()
	folder := scriptedRun(t, 6)
	items := order(t, folder, "ann")
	check := func(lines int, want map[string]string) {
		t.Helper()
		got, n := labelsOf(t, folder, "ann")
		if diff := cmp.Diff(want, got); diff != "" || n != lines {
			t.Fatalf("%d lines, want %d; labels (-want +got):\n%s", n, lines, diff)
		}
	}

	x := annotating(t, folder, 120, "--as", "ann")
	x.expect(`1 of 6, 0 labelled`)
	x.expect(`│ Question: `)
	x.press("c")
	x.expect(`correct, saved`)
	x.expect(`2 of 6, 1 labelled`)
	x.press("n")
	x.expect(`note: `)
	x.press("doubtfulX\x7f, says I\r")
	x.expect(`Note for the next label: doubtful, says I`)
	x.press("u")
	x.expect(`unsure, saved`)
	x.expect(`3 of 6, 2 labelled`)
	// An arrow, a shifted arrow of rxvt and Alt+c are no labels, nor is a letter that is no key.
	x.press("\x1b[A")
	x.press("\x1b[c")
	x.press("\x1bc")
	x.press("x")
	x.expect(`'x' is no key here`)
	x.press("i")
	x.expect(`incorrect, saved`)
	x.press("z")
	x.expect(`incorrect taken back`)
	x.expect(`3 of 6, 2 labelled`)
	check(4, map[string]string{items[0]: "correct", items[1]: "unsure doubtful, says I"})
	x.kill()

	// The same command goes on, with the same order.
	x = annotating(t, folder, 120, "--as", "ann")
	x.expect(`3 of 6, 2 labelled`)
	x.press("g")
	x.expect(`number: `)
	x.press("5\r")
	x.expect(`5 of 6, 2 labelled`)
	x.press("i")
	x.expect(`6 of 6, 3 labelled`)
	x.press("n")
	x.expect(`note: `)
	x.press("never fin")
	x.expect(`never fin`)
	x.kill()
	check(5, map[string]string{items[0]: "correct", items[1]: "unsure doubtful, says I", items[4]: "incorrect"})

	// A filter shows what was labelled; a correction keeps what was there before.
	x = annotating(t, folder, 120, "--as", "ann")
	x.expect(`3 of 6, 3 labelled`)
	x.press("f")
	x.expect(`show \(open`)
	x.press("unsure\r")
	x.expect(`2 of 6, 3 labelled; 1 are unsure`)
	x.expect(`Label: unsure doubtful, says I`)
	x.press("c")
	x.expect(`correct, saved`)
	x.expect(`No answer is unsure`)
	x.press("z")
	x.expect(`2 of 6, 3 labelled; 1 are unsure`)
	x.press("f")
	x.expect(`show \(open`)
	x.press("open\r")
	x.expect(`3 of 6, 3 labelled`)
	// A note does not go along to another answer.
	x.press("n")
	x.expect(`note: `)
	x.press("lost\r")
	x.expect(`Note for the next label: lost`)
	x.press("s")
	x.expect(`it is dropped`)
	x.expect(`4 of 6, 3 labelled`)
	x.press("CIu")
	x.expect(`All 6 answers are labelled`)
	x.press("\x04")
	x.expect(`6 of 6 answers are labelled`)
	x.end()
	check(10, map[string]string{
		items[0]: "correct", items[1]: "unsure doubtful, says I", items[4]: "incorrect", items[3]: "correct", items[5]: "incorrect", items[2]: "unsure",
	})
}

// TestLabellingFitsNarrowTerminals: no line is longer than the terminal is wide, on 40 columns too, where the rules stand above.
func TestLabellingFitsNarrowTerminals(t *testing.T) {
	t.Parallel()
	folder := scriptedRun(t, 2)
	for _, columns := range []int{40, 80, 100, 160} {
		x := annotating(t, folder, columns, "--as", "ann")
		x.expect(`1 of 2, 0 labelled`)
		x.expect(`Answer: `)
		x.press("q")
		x.end()
		for _, line := range strings.Split(x.shown.String(), "\r\n") {
			if n := len([]rune(line)); n > columns {
				t.Errorf("%d columns: %d in %q", columns, n, line)
			}
		}
		if beside := strings.Contains(x.shown.String(), "│ Question"); beside != (columns > 100) || !strings.Contains(x.shown.String(), "1. Say whether") {
			t.Errorf("%d columns: rules beside the question: %v, in\n%s", columns, beside, x.shown.String())
		}
	}
}

// shownAnswer is the screen of the next answer, of TestNoKillLosesALabel.
const shownAnswer = `(?s).*?\d+ of 30, \d+ labelled.*?Answer: [^\r]*\r\n`

func sizeOf(t *testing.T, folder string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(folder, study.LabelsFile))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestNoKillLosesALabel kills the command between a key and the next screen, at moments drawn by chance. What was shown as saved is there after each of them; what
// stands is what some of the keys give in order, each of them done once or not at all.
func TestNoKillLosesALabel(t *testing.T) {
	t.Parallel()
	const kills = 12
	items := 30
	folder := scriptedRun(t, items)
	seen := order(t, folder, "ann")
	random := rand.New(rand.NewPCG(1, 2))
	m := &labelled{order: seen, labels: map[string]string{}}
	kept := 0 // of the labels on which the command was killed
	for round := range kills {
		x := annotating(t, folder, 120, "--as", "ann")
		if !x.shows(`\d+ of 30, \d+ labelled`) {
			t.Fatalf("round %d: %s", round, x.shown.String())
		}
		m.start()
		before, lines := m.clone(), m.lines
		// Two keys or three are confirmed, and then comes one on which the command is killed.
		for range 2 + random.IntN(2) {
			key := "ciuz"[random.IntN(4)]
			if key == 'z' && len(m.history) == 0 {
				key = 'c'
			}
			x.press(string(key))
			x.expect(m.press(key) + shownAnswer)
		}
		confirmed, confirmedLines := m.clone(), m.lines
		last := "ciu"[random.IntN(3)]
		switch random.IntN(3) {
		case 0: // at once
			x.press(string(last))
			_ = x.cmd.Process.Kill()
		case 1: // when the label has reached the file, and the screen has not moved yet
			size := sizeOf(t, folder)
			x.press(string(last))
			for sizeOf(t, folder) == size {
				runtime.Gosched()
			}
			_ = x.cmd.Process.Kill()
		case 2: // somewhere on the next screen
			x.mu.Lock()
			x.killAt = x.shown.Len() + random.IntN(700)
			x.mu.Unlock()
			x.press(string(last))
		}
		// A moment behind the last output never comes: then the screen is done, and the kill is now.
		x.shows(shownAnswer)
		x.kill()

		m.press(last)
		got, n := labelsOf(t, folder, "ann")
		switch {
		case cmp.Equal(got, m.labels) && n == m.lines:
			kept++
		case cmp.Equal(got, confirmed.labels) && n == confirmedLines:
			*m = *confirmed
		default:
			t.Fatalf("round %d: %d lines after %d and %d; labels (-confirmed +got):\n%s\nbefore %v, %d lines; last key %c", round, n, confirmedLines, m.lines, cmp.Diff(confirmed.labels, got), before.labels, lines, last)
		}
	}
	t.Logf("of %d labels on which the command was killed %d were written", kills, kept)
	// The rest is labelled in one go, and all are there, each once.
	x := annotating(t, folder, 120, "--as", "ann")
	x.press(strings.Repeat("i", items-len(m.labels)))
	x.expect(`All 30 answers are labelled`)
	x.press("q")
	x.end()
	got, n := labelsOf(t, folder, "ann")
	if len(got) != items || n != m.lines+items-len(m.labels) {
		t.Errorf("%d labels in %d lines, want %d in %d", len(got), n, items, m.lines+items-len(m.labels))
	}
	for item, label := range m.labels {
		if got[item] != label {
			t.Errorf("%s was %s and is %s", item, label, got[item])
		}
	}
}

// labelled is what a session should leave, worked out from its keys alone.
type labelled struct {
	order   []string
	at      int
	labels  map[string]string
	history []string // items in the order of their labels that stand
	lines   int
}

func (m *labelled) clone() *labelled {
	c := *m
	c.labels, c.history = map[string]string{}, slices.Clone(m.history)
	for k, v := range m.labels {
		c.labels[k] = v
	}
	return &c
}

// start is the first answer without a label.
func (m *labelled) start() { m.at = m.next(-1) }

func (m *labelled) next(i int) int {
	for step := 1; step <= len(m.order); step++ {
		if k := (i + step) % len(m.order); m.labels[m.order[k]] == "" {
			return k
		}
	}
	return -1
}

// press does what a key should do, and says what is shown of it.
func (m *labelled) press(key byte) string {
	m.lines++
	if key == 'z' {
		last := m.history[len(m.history)-1]
		was := m.labels[last]
		m.history = m.history[:len(m.history)-1]
		delete(m.labels, last)
		m.at = slices.Index(m.order, last)
		return was + " taken back"
	}
	label := map[byte]string{'c': "correct", 'i': "incorrect", 'u': "unsure"}[key]
	m.labels[m.order[m.at]] = label
	m.history = append(m.history, m.order[m.at])
	m.at = m.next(m.at)
	return label + ", saved"
}

// TestASignalEndsTheSession: the terminal is put back, and the command does not wait for a key.
func TestASignalEndsTheSession(t *testing.T) {
	t.Parallel()
	folder := scriptedRun(t, 2)
	x := annotating(t, folder, 80, "--as", "ann")
	x.expect(`Answer: `)
	if err := x.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	x.expect(`0 of 2 answers are labelled`)
	for x.shows(`(?s).`) {
		continue
	}
	if err := x.cmd.Wait(); err == nil || x.cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ended with %v", err)
	}
}
