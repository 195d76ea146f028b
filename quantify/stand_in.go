package quantify

import (
	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
)

// LexicalRelation stands in for an entailment model where there is none: it compares words and knows nothing
// of what they mean. Of the words of premise P and hypothesis H, counted as often as in both, C are common;
// then the premise entails by |C|/|H|, contradicts by 1 − |C|/min(|P|,|H|), and does neither by the rest. So a
// text entails what it holds ("Paris, France" and "Paris"), and texts without a common word contradict each
// other, as "gallium" and "mercury" do, but also "mercury" and "quicksilver". Words are runs of letters,
// marks and numbers of every script in one case; a blank text is related to nothing
// ([BadEntailment]) but itself.
// Source: this project.
func LexicalRelation(premise, hypothesis string) Relation {
	if premise == hypothesis {
		return same
	}
	var vocabulary overlap.Vocabulary
	var counter overlap.Counter
	p := vocabulary.Append(nil, text.Unicode.Words(premise))
	h := vocabulary.Append(nil, text.Unicode.Words(hypothesis))
	if len(p) == 0 || len(h) == 0 {
		return Relation{Missing: BadEntailment}
	}
	common := float64(counter.Common(p, h))
	entails, contradicts := common/float64(len(h)), 1-common/float64(min(len(p), len(h)))
	return Relation{Entails: entails, Neither: max(0, 1-entails-contradicts), Contradicts: contradicts}
}
