package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHelpKeepsToEightyColumns(t *testing.T) {
	t.Parallel()
	a := &app{}
	asked := [][]string{{"help"}, {"help", "ledger", "show"}}
	for _, c := range a.commands() {
		asked = append(asked, []string{"help", c.Name()})
	}
	for _, args := range asked {
		var out, err bytes.Buffer
		if code := Run(context.Background(), args, strings.NewReader(""), &out, &err); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, err.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
	}
}

func TestHelpListsCommandsAsANewcomerMeetsThem(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Run(context.Background(), []string{"help"}, strings.NewReader(""), &out, &out)
	var found []int
	for _, name := range []string{"quickstart", "run", "plan", "eval", "metrics", "ledger", "models", "pull", "version"} {
		found = append(found, strings.Index(out.String(), "\n  "+name+" "))
	}
	if found[0] < 0 || !slices.IsSorted(found) {
		t.Errorf("the places of the commands are %v in\n%s", found, out.String())
	}
}
