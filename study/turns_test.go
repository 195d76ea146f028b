package study_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/study"
)

// turnstile opens scripted models and keeps what was opened, first asked and closed, in order.
type turnstile struct {
	opener
	refuse string // the name of a model that cannot be opened

	mu    sync.Mutex
	log   []string
	asked map[string]bool
	open  int
	most  int
}

func (o *turnstile) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	if m.Name == o.refuse {
		return study.Opened{}, errors.New("needs 3 GB")
	}
	opened, err := o.opener.Open(ctx, m)
	if err != nil {
		return opened, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, "open "+m.Name)
	o.open++
	o.most = max(o.most, o.open)
	opened.Engine = &passing{opened.Engine, o, m.Name}
	return opened, nil
}

// passing is an engine that tells its turnstile.
type passing struct {
	llm.Engine
	of   *turnstile
	name string
}

func (e *passing) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	e.of.mu.Lock()
	if e.of.asked == nil {
		e.of.asked = map[string]bool{}
	}
	if !e.of.asked[e.name] {
		e.of.asked[e.name] = true
		e.of.log = append(e.of.log, "ask "+e.name)
	}
	e.of.mu.Unlock()
	return e.Engine.Do(ctx, reqs)
}

func (e *passing) Close() error {
	e.of.mu.Lock()
	e.of.log = append(e.of.log, "close "+e.name)
	e.of.open--
	e.of.mu.Unlock()
	return e.Engine.Close()
}

const three = "name: x\nmodels:\n- {name: a, weights: w}\n- {name: b, weights: v}\n- {name: c, weights: u}\n" +
	"datasets:\n- {name: facts, limit: 4}\n- {name: facts-120, limit: 3}\nanalysis: {resamples: 10}\n"

// One model is open at a time, each for one turn, in the order of the file.
func TestModelsTakeTurns(t *testing.T) {
	t.Parallel()
	o := &turnstile{}
	if _, _, err := study.Run(t.Context(), parse(t, three), study.Options{Folder: t.TempDir(), Open: o}); err != nil {
		t.Fatal(err)
	}
	want := strings.Split("open a,close a,open b,close b,open c,close c,"+
		"open a,ask a,close a,open b,ask b,close b,open c,ask c,close c", ",")
	if diff := cmp.Diff(want, o.log); diff != "" || o.most != 1 {
		t.Errorf("%d open at once:\n%s", o.most, diff)
	}
}

// What is wrong with the last model is said before the first is asked.
func TestALaterModelThatCannotRunEndsTheStudyAtOnce(t *testing.T) {
	t.Parallel()
	o := &turnstile{refuse: "c"}
	_, _, err := study.Run(t.Context(), parse(t, three), study.Options{Folder: t.TempDir(), Open: o})
	if err == nil || !strings.Contains(err.Error(), "model c: needs 3 GB") {
		t.Errorf("error %v", err)
	}
	if len(o.asked) > 0 || o.open != 0 {
		t.Errorf("%d are still open; this was done: %v", o.open, o.log)
	}
}
