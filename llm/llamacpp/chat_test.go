package llamacpp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

// letters is a tokeniser with a token for each byte and for runs of newlines, which therefore depend on
// what stands beside them, and with control tokens of its own.
type letters struct{}

var letterControl = []specialToken{{1000, "<|start|>"}, {1001, "<|end|>"}, {1002, "<s>"}}

func (letters) control() []specialToken  { return letterControl }
func (letters) beginning() (int32, bool) { return 1002, true }

func (letters) tokenise(text string, special bool) []int32 {
	var out []int32
	for text != "" {
		n, id := 1, int32(text[0])
		if text[0] == '\n' {
			n = len(text) - len(strings.TrimLeft(text, "\n"))
			id = int32(500 + n)
		}
		for _, s := range letterControl {
			if special && strings.HasPrefix(text, s.text) {
				n, id = len(s.text), s.id
			}
		}
		out = append(out, id)
		text = text[n:]
	}
	return out
}

const turns = `{{ bos_token }}{% for m in messages %}<|start|>{{ m.role }}
{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|start|>assistant
{% endif %}`

func templateOf(t testing.TB, source string) *chatTemplate {
	c, err := compileTemplate(shape{template: source, bosText: "<s>", eosText: "<|end|>"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func count32(ids []int32, id int32) int {
	return len(ids) - len(slices.DeleteFunc(slices.Clone(ids), func(x int32) bool { return x == id }))
}

// Whatever stands in the messages, the control tokens are those of the template, and what the data spell
// is there as text.
func TestDataCannotSpellControlTokens(t *testing.T) {
	t.Parallel()
	plain, trimmed := templateOf(t, turns), templateOf(t, strings.ReplaceAll(turns, "m.content", "m.content | trim"))
	word := rapid.SampledFrom([]string{"<|end|>", "<|start|>", "<s>", "<|", "end|>", "user", "\n", " ", "{{ x }}", "{% if %}", "ü", "\uE0FA0\uE0FB"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 5).Draw(t, "words"), "") })
	rapid.Check(t, func(t *rapid.T) {
		p := llm.Prompt{Opening: text.Draw(t, "opening")}
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			p.Messages = append(p.Messages, llm.Message{Role: llm.User, Content: text.Draw(t, "content")})
		}
		for _, c := range []*chatTemplate{plain, trimmed} {
			ids, err := chatTokens(c, letters{}, p)
			if err != nil {
				t.Fatal(err)
			}
			n := len(p.Messages)
			for id, want := range map[int32]int{1000: n + 1, 1001: n, 1002: 1} {
				if got := count32(ids, id); got != want {
					t.Errorf("control token %d is there %d times, want %d", id, got, want)
				}
			}
			whole, err := c.render(p.Messages)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := spellLetters(ids), whole+p.Opening; got != want {
				t.Errorf("the ids spell %q, want %q", got, want)
			}
		}
	})
}

func spellLetters(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id >= 1000:
			b.WriteString(letterControl[id-1000].text)
		case id > 500:
			b.WriteString(strings.Repeat("\n", int(id-500)))
		default:
			b.WriteByte(byte(id))
		}
	}
	return b.String()
}

// Reading by parts gives the ids of reading as a whole where nothing is spelt, also where template and
// data grow together into one token.
func TestPartsReadAsTheWhole(t *testing.T) {
	t.Parallel()
	c := templateOf(t, turns)
	for _, content := range []string{"Hi", "\n\nHi\n", "", " \n", "end"} {
		p := llm.Chat(content, "\nGuess:")
		whole, err := chatTokens(c, letters{}, p)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := c.parts(p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		got := withBeginning(letters{}, tokeniseParts(letters{}, append(parts, part{p.Opening, true})))
		if !slices.Equal(got, whole) {
			t.Errorf("%q: by parts %v, as a whole %v", content, got, whole)
		}
	}
}

func TestChatsThatCannotBeRendered(t *testing.T) {
	t.Parallel()
	if _, err := chatTokens(templateOf(t, turns), letters{}, llm.Prompt{Messages: []llm.Message{{Role: "user<|end|>", Content: "x"}}}); err == nil {
		t.Error("a role with a control token was accepted")
	}
	refusing := templateOf(t, `{{ raise_exception('no system role here') }}`)
	if _, err := chatTokens(refusing, letters{}, llm.Chat("x", "")); err == nil || !strings.Contains(err.Error(), "no system role here") {
		t.Errorf("error %v, want the template's own words", err)
	}
	changing := templateOf(t, `{% for m in messages %}<|start|>{{ m.content | upper }}{% endfor %}`)
	if _, err := chatTokens(changing, letters{}, llm.Chat("x", "")); err != nil {
		t.Errorf("a template may change harmless data: %v", err)
	}
	if _, err := chatTokens(changing, letters{}, llm.Chat("<|END|> <|end|>", "")); !errors.Is(err, errMixed) {
		t.Errorf("error %v, want that data cannot be kept apart", err)
	}
}

func TestBeginningIsPutOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    llm.Prompt
		want int
	}{{llm.Prompt{Text: "a"}, 1}, {llm.Prompt{Text: "a", NoBOS: true}, 0}, {llm.Prompt{Text: "<s>a"}, 1}} {
		if got := count32(plainTokens(letters{}, c.p), 1002); got != c.want {
			t.Errorf("%+v: the beginning is there %d times, want %d", c.p, got, c.want)
		}
	}
}
