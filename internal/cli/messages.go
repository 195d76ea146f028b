package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/credence-lab/credence/internal/termsafe"
)

// messages writes the program's messages for people: a line each, which says whether it is a note or a
// warning. A file's words may stand in it.
type messages struct {
	mu    sync.Mutex
	w     io.Writer
	level slog.Level
}

func (m *messages) Enabled(_ context.Context, level slog.Level) bool { return level >= m.level }

func (m *messages) Handle(_ context.Context, r slog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := io.WriteString(m.w, kindOf(r.Level)+": "+termsafe.String(wordsOf(r))+"\n")
	return err
}

func (m *messages) WithAttrs([]slog.Attr) slog.Handler { return m }
func (m *messages) WithGroup(string) slog.Handler      { return m }

func kindOf(level slog.Level) string {
	if level >= slog.LevelWarn {
		return "warning"
	}
	return "note"
}

// wordsOf is a message with its attributes.
func wordsOf(r slog.Record) string {
	words := []string{r.Message}
	r.Attrs(func(a slog.Attr) bool {
		words = append(words, a.String())
		return true
	})
	return strings.Join(words, " ")
}
