package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Commands are listed in the order of [app.commands], which is that of a newcomer's first hour.
func init() { cobra.EnableCommandSorting = false }

// usageTemplate is cobra's, with flags that keep to the 80 columns of a terminal that nobody widened,
// and with the exit codes.
func usageTemplate(root *cobra.Command) string {
	return strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |") + exitCodesHelp
}
