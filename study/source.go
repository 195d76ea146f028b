package study

import (
	"context"
	"errors"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// ranSource is what remains of a source of entailment or embeddings after its engine is closed.
type ranSource struct {
	name     record.Setting
	identity llm.Identity
	counts   ledger.Counts
	retries  int64
}

// sourceStages are the stages of sources that are no models of the study, in order.
func (f *File) sourceStages() []Stage {
	var list []Stage
	if f.entails() && f.Entailment.OnServer() {
		list = append(list, StageEntailment)
	}
	if f.embeds() {
		list = append(list, StageEmbeddings)
	}
	return list
}

// sourceName is how a source is called where models with their data sets are listed.
func (f *File) sourceName(stage Stage) record.Setting {
	name := f.Embeddings.String()
	if stage == StageEntailment {
		name = f.Entailment.String()
	}
	return record.Setting{Model: string(stage), Dataset: name}
}

// sourcePrice is what a source costs; nil where it costs nothing.
func (f *File) sourcePrice(stage Stage) *Price {
	if stage == StageEntailment {
		return f.Entailment.Price
	}
	return f.Embeddings.Price
}

// openSource opens the source of a stage.
func (r *runner) openSource(ctx context.Context, stage Stage) (llm.Engine, error) {
	if stage == StageEntailment {
		return r.openEntailment(ctx)
	}
	return r.openEmbeddings(ctx)
}

// fromSource asks a source all that the study needs of it. No model is open meanwhile.
func (r *runner) fromSource(ctx context.Context, stage Stage) (err error) {
	engine, err := r.openSource(ctx, stage)
	if err != nil {
		return err
	}
	ask := r.ledger.Through(r.meter.around(engine, r.file.sourcePrice(stage)))
	defer func() { err = errors.Join(err, ask.Close()) }()
	ran := ranSource{name: r.file.sourceName(stage), identity: ask.Identity()}
	err = r.askSource(ctx, ask, stage, func(done, total int) {
		r.tell(Progress{Setting: ran.name, Stage: stage, Done: done, Total: total, Counts: ask.Counts()})
	})
	ran.counts, ran.retries = ask.Counts(), retriesOf(engine)
	r.sources = append(r.sources, ran)
	return err
}

// askSource asks one source in its stage; the plan runs the same code. after is told how many texts or pairs are
// done.
func (r *runner) askSource(ctx context.Context, ask collect.Asker, stage Stage, after func(done, total int)) error {
	if stage == StageEmbeddings {
		texts, ofTokens := r.textsToEmbed(), r.textsOfTokens() // each once
		total := len(texts) + len(ofTokens)
		if r.file.embedsTexts() {
			if err := r.askEmbeddings(ctx, ask, texts, collect.Pace{Open: openItems, Done: func(done int) { after(done, total) }}); err != nil {
				return err
			}
		}
		return r.askTokenEmbeddings(ctx, ask, ofTokens, collect.Pace{Open: openItems, Done: func(done int) { after(len(texts)+done, total) }})
	}
	pairs, distinct := []collect.Pair(nil), map[collect.Pair]bool{}
	for _, m := range r.file.Models {
		for _, d := range r.data {
			list := r.uncertain[record.Setting{Model: m.Name, Dataset: d.Name}]
			for i := range list {
				for _, pair := range r.pairsToRelate(&list[i]) {
					if !distinct[pair] {
						distinct[pair], pairs = true, append(pairs, pair)
					}
				}
			}
		}
	}
	found, err := collect.Entailment{Served: true}.All(ctx, ask, pairs, collect.Pace{Open: openItems, Done: func(done int) { after(done, len(pairs)) }})
	r.keepRelations("", found)
	return err
}
