package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/study"
)

// judgedRun is one setting of a run as a table of scores, verdicts and labels.
func judgedRun(ctx context.Context, folder, setting string) (*judgedTable, error) {
	settings, err := study.JudgedSettings(ctx, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range settings {
		names = append(names, s.Setting.String())
	}
	for _, s := range settings {
		if setting != s.Setting.String() && (setting != "" || len(settings) > 1) {
			continue
		}
		if len(s.Table.People) == 0 {
			return nil, usageHint(usagef("nobody has labelled %s", s.Setting), "run \"credence annotate %s --as NAME\"", folder)
		}
		if len(s.Table.Quantifiers) == 0 {
			return nil, usageHint(usagef("the run has no quantifiers, whose evaluation judges could distort"), "add \"quantifiers: [default]\" to its study and run it again")
		}
		return &judgedTable{Table: s.Table, notes: []string{fmt.Sprintf("%s of the run %s", s.Setting, folder)}}, nil
	}
	return nil, usageHint(usagef("which setting of %s?", folder), "name one with --setting: %s", strings.Join(names, ", "))
}
