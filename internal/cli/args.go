package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/study"
)

// exactlyOne wants one argument and says what it is.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageHint(usagef("%s wants %s", cmd.CommandPath(), what), "usage: %s", cmd.UseLine())
		case len(args) > 1:
			return usageHint(usagef("%s wants %s, not %d arguments", cmd.CommandPath(), what, len(args)), "usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// wrongUsage makes what check finds wrong with arguments exit as wrong usage does, whoever wrote it.
func wrongUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var bad badInput
		if err == nil || errors.As(err, &bad) {
			return err
		}
		return usageHint(err, "usage: %s", cmd.UseLine())
	}
}

// resumable adds to an interruption that nothing is lost.
func resumable(err error, folder string) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted; what was asked is kept in %s, the same command goes on from there: %w", folder, err)
	}
	var spent *study.BudgetError
	if errors.As(err, &spent) {
		return hinted{spent, fmt.Sprintf("what was asked is kept in %s; raise the budget in the study file, or with --budget-calls, --budget-tokens or --budget-money, and the same command goes on", folder)}
	}
	return err
}
