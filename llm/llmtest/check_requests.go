package llmtest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/credence-lab/credence/llm"
)

func checkIdentity(p *probe) {
	id := p.engine.Identity()
	if id.Engine == "" || id.Model == "" {
		p.faultf("identity without engine or model: %+v", id)
	}
	if raw, err := hex.DecodeString(id.Weights); err != nil || (len(raw) != 0 && len(raw) != 32) {
		p.faultf("weights %q are no SHA-256", id.Weights)
	}
	if !slices.Contains([]string{"", "exact", "fast"}, id.Mode) {
		p.faultf("mode %q", id.Mode)
	}
	if !p.can.Generate && !p.can.Score && !p.can.Embed {
		p.faultf("the engine can do nothing: %+v", p.can)
	}
	before := p.engine.Capabilities()
	p.all(p.any(p.prompt("Hello?")))
	if after := p.engine.Identity(); !reflect.DeepEqual(id, after) {
		p.faultf("identity was %+v before the first call and is %+v after", id, after)
	}
	if after := p.engine.Capabilities(); before != after {
		p.faultf("capabilities were %+v before the first call and are %+v after", before, after)
	}
}

func checkNothing(p *probe) {
	p.do(p.ctx)
}

// checkMalformed mixes malformed requests with good ones: the good ones are answered, and each error
// stands in its place.
func checkMalformed(p *probe) {
	good := p.any(p.prompt("Is water wet?"))
	bad := []llm.Request{
		{Kind: good.Kind, Answer: good.Answer, Decoding: good.Decoding},
		{Kind: good.Kind, Answer: good.Answer, Decoding: good.Decoding, Prompt: llm.Prompt{Text: "a", Messages: []llm.Message{{Role: llm.User, Content: "b"}}}},
		{Kind: good.Kind, Answer: good.Answer, Decoding: good.Decoding, Prompt: llm.Prompt{Text: "a", Opening: "b"}},
		p.generate("no limit", 0),
		p.generate("negative limit", -1),
		{Kind: "", Prompt: good.Prompt},
	}
	for _, d := range []llm.Decoding{
		{MaxTokens: 1, Temperature: -1},
		{MaxTokens: 1, Temperature: math.NaN()},
		{MaxTokens: 1, Temperature: math.Inf(1)},
		{MaxTokens: 1, Stop: []string{""}},
		{MaxTokens: 1, TopP: 1.5},
		{MaxTokens: 1, TopK: -1},
		{MaxTokens: 1, MinP: -.5},
		{MaxTokens: 1, RepetitionPenalty: -1},
	} {
		bad = append(bad, llm.Request{Kind: llm.Generate, Prompt: good.Prompt, Decoding: d})
	}
	var mixed []llm.Request
	for _, b := range bad {
		mixed = append(mixed, b, good)
	}
	want := fmt.Sprintf("%+v", mixed)
	for i, r := range p.do(p.ctx, mixed...) {
		switch malformed := i%2 == 0; {
		case malformed && r.Err == nil:
			p.faultf("accepted: %+v", mixed[i])
		case !malformed && r.Err != nil:
			p.faultf("a good request beside %+v failed: %v", mixed[i-1], r.Err)
		}
	}
	if got := fmt.Sprintf("%+v", mixed); got != want {
		p.faultf("the engine changed the requests: %s, were %s", got, want)
	}
}

func checkUnsupported(p *probe) {
	reqs := []llm.Request{{Kind: "paint", Prompt: p.prompt("a house")}}
	if !p.can.Generate {
		reqs = append(reqs, p.generate("Hello?", 1))
	}
	if !p.can.Score {
		reqs = append(reqs, p.score("Hello?", " yes"))
	}
	if !p.can.Embed {
		reqs = append(reqs, p.embed("Hello?"))
	}
	if !p.can.EmbedTokens {
		reqs = append(reqs, p.embedTokens("Hello?"))
	}
	if !p.can.Chat && p.writes() {
		reqs = append(reqs, p.any(llm.Chat("Hello?", "")))
	}
	for i, r := range p.do(p.ctx, reqs...) {
		if !errors.Is(r.Err, llm.ErrNotSupported) {
			p.faultf("%s: error %v, want one that is ErrNotSupported", describe(reqs[i]), r.Err)
		}
	}
}

func checkEmptyAnswer(p *probe) {
	res := p.do(p.ctx, p.score("Is water wet?", ""), p.score("Is water wet?", " yes"))
	if !errors.Is(res[0].Err, llm.ErrEmptyAnswer) {
		p.faultf("empty answer: error %v, want one that is ErrEmptyAnswer", res[0].Err)
	}
	if res[1].Err != nil {
		p.faultf("the request beside an empty answer failed: %v", res[1].Err)
	}
}

