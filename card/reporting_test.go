package card_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/llm"
)

var update = flag.Bool("update", false, "write golden files")

func TestAnEmptyCardStatesNothing(t *testing.T) {
	t.Parallel()
	var c card.Card
	c.Check()
	if len(c.Reporting) == 0 || len(c.Missing) != len(c.Reporting) {
		t.Errorf("%d items, %d missing", len(c.Reporting), len(c.Missing))
	}
	for _, i := range c.Reporting {
		if i.Stated {
			t.Errorf("an empty card states %s", i.Item)
		}
	}
}

func TestAWholeCardLacksNothing(t *testing.T) {
	t.Parallel()
	c := whole()
	c.Check("and this besides")
	if !slices.Equal(c.Missing, []string{"and this besides"}) {
		t.Errorf("missing: %q", c.Missing)
	}
}

// Whatever a study leaves out, the card must name it, and nothing else.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	t.Parallel()
	for item, leaveOut := range map[string]func(*card.Card){
		"the prompts in full":                       func(c *card.Card) { c.Prompts[0].Text = "" },
		"whose answers are rated":                   func(c *card.Card) { c.Answers.ID = "" },
		"the format of the answers":                 func(c *card.Card) { c.Answers.What = "" },
		"the scale of the stated confidence":        func(c *card.Card) { c.Elicitation.What = "" },
		"the context that others are compared with": func(c *card.Card) { c.Base = "" },
		"the tokenisation rule":                     func(c *card.Card) { c.Tokenisation = "" },
		"the aggregation of token probabilities":    func(c *card.Card) { c.Aggregations = nil },
		"how answers are generated":                 func(c *card.Card) { c.Generation = nil },
		"the parser":                                func(c *card.Card) { c.Parser.What = "" },
		"the correctness rule":                      func(c *card.Card) { c.Correctness[0].What = "" },
		"ECE and AUROC both":                        func(c *card.Card) { c.Metrics = c.Metrics[:1] },
		"estimators and their bins":                 func(c *card.Card) { c.Metrics[0].What = "" },
		"what the score is for, which decides the context to read it in":      func(c *card.Card) { c.Purpose = "" },
		"intervals, resamples and seed":                                       func(c *card.Card) { c.Intervals = card.NoIntervals },
		"the data, by content":                                                func(c *card.Card) { c.Datasets[0].SHA256 = "" },
		"items asked, used and left out, with reasons":                        func(c *card.Card) { c.Settings[0].LeftOut = nil },
		"which judges, of which type":                                         func(c *card.Card) { c.Validation[0].Type = "" },
		"each judge's threshold":                                              func(c *card.Card) { c.Validation[0].Threshold = "" },
		"against whose labels each judge was validated":                       func(c *card.Card) { c.Validation[0].HumanLabels = 0 },
		"each judge's agreement with people":                                  func(c *card.Card) { c.Validation[0].WithPeople = nil },
		"the agreement of people among themselves":                            func(c *card.Card) { c.Validation[0].AmongPeople = nil },
		"what the judges' errors do to the metrics":                           func(c *card.Card) { c.Validation[0].Effect = "" },
		"the context in which tokens are scored, and the answer's slot in it": func(c *card.Card) { c.Contexts[0].What = "" },
		"each model's identity: weights by checksum, engine and mode": func(c *card.Card) {
			c.Models[0].Identity = llm.Identity{Engine: "a server", Model: "m"}
		},
	} {
		c := whole()
		leaveOut(c)
		c.Check()
		var unstated []string
		for _, i := range c.Reporting {
			if !i.Stated {
				unstated = append(unstated, i.Item)
			}
		}
		if !slices.Equal(unstated, []string{item}) {
			t.Errorf("without %s the card lacks %q", item, unstated)
		}
	}
}

func TestCardReadsAsItDid(t *testing.T) {
	t.Parallel()
	c := whole()
	c.Check("d: origin and licence of the questions are for the author to state")
	golden(t, "card.md", c.Markdown())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
