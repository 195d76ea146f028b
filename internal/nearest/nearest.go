// Package nearest finds the word that a mistyped one was probably meant to be.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Of returns the candidate closest to word by edit distance, ignoring case, and whether it is close
// enough to be suggested: at most a third of the word's letters changed, at least one allowed. Of
// equally close candidates the first is taken.
func Of(word string, candidates []string) (string, bool) {
	word = strings.ToLower(word)
	best, distance := "", max(1, len([]rune(word))/3)+1
	for _, c := range candidates {
		if d := levenshtein.ComputeDistance(word, strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best, best != ""
}
