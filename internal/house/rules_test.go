package house_test

// module is the path that all paths of rules are relative to.
const module = "github.com/credence-lab/credence"

// A layer is a set of packages with what they may import of this module, beyond helpers and their own
// sub-packages. A path that ends in "/..." stands for itself and all below it. Tests are free.
type layer struct {
	packages []string
	may      []string
	because  string
}

// helpers are small tools without knowledge of models, studies or files. All but the leaves may use them.
var helpers = []string{"internal/await", "internal/nearest", "internal/termsafe", "internal/text", "internal/overlap", "internal/chart", "internal/strictyaml"}

var statistics = []string{"measure", "metric", "resample", "bayes"}

// layers has each package once: a package without a layer fails the test, until someone decides.
var layers = []layer{
	{
		packages: []string{"record", "measure"},
		because:  "record and measure are the words that all others speak in: whoever needs one of them must get nothing else",
	},
	{
		packages: append([]string{"internal/house"}, helpers...),
		because:  "a helper that knows a package of ours cannot serve the packages below that one",
	},
	{
		packages: []string{"internal/table"},
		may:      []string{"record", "measure"},
		because:  "rows and columns are read and written the same for all: a table that knows what it holds serves one of them only",
	},
	{
		packages: []string{"metric", "resample", "bayes"},
		may:      statistics,
		because:  "a statistic is a function of numbers and labels: it can then be checked against reference values without an item, a model or a file",
	},
	{
		packages: []string{"quantify", "judge"},
		may:      []string{"record", "measure"},
		because:  "quantifiers and judges are pure functions of what was collected: with no way to ask a model, a change of judge costs no call",
	},
	{
		packages: []string{"dataset"},
		may:      []string{"record", "internal/table"},
		because:  "a data set is read before anyone knows what will be asked about it",
	},
	{
		packages: []string{"scores"},
		may:      append([]string{"internal/table"}, statistics...),
		because:  "scores that people already have are evaluated without an item, a model or a study",
	},
	{
		packages: []string{"llm"},
		may:      []string{"record"},
		because:  "what a model can be asked is plain types: it must not depend on one engine, nor on why it is asked",
	},
	{
		packages: []string{"llm/internal/wire"},
		may:      []string{"llm"},
		because:  "a connection to a server carries what it is given: what is asked is the business of the engines that share it",
	},
	{
		packages: []string{"llm/llamacpp", "llm/openai", "llm/tei", "llm/llmtest"},
		may:      []string{"llm", "llm/internal/wire", "record"},
		because:  "an engine answers requests: it knows neither prompts nor studies, so that every engine is asked the same",
	},
	{
		packages: []string{"llm/openai/fake"},
		may:      []string{"llm", "llm/llmtest", "record"},
		because:  "servers of a test speak for the scripted model, and know nothing of the client that they try",
	},
	{
		packages: []string{"weights"},
		may:      nil,
		because:  "fetching files is apart from using them",
	},
	{
		packages: []string{"prompt"},
		may:      []string{"record", "llm"},
		because:  "a prompt is a text made of an item: who is asked with it is not its business",
	},
	{
		packages: []string{"ledger", "ledger/ledgertest"},
		may:      []string{"ledger", "llm", "record"},
		because:  "the ledger keeps calls whoever makes them: it must not know the study that it outlives",
	},
	{
		packages: []string{"collect"},
		may:      append([]string{"record", "llm", "prompt", "consistency"}, statistics...), // consistency: which candidates for contexts are used decides whether more are asked for
		because:  "what is measured of an item is plain code that asks: through llm's small interface, so that ledger, plan and engine are alike to it",
	},
	{
		packages: []string{"protocol", "consistency", "validation", "abstain", "recalibrate"},
		may:      append([]string{"record", "recalibrate"}, statistics...),
		because:  "an analysis is a pure function of answers, readings and judgements: no server, no database, so that the same inputs give the same bytes",
	},
	{
		packages: []string{"card"},
		may:      append([]string{"record", "llm"}, statistics...), // llm: a card states the identity of its models
		because:  "the card states the choices of a study; it makes none of them and asks nobody",
	},
	{
		packages: []string{"report"},
		may:      append([]string{"record", "protocol", "consistency", "validation", "abstain", "recalibrate", "card", "annotate", "internal/table"}, statistics...),
		because:  "a report shows finished numbers: with no server and no database it cannot compute others",
	},
	{
		packages: []string{"annotate"},
		may:      append([]string{"record", "internal/table"}, statistics...),
		because:  "labels of people are used by terminal and web alike, and outlive the study that asked for them",
	},
	{
		packages: []string{"interop"},
		may:      append([]string{"record", "dataset", "internal/table"}, statistics...),
		because:  "files of other tools become records and back: nothing that a study does is needed for it",
	},
	{
		packages: []string{"internal/sandbox"},
		may:      []string{"record"},
		because:  "what runs foreign code must know as little as possible",
	},
	{
		packages: []string{"study"},
		may: append([]string{
			"record", "dataset", "internal/table", "llm", "llm/llamacpp", "llm/openai", "llm/tei", "weights", "ledger", "prompt", "collect",
			"quantify", "judge", "protocol", "consistency", "validation", "card", "abstain", "recalibrate", "report", "annotate", "internal/sandbox",
		}, statistics...),
		because: "study joins the others; it must work without a terminal and without a browser",
	},
	{
		packages: []string{"internal/cli", "internal/web"},
		may: append([]string{
			"record", "dataset", "internal/table", "llm", "llm/llamacpp", "llm/openai", "llm/tei", "weights", "ledger", "prompt", "collect",
			"quantify", "judge", "protocol", "consistency", "validation", "card", "abstain", "recalibrate", "report", "annotate", "interop", "scores", "study", "internal/web",
		}, statistics...),
		because: "the surfaces stand on the library, never the library on a surface",
	},
	{
		packages: []string{"cmd/credence"},
		may:      []string{"internal/cli"},
		because:  "the command is a dozen lines: all that it does can be tested without a process",
	},
	{
		packages: []string{"internal/bayescheck"},
		may:      []string{"bayes"},
		because:  "the long tests of bayes use it as everyone does, and run without the race detector that its own tests run under",
	},
	{
		packages: []string{"bench"},
		may:      []string{"llm", "llm/llamacpp", "llm/openai", "ledger", "study", "weights"},
		because:  "the benchmark of the engine runs a study as any user of the library may",
	},
	{
		packages: []string{"internal/e2e"},
		may:      nil,
		because:  "the end-to-end tests use the program as its users do",
	},
}

