package scores

import (
	"strings"
)

// Spec says what to take from a table. The zero Spec guesses everything; the guesses become notes.
type Spec struct {
	// Label is the column that says how good each answer is.
	Label string
	// Scores are the columns to evaluate. Empty: all columns that can be nothing but scores.
	Scores []ScoreSpec
	// By are columns whose values divide the rows into groups, each evaluated on its own.
	By []string
	// Item is the column that names the item; it must not repeat within a group. Empty: a usual name
	// such as "id" where there is one. [NoItem]: not checked.
	Item string
	// Cluster is a column whose equal values belong together, such as the question of several
	// samples: intervals then come from drawing whole clusters, and the items may repeat.
	Cluster string
	// Correct, Incorrect and Missing are further words for labels and missing values, without regard
	// to case.
	Correct, Incorrect, Missing []string
}

// NoItem as [Spec].Item says that rows need not be told apart.
const NoItem = "none"

// ScoreSpec is a score column with its kind; an empty kind is guessed.
type ScoreSpec struct {
	// Column is the name of the column, or a reduction of the lists in its cells, see [ParseScore].
	Column string
	Kind   Kind
}

// ParseScore reads "COLUMN" or "COLUMN:KIND". A colon that no kind follows belongs to the column.
//
// Where the cells of a column hold JSON with the log-probabilities of an answer's tokens, the column is
// written as a reduction of that list: "mean(logprobs.token_logprobs)" is the logarithm of the
// geometric mean of the token probabilities in {"token_logprobs": [...]} of the column "logprobs". The
// reductions are mean, sum, min and first.
func ParseScore(s string) ScoreSpec {
	column, name, found := cutLast(s, ":")
	if k, err := ParseKind(name); found && err == nil {
		return ScoreSpec{Column: column, Kind: k}
	}
	return ScoreSpec{Column: s}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
