package collect

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed corpus.txt
var corpus string

//go:embed premises.txt
var premises string

// BuiltinCorpus is a hundred sentences of about thirteen words on everyday things, written for this project:
// contexts that have nothing to do with a question.
func BuiltinCorpus() []string { return strings.Split(strings.TrimSpace(corpus), "\n") }

// Premises are thirty plain statements of one sentence, written for this project, whose paraphrases show how
// alike the texts of a sampler can be.
func Premises() []string { return strings.Split(strings.TrimSpace(premises), "\n") }

const (
	// maxCorpus bounds a corpus, in bytes.
	maxCorpus = 256 << 20
	// mostSnippets bounds what is kept of one.
	mostSnippets = 1_000_000
)

// ReadSnippets cuts a text into snippets of about so many words: whole sentences put together until there are
// three quarters of them, or the first words of a longer sentence. Paragraphs are not joined. A snippet that
// repeats another, and one of fewer than half the words, is left out. Errors: reading fails, the text is no
// UTF-8, or it is longer than 256 MiB.
func ReadSnippets(src io.Reader, words int) ([]string, error) {
	limited := &io.LimitedReader{R: src, N: maxCorpus + 1}
	scanner := bufio.NewScanner(limited)
	scanner.Buffer(nil, 1<<20)
	var list []string
	seen := map[string]bool{}
	for line := 1; scanner.Scan(); line++ {
		if limited.N == 0 {
			return nil, fmt.Errorf("more than %d MiB; take a part of it", maxCorpus>>20)
		}
		if !utf8.Valid(scanner.Bytes()) {
			return nil, fmt.Errorf("line %d: not a text: save it as UTF-8", line)
		}
		for _, snippet := range snippetsOf(scanner.Text(), words) {
			if !seen[snippet] && len(list) < mostSnippets {
				seen[snippet], list = true, append(list, snippet)
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%w; a line may have 1 MiB", err)
	}
	return list, nil
}

// snippetsOf cuts one paragraph.
func snippetsOf(paragraph string, words int) []string {
	var list, open []string
	flush := func() {
		if 2*len(open) >= words {
			list = append(list, strings.Join(open, " "))
		}
		open = nil
	}
	for _, sentence := range sentences(paragraph) {
		if room := words + words/2 - len(open); len(sentence) > room {
			if 4*len(open) < 3*words {
				open = append(open, sentence[:words-len(open)]...)
			}
			flush()
			continue
		}
		if open = append(open, sentence...); 4*len(open) >= 3*words {
			flush()
		}
	}
	flush()
	return list
}

// sentences are the words of each sentence: one ends with a word that ends in a full stop, an exclamation or a
// question mark, whatever closes behind it.
func sentences(paragraph string) [][]string {
	var list [][]string
	var open []string
	for _, word := range strings.Fields(strings.Map(visible, paragraph)) {
		open = append(open, word)
		end := strings.TrimRight(word, `"'”’»)]`)
		if last, _ := utf8.DecodeLastRuneInString(end); strings.ContainsRune(".!?。！？", last) {
			list, open = append(list, open), nil
		}
	}
	if open != nil {
		list = append(list, open)
	}
	return list
}

// visible drops control and format characters; blanks stay.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}