func checkOverflow(p *probe) {
	long := strings.Repeat(" go", p.can.ContextTokens+8)
	good := p.any(p.prompt("Is water wet?"))
	reqs := []llm.Request{good, p.any(p.prompt(long)), good}
	if p.can.Score {
		reqs = append(reqs, p.score("Is water wet?", long), good)
	}
	if p.can.Generate {
		reqs = append(reqs, p.generate(long, 4), good)
	}
	if p.can.Embed {
		reqs = append(reqs, p.embed(long), good)
	}
	for i, r := range p.do(p.ctx, reqs...) {
		if i%2 == 0 {
			if r.Err != nil {
				p.faultf("a request beside one that does not fit failed: %v", r.Err)
			}
			continue
		}
		var over *llm.OverflowError
		if !errors.As(r.Err, &over) || !errors.Is(r.Err, llm.ErrContextOverflow) {
			p.faultf("%s: error %v, want an OverflowError", describe(reqs[i]), r.Err)
			continue
		}
		if over.Have < 1 || over.Have > p.can.ContextTokens || over.Need <= over.Have || over.Need < p.can.ContextTokens {
			p.faultf("%s: %v in a context of %d", describe(reqs[i]), over, p.can.ContextTokens)
		}
	}
}

func checkCancelled(p *probe) {
	cancelled, cancel := context.WithCancel(p.ctx)
	cancel()
	late, release := context.WithDeadline(p.ctx, time.Unix(0, 0))
	defer release()
	for _, c := range []struct {
		ctx  context.Context
		want error
	}{{cancelled, context.Canceled}, {late, context.DeadlineExceeded}} {
		req := p.any(p.prompt("What is never asked?"))
		for _, r := range p.do(c.ctx, req, req, req) {
			if !errors.Is(r.Err, c.want) {
				p.faultf("error %v, want %v", r.Err, c.want)
			}
		}
	}
	p.all(p.any(p.prompt("Is water wet?")))
}

// checkCancelledInFlight cancels at some moment of a long call. Whichever it is, a result is whole or
// has the context's error, and the engine goes on.
func checkCancelledInFlight(p *probe) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	var reqs []llm.Request
	for i := range 16 {
		req := p.any(p.prompt("Is water wet?"))
		if p.can.Generate {
			req = p.generate("Tell a story.", 24)
			req.Decoding.Temperature, req.Sample = 1, i
		}
		reqs = append(reqs, req)
	}
	go cancel()
	for i, r := range p.do(ctx, reqs...) {
		if r.Err != nil && !errors.Is(r.Err, context.Canceled) {
			p.faultf("request %d: error %v", i, r.Err)
		}
	}
	p.all(p.any(p.prompt("Is water wet?")))
}

func checkClosed(p *probe) {
	if err := p.engine.Close(); err != nil {
		p.faultf("close: %v", err)
	}
	req := p.any(p.prompt("Is water wet?"))
	for _, r := range p.do(p.ctx, req, req) {
		if r.Err == nil {
			p.faultf("answered after close")
		}
	}
}

func checkConcurrent(p *probe) {
	var reqs []llm.Request
	for _, answer := range []string{" one", " two", " three", " four"} {
		reqs = append(reqs, p.score("Count.", answer))
	}
	if p.can.Generate {
		reqs = append(reqs, p.generate("Count.", 3))
	}
	p.concurrently(reqs)
}

// concurrently lets several callers ask the same at once, each in another order.
func (p *probe) concurrently(reqs []llm.Request) {
	alone, ok := p.all(reqs...)
	if !ok {
		return
	}
	fault := amidCallers(reqs, func(reqs []llm.Request) []llm.Result { return p.engine.Do(p.ctx, reqs) }, func(i int, r llm.Result) {
		p.form(reqs[i], r)
		if r.Err != nil {
			p.faultf("%s, concurrently: %v", describe(reqs[i]), r.Err)
			return
		}
		p.repeats(reqs[i], alone[i], r.Reply, "alone and beside other callers")
	})
	if fault != nil {
		p.faultf("%v", fault)
	}
}

// amidCallers lets several callers ask the same at once, each in another order, and has each result seen with its
// place in list. Its error says that somebody got more or fewer results than were asked for.
func amidCallers[Q, R any](list []Q, ask func([]Q) []R, see func(i int, r R)) (err error) {
	const callers = 6
	together := make([][]R, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() { together[c] = ask(rotated(list, c)) })
	}
	wg.Wait()
	for c, results := range together {
		if len(results) != len(list) {
			err = fmt.Errorf("%d were asked for, and %d results came", len(list), len(results))
			continue
		}
		for i, r := range results {
			see((i+c)%len(list), r)
		}
	}
	return err
}

// rotated lets each caller ask the same things in another order.
func rotated[T any](list []T, by int) []T {
	by %= len(list)
	return slices.Concat(list[by:], list[:by])
}
