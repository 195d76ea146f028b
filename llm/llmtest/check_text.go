package llmtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
)

// scripts are texts that a careless path through bytes, runes or C strings would break.
var scripts = []string{
	"Ünïcödé",
	"東京は日本の首都",
	"👩‍👩‍👧‍👦🌍",
	"e\u0301a\u0300\u0323", // combining marks
	"القدس",
	"\u200bzero\u200dwidth",
	"line\nbreak\ttab",
	"  blanks  ",
}

// hostile are texts that an engine may refuse, but must not shorten or crash on.
var hostile = []string{"nul\x00byte", "bad\xffbyte", "half\xe6\x9d"}

func checkScored(p *probe) {
	var reqs []llm.Request
	for _, answer := range slices.Concat([]string{"yes", " yes", "\n", " "}, scripts) {
		reqs = append(reqs, p.score("Say it.", answer))
	}
	p.all(reqs...)
	reqs = reqs[:0]
	for _, answer := range hostile {
		reqs = append(reqs, p.score("Say it.", answer))
	}
	p.do(p.ctx, reqs...) // the form of a reply includes that its tokens join to the answer
}

func checkScripts(p *probe) {
	var reqs []llm.Request
	for _, q := range scripts {
		reqs = append(reqs, p.any(p.prompt(q)))
	}
	p.all(reqs...)
	if !p.expect.PromptIDs {
		return
	}
	// What is not refused must have reached the model whole: the same text with another end differs.
	for _, q := range hostile {
		res := p.do(p.ctx, p.any(p.prompt("a"+q+"x")), p.any(p.prompt("a"+q+"y")))
		if res[0].Err == nil && res[1].Err == nil && slices.Equal(res[0].Reply.PromptIDs, res[1].Reply.PromptIDs) {
			p.faultf("%q: what follows does not reach the model", q)
		}
	}
}

// checkCompany scores answers alone and among others, and each beside its own beginning.
func checkCompany(p *probe) {
	var reqs []llm.Request
	for _, q := range []string{"Name a city.", "Name a city by the sea, and say why it is worth a journey."} {
		for _, answer := range []string{" Oslo", " Lisbon", " Lisbon, for its light", " 東京"} {
			reqs = append(reqs, p.score(q, answer))
		}
	}
	together, ok := p.all(reqs...)
	if !ok {
		return
	}
	for i, req := range reqs {
		if alone, ok := p.one(req); ok {
			p.repeats(req, together[i], alone, "together and alone")
		}
	}
	// A shorter answer is the beginning of a longer one: where its tokens are too, so are the values.
	short, long := together[1], together[2]
	if !short.Reproducible || !long.Reproducible || len(long.Tokens) < len(short.Tokens) {
		return
	}
	long.Tokens = long.Tokens[:len(short.Tokens)]
	if sameText(short, long) == "" {
		p.repeats(reqs[1], short, long, "as a whole answer and as a beginning")
	}
}

func checkTemplateText(p *probe) {
	questions := []string{
		"2", "{{ 1 + 1 }}", "{{1+1}}", "{{ messages }}", "{{ .Question }}", "{% raw %}{{ x }}{% endraw %}", "{{ x }}",
		"{% for m in messages %}", "{{", "}}", "{# note #}", "%s %d", "${HOME}", `\n`, "<b>&amp;</b>", "<b>&</b>",
	}
	var reqs []llm.Request
	for _, q := range questions {
		reqs = append(reqs, p.any(llm.Chat(q, "")))
	}
	replies, ok := p.all(reqs...)
	if !ok {
		return
	}
	p.distinct(questions, replies)
}

// checkSpecialText counts special ids: writing one in a text adds none.
func checkSpecialText(p *probe) {
	if len(p.expect.Specials) == 0 {
		return
	}
	plain, ok := p.one(p.any(p.prompt("a b")))
	if !ok {
		return
	}
	for text, id := range p.expect.Specials {
		written, ok := p.one(p.any(p.prompt("a " + text + " b")))
		if !ok {
			continue
		}
		if got, want := count(written.PromptIDs, id), count(plain.PromptIDs, id); got != want {
			p.faultf("a question with %q has the special token %d times, one without it %d times", text, got, want)
		}
		answer, ok := p.one(p.score("Say it.", " "+text+" b"))
		if ok && count(tokenIDs(answer.Tokens), id) > 0 {
			p.faultf("the answer %q has the special token", text)
		}
	}
}

// checkTurns asks prompts that differ in one part each: a part that is dropped makes two equal.
func checkTurns(p *probe) {
	turn := func(r llm.Role, text string) llm.Message { return llm.Message{Role: r, Content: text} }
	user := turn(llm.User, "Hello?")
	prompts := map[string]llm.Prompt{
		"user":            {Messages: []llm.Message{user}},
		"other user":      {Messages: []llm.Message{turn(llm.User, "Goodbye?")}},
		"opening":         {Messages: []llm.Message{user}, Opening: "Guess:"},
		"opening, blank":  {Messages: []llm.Message{user}, Opening: "Guess: "},
		"system":          {Messages: []llm.Message{turn(llm.System, "Be brief."), user}},
		"other system":    {Messages: []llm.Message{turn(llm.System, "Be kind."), user}},
		"turns":           {Messages: []llm.Message{turn(llm.User, "One?"), turn(llm.Assistant, "Two."), user}},
		"other assistant": {Messages: []llm.Message{turn(llm.User, "One?"), turn(llm.Assistant, "Ten."), user}},
		"plain":           {Text: "Hello?"},
	}
	var names []string
	var reqs []llm.Request
	for name, prompt := range prompts {
		names = append(names, name)
		reqs = append(reqs, p.any(prompt))
	}
	if replies, ok := p.all(reqs...); ok {
		p.distinct(names, replies)
	}
}

// distinct checks that no two prompts became the same ids.
func (p *probe) distinct(names []string, replies []llm.Reply) {
	seen := map[string]string{}
	for i, r := range replies {
		ids := spell(r.PromptIDs)
		if other, ok := seen[ids]; ok {
			p.faultf("%q and %q are the same prompt to the model", other, names[i])
		}
		seen[ids] = names[i]
	}
}

func spell(ids []int32) string { return strings.Trim(fmt.Sprint(ids), "[]") }

func count(ids []int32, id int32) int {
	n := 0
	for _, x := range ids {
		if x == id {
			n++
		}
	}
	return n
}
