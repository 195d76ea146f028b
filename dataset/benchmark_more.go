package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

// commonsenseItem: the question is an object with stem and labelled choices.
func commonsenseItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at[:2])
	if err != nil {
		return record.Item{}, err
	}
	var q struct {
		Stem    string `json:"stem"`
		Concept string `json:"question_concept"`
		Choices []struct {
			Label string `json:"label"`
			Text  string `json:"text"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(row.Cell(at[2]).Bytes(), &q); err != nil {
		return record.Item{}, row.Errorf(at[2], "use an object with stem and choices", "a question that cannot be read: %v", err)
	}
	item := record.Item{ID: t[0], Question: strings.TrimSpace(q.Stem), Field: q.Concept}
	for _, choice := range q.Choices {
		item.Choices = append(item.Choices, strings.TrimSpace(choice.Text))
		if choice.Label == t[1] {
			item.References = []string{strings.TrimSpace(choice.Text)}
		}
	}
	if len(item.References) == 0 {
		return record.Item{}, row.Errorf(at[1], "use the label of a choice", "gold %q names no choice", t[1])
	}
	b.repeated(item)
	return item, nil
}

// svampTypes mends a misspelt type.
var svampTypes = map[string]string{"Common-Divison": "Common-Division"}

// svampItem: body and question make one text; the answer is a float that is shown as people write it.
func svampItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at)
	if err != nil {
		return record.Item{}, err
	}
	body := t[1]
	if body != "" && !strings.HasSuffix(body, ".") && !strings.HasSuffix(body, "?") && !strings.HasSuffix(body, ",") {
		body += "."
	}
	item := record.Item{ID: t[0], Question: strings.TrimSpace(body + " " + t[2]), Field: t[4]}
	if right, misspelt := svampTypes[t[4]]; misspelt {
		item.Field = right
		b.mend("a misspelt type is mended")
	}
	if item.References, err = numberForms(row, at[3], t[3]); err != nil {
		return record.Item{}, err
	}
	return item, nil
}

// numberForms are the ways to write an answer that is a number, the plainest first.
func numberForms(row *table.Row, column int, text string) ([]string, error) {
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return nil, row.Errorf(column, "write a number", "answer %q is no number", text)
	}
	plain := strconv.FormatFloat(x, 'f', -1, 64)
	if plain == text {
		return []string{plain}, nil
	}
	return []string{plain, text}, nil
}

// gsm8kItem: the answer follows "####" after the reasoning, with commas between thousands.
func gsm8kItem(_ *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at)
	if err != nil {
		return record.Item{}, err
	}
	i := strings.LastIndex(t[1], "####")
	if i < 0 {
		return record.Item{}, row.Errorf(at[1], "", "no \"####\" before the final answer")
	}
	references, err := numberForms(row, at[1], strings.TrimSpace(t[1][i+len("####"):]))
	return record.Item{Question: t[0], References: references}, err
}

var acceptableRange = regexp.MustCompile(`(?i)^(.*?)\s*\(\s*acceptable range\b[^()]*\)\s*$`)

// simpleItem: an answer may state the range that is accepted. The canonical answer is the plain one; the
// whole text stays as a reference, for judges that read ranges.
func simpleItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	t, err := texts(row, at)
	if err != nil {
		return record.Item{}, err
	}
	item := record.Item{ID: t[0], Question: t[1], References: []string{t[2]}, Field: t[3]}
	if m := acceptableRange.FindStringSubmatch(t[2]); m != nil && m[1] != "" {
		item.References = []string{m[1], t[2]}
		b.mend("an answer states the range that is accepted")
	}
	return item, nil
}

// nqItem: predictions that people found definitely right or wrong stand beside the answers; some quotes
// are escaped twice.
func nqItem(b *benchmarkBuilder, row *table.Row, at []int) (record.Item, error) {
	question, err := one(row, at[0])
	if err != nil {
		return record.Item{}, err
	}
	item := record.Item{Question: question}
	for i, into := range []*[]string{&item.References, &item.References, &item.Incorrect} {
		list, ok := jsonList(row.Cell(at[1+i]).Bytes())
		if !ok {
			return record.Item{}, row.Errorf(at[1+i], "use a list of texts", "no list of texts")
		}
		for _, text := range list {
			if strings.Contains(text, `\"`) {
				text = strings.ReplaceAll(text, `\"`, `"`)
				b.mend("quotes that were escaped twice are mended")
			}
			if text = strings.TrimSpace(text); text != "" && !slices.Contains(*into, text) {
				*into = append(*into, text)
			}
		}
	}
	return item, nil
}

// maxArray bounds a JSON array, which is read whole.
const maxArray = 256 << 20

// arrayLines turns a JSON array of objects into one object a line. Each stands on the line on which it
// begins in the array, so that errors name the right one.
func arrayLines(src io.Reader, name string) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxArray+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxArray {
		return nil, &table.Error{Position: table.Position{File: name}, Problem: fmt.Sprintf("a JSON array of more than %d MiB", maxArray>>20), Advice: "split it"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	broken := func(offset int64, problem string) error {
		return &table.Error{Position: table.Position{File: name, Line: 1 + bytes.Count(data[:offset], []byte("\n")), Column: 1}, Problem: problem, Advice: "the file must be one JSON array of objects"}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return nil, broken(0, "no JSON array")
	}
	var out bytes.Buffer
	line := 1
	for decoder.More() {
		var raw json.RawMessage
		before := decoder.InputOffset()
		if err := decoder.Decode(&raw); err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				before = min(syntax.Offset, int64(len(data)))
			}
			return nil, broken(before, "broken JSON: "+err.Error())
		}
		start := decoder.InputOffset() - int64(len(raw))
		at := 1 + bytes.Count(data[:start], []byte("\n"))
		for ; line < at; line++ {
			out.WriteByte('\n')
		}
		if out.Len() > 0 && out.Bytes()[out.Len()-1] != '\n' {
			out.WriteByte('\n')
			line++
		}
		if err := json.Compact(&out, raw); err != nil {
			return nil, broken(start, err.Error())
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, broken(int64(len(data)), "the array does not end")
	}
	out.WriteByte('\n')
	return &out, nil
}