// A home is the only place in production code from which a package outside the module is imported.
type home struct {
	of      []string
	in      []string
	because string
}

var homes = []home{
	{
		of:      []string{"database/sql", "modernc.org/sqlite/...", "github.com/pressly/goose/..."},
		in:      []string{"ledger/..."},
		because: "the ledger is the only database, and may be another one tomorrow",
	},
	{
		of:      []string{"github.com/hybridgroup/yzma/...", "github.com/ebitengine/purego/...", "github.com/jupiterrider/ffi/...", "unsafe"},
		in:      []string{"llm/llamacpp/..."},
		because: "memory that Go does not own is handled in one place",
	},
	{
		of:      []string{"net/http"},
		in:      []string{"weights/...", "llm/internal/wire", "llm/openai/...", "llm/tei/...", "internal/web/...", "bench"},
		because: "nothing leaves the machine but the calls that a study names and the files that a user pulls; the benchmark serves itself on loopback",
	},
	{
		of:      []string{"os/exec"},
		in:      []string{"weights/...", "internal/sandbox/...", "internal/web/..."},
		because: "other programs are run to fetch packages, to test candidate code and to open a browser; nowhere else",
	},
	{
		of:      []string{"github.com/spf13/cobra/...", "github.com/spf13/pflag/..."},
		in:      []string{"internal/cli/..."},
		because: "the library is usable without the command",
	},
	{
		of: []string{
			"testing", "testing/...", "pgregory.net/rapid/...", "github.com/google/go-cmp/...",
			"github.com/rogpeppe/go-internal/testscript/...", "go.uber.org/goleak/...", "github.com/chromedp/...", "github.com/creack/pty/...",
		},
		in:      []string{"llm/llmtest/...", "ledger/ledgertest/..."},
		because: "what tests need does not ship",
	},
}

// pure packages must not reach what could make equal inputs give unequal outputs.
var (
	pure = []string{
		"record", "measure", "metric", "resample", "bayes", "quantify", "judge",
		"protocol", "consistency", "validation", "abstain", "recalibrate", "card",
	}
	impure = []string{"time", "os", "net", "net/http", "os/exec", "database/sql", "crypto/rand", "math/rand"}
)

const pureBecause = "a pure function opens no file or connection, reads no clock, and draws numbers only from a seeded math/rand/v2 generator"

// testOnly packages are imported by tests and by each other, never by what ships.
var testOnly = []string{"llm/llmtest", "llm/openai/fake", "ledger/ledgertest", "internal/house", "internal/e2e", "internal/bayescheck"}

const testOnlyBecause = "a scripted model in a measurement would be a made-up result"
