// Package importtest holds the arrows of the house: which room may import
// which, and which third-party module belongs to which room. Its test reads the
// imports of every Go file, for every system, and refuses what is not listed.
//
// To add a room or a library, add its row here in the same commit and say in
// ARCHITECTURE.md why.
package importtest

// arrows says what each room may import of ours; the standard library is always
// allowed. A room without a row is refused.
var arrows = map[string][]string{
	"web":                 {},
	"internal/event":      {},
	"internal/sse":        {},
	"internal/render":     {},
	"internal/proc":       {},
	"internal/document":   {},
	"internal/tokens":     {},
	"internal/kind":       {},
	"internal/grep":       {},
	"internal/veil":       {},
	"internal/wording":    {},
	"internal/patch":      {"internal/event"},
	"internal/displays":   {},
	"scripts/report":      {},
	"scripts/bench":       {},
	"scripts/release":     {},
	"scripts/systems":     {},
	"internal/strictjson": {},

	"internal/contain": {},

	"internal/render/code":    {"internal/render"},
	"internal/render/formula": {},
	"internal/render/markdown": {"internal/render", "internal/render/code",
		"internal/render/formula"},
	"internal/render/terminal":   {"internal/render"},
	"internal/render/rendertest": {}, // what the four may write, for their tests

	"internal/guard": {"internal/document"},
	"internal/files": {"internal/calls", "internal/patch", "internal/document",
		"internal/proc", "internal/event"},
	"internal/worktree":        {"internal/event", "internal/files"},
	"internal/canary/scripted": {},
	"internal/jsonrpc":         {"internal/contain", "internal/proc"},
	"internal/agent":           {"internal/event"},
	"internal/calls":           {"internal/event"},
	"internal/eventlog":        {"internal/calls", "internal/event"},
	// package.json names scripts
	"internal/policy": {"internal/agent", "internal/document", "internal/event", "internal/proc",
		"internal/strictjson", "internal/veil"},

	"internal/agent/agenttest": {"internal/agent", "internal/contain", "internal/event"},
	// how a project is tested
	"internal/agent/offline": {"internal/agent", "internal/contain", "internal/event",
		"internal/files", "internal/proc", "internal/workspace"},
	"internal/agent/convo": {"internal/patch", "internal/agent", "internal/contain",
		"internal/document", "internal/event", "internal/jsonrpc", "internal/proc"},
	"internal/agent/autohand": {"internal/agent", "internal/agent/convo", "internal/event",
		"internal/jsonrpc", "internal/policy", "internal/proc", "internal/wording"},
	"internal/agent/acp": {"internal/agent", "internal/agent/convo",
		"internal/document", "internal/event", "internal/jsonrpc", "internal/policy", "internal/proc",
		"internal/wording"},
	// what confines it
	"internal/agent/copilot": {"internal/agent", "internal/agent/convo",
		"internal/agent/copilot/cli", "internal/event", "internal/jsonrpc", "internal/policy",
		"internal/proc"},
	"internal/agent/copilot/cli": {"internal/event", "internal/agent", "internal/agent/convo",
		"internal/contain", "internal/jsonrpc", "internal/policy", "internal/proc"},
	"internal/agent/copilot/copilottest": {}, // a language model for tests

	"internal/agent/autohand/autohandtest": {}, // the CLI for tests
	"internal/agent/acp/acptest":           {}, // an agent for tests
	"internal/store/postgrestest":          {}, // a database for tests

	"internal/cage": {"internal/event", "internal/policy", "internal/proc",
		"internal/veil"},
	"internal/consent": {"internal/calls", "internal/agent", "internal/event",
		"internal/eventlog", "internal/policy", "internal/proc", "internal/strictjson"},
	"internal/session": {"internal/calls", "internal/document", "internal/contain", "internal/consent",
		"internal/event", "internal/eventlog", "internal/agent", "internal/strictjson", "internal/tokens",
		"internal/files", "internal/kind", "internal/policy", "internal/workspace"},
	"internal/held": {"internal/cage", "internal/consent", "internal/event",
		"internal/files", "internal/session"},
	"internal/sessions": {"internal/session", "internal/worktree", "internal/contain",
		"internal/consent",
		"internal/event", "internal/eventlog", "internal/agent", "internal/files"},
	// one reading of Accept-Encoding
	"internal/outputs": {"internal/grep", "internal/kind", "internal/veil", "web"},
	"internal/displaytools": {"internal/agent", "internal/kind", "internal/event",
		"internal/strictjson", "internal/outputs", "internal/policy", "internal/proc", "internal/tokens",
		"internal/render/code", "internal/workspace"},
	"internal/workspace": {"internal/policy"},
	// a list is the manager's
	"internal/store": {"internal/document", "internal/event", "internal/eventlog",
		"internal/sessions"},
	"internal/store/storetest": {"internal/event", "internal/eventlog", "internal/sessions"},
	"internal/released": {"internal/agent", "internal/event", "internal/eventlog",
		"internal/outputs", "internal/tokens"},
	// the display tools are lent
	"internal/mcp": {"internal/agent", "internal/consent", "internal/contain",
		"internal/document", "internal/displaytools", "internal/event", "internal/eventlog",
		"internal/guard", "internal/proc", "internal/released", "internal/sessions", "internal/files",
		"internal/tokens", "internal/veil"},
	"internal/page": {"internal/patch", "internal/event", "internal/eventlog",
		"internal/policy", "internal/render", "internal/tokens", "internal/veil", "internal/views", "web",
		"internal/render/markdown", "internal/kind", "internal/render/code"},
	"internal/looking":       {"internal/tokens", "web"},
	"internal/page/pagetest": {"internal/page"},
	"internal/render/notebook": {"internal/kind", "internal/render", "internal/render/markdown",
		"internal/render/terminal", "internal/wording"},
	"internal/views": {"internal/grep", "internal/outputs", "internal/render", "internal/render/code",
		"internal/render/markdown", "internal/render/notebook", "internal/render/terminal",
		"internal/tokens", "internal/kind", "internal/veil"},
	"internal/server": {"internal/worktree", "internal/calls", "internal/session", "internal/files",
		"internal/grep",
		"internal/veil", "internal/eventlog", "internal/consent", "internal/sessions", "internal/event",
		"internal/outputs", "internal/sse", "internal/render", "internal/render/code", "internal/page",
		"internal/policy", "internal/strictjson", "internal/guard", "internal/agent", "internal/kind",
		"internal/tokens", "internal/views", "web"},

	"internal/document/documenttest": {"internal/document"},

	// what the command line hands to a running server: the manager\'s sessions, their displays, what
	// is asked about them, and a log that takes nothing
	"internal/daemon": {"internal/displaytools", "internal/document", "internal/event",
		"internal/eventlog", "internal/proc", "internal/session", "internal/sessions"},
	"internal/canary": {"internal/agent", "internal/canary/scripted", "internal/consent",
		"internal/event", "internal/eventlog", "internal/outputs", "internal/policy", "internal/session",
		"internal/sessions", "internal/store", "internal/files"},

	"docs/examples/client": {}, // a client of the API, for readers
	"internal/importtest":  {},
	// tests only: what attackers put into what is shown
	"internal/e2e/hostile": {},
	// tests only: addresses that have to be known before something listens there
	"internal/e2e/ports": {},
	"internal/e2e/proxy": {"internal/e2e/ports"}, // tests only: a real nginx before a server
	// tests only: the whole program in a real browser
	"internal/e2e/browser":   {},
	"internal/e2e/sentences": {}, // tests only: every sentence a user can meet, in one file
	"internal/e2e/witness":   {}, // tests only: what clients of a server under test see
	// tests only: the whole program, killed and cut off at random instants
	"internal/e2e/chaos": {"internal/store", "internal/page/pagetest"},
	// tests only: what they start as the other side
	"internal/e2e/standin": {"internal/agent/acp/acptest", "internal/agent/autohand",
		"internal/agent/autohand/autohandtest",
		"internal/agent/copilot/copilottest", "internal/proc"},
	"internal/e2e/standin/plain": {"internal/e2e/standin"},
	// tests only: several of them behind one nginx, on one database
	"internal/e2e/cluster": {},
	"cmd/webchat":          {"*"}, // the command: it wires everything, and nothing imports it
}

// everywhere may be imported by every room.
var everywhere = []string{"internal/wording", "internal/displays"}

// theirs says which rooms may import a third-party module.
var theirs = map[string][]string{
	"github.com/go-chi/chi/v5":           {"internal/server"},
	"github.com/coreos/go-oidc/v3":       {"internal/guard"},
	"github.com/oauth2-proxy/mockoidc":   {"internal/guard"}, // a provider for its tests
	"github.com/golang-jwt/jwt/v5":       {"internal/guard"}, // what that one takes
	"github.com/jellydator/ttlcache/v3":  {"internal/outputs"},
	"github.com/klauspost/compress":      {"internal/outputs", "web", "internal/views"},
	"github.com/evanw/esbuild":           {"web"},
	"github.com/r3labs/sse/v2":           {"internal/sse"},
	"github.com/alecthomas/chroma/v2":    {"internal/render/code"},
	"github.com/yuin/goldmark":           {"internal/render/markdown"},
	"github.com/dop251/goja":             {"internal/render/formula"},
	"github.com/microcosm-cc/bluemonday": {"internal/render/markdown"},
	// one hunk at a time, by what its head says
	"github.com/bluekeyes/go-gitdiff": {"internal/event"},
	// bounded whatever the texts hold
	"github.com/aymanbagabas/go-udiff":         {"internal/patch", "internal/views", "internal/page"},
	"github.com/agnivade/levenshtein":          {"internal/wording"},
	"github.com/buildkite/terminal-to-html/v3": {"internal/render/terminal"},
	"github.com/tiktoken-go/tokenizer":         {"internal/tokens"},
	"github.com/go-json-experiment/json": {"internal/strictjson", "internal/views",
		"internal/guard", "internal/mcp"},
	"modernc.org/sqlite":      {"internal/store", "internal/views"},
	"github.com/jackc/pgx/v5": {"internal/store"},
	// its tests: a disk below SQLite that fails
	"modernc.org/libc":                {"internal/store"},
	"github.com/sourcegraph/jsonrpc2": {"internal/jsonrpc"},
	"github.com/google/uuid":          {"internal/event"},
	"github.com/alecthomas/kong":      {"cmd/webchat"},
	// completes command lines from the table of kong
	"github.com/willabides/kongplete": {"cmd/webchat"},
	// kongplete's type for the values of a flag
	"github.com/posener/complete":         {"cmd/webchat"},
	"github.com/mattn/go-isatty":          {"cmd/webchat"}, // is somebody there to be asked
	"go.yaml.in/yaml/v4":                  {"cmd/webchat", "internal/views"},
	"github.com/adrg/xdg":                 {"cmd/webchat"},
	"github.com/prometheus/client_golang": {"cmd/webchat"},
	"github.com/charlievieth/fastwalk":    {"internal/files"},
	// what each system reports of files
	"github.com/fsnotify/fsnotify": {"internal/files"},
	// a bound of connections; this server's proxy; filters of calls; HTML as a page; tests parse HTML
	"golang.org/x/net": {"cmd/webchat", "internal/cage", "internal/proc",
		"internal/views", "internal/page/pagetest", "internal/render/rendertest",
		"internal/e2e/sentences"},
	"github.com/sahilm/fuzzy": {"internal/files"},
	"golang.org/x/sys": {"internal/cage", "internal/proc", "internal/files",
		"internal/render", "internal/sse", "internal/document", "internal/policy", "cmd/webchat"},
	"golang.org/x/image":                 {"internal/kind"},
	"github.com/gabriel-vasile/mimetype": {"internal/kind"},
	"golang.org/x/text":                  {"internal/kind", "internal/outputs"},
	"github.com/pelletier/go-toml/v2":    {"internal/views"},
	"mvdan.cc/sh/v3":                     {"internal/policy"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/mcp", "internal/canary",
		"internal/agent/acp/acptest", "internal/agent/autohand/autohandtest"},
	"github.com/yosida95/uritemplate/v3": {"internal/mcp"}, // as the MCP SDK reads templates
	// a token and what renews it, as the MCP SDK has them
	"golang.org/x/oauth2":               {"internal/mcp", "internal/guard"},
	"golang.org/x/tools":                {"internal/importtest", "scripts/systems"},
	"github.com/CycloneDX/cyclonedx-go": {"scripts/release"}, // the list of modules in a standard form
}

// forTests may be imported by test files, by the rooms below internal/e2e and by
// those whose name ends in "test".
var forTests = []string{
	"go.uber.org/goleak",
	"pgregory.net/rapid",
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"github.com/PuerkitoBio/goquery",
	"github.com/chromedp/chromedp",
	"github.com/chromedp/cdproto",
}

// standardRefused keeps parts of the standard library out of rooms that must
// not know them.
var standardRefused = map[string][]string{
	"net/http": {"internal/session", "internal/contain", "internal/event", "internal/agent",
		"internal/sessions", "internal/eventlog", "internal/consent", "internal/page",
		"internal/displaytools", "internal/store", "internal/render", "internal/render/code",
		"internal/render/markdown", "internal/render/terminal"},
	// only proc starts processes
	"os/exec": {"*", "-internal/proc", "-internal/e2e/proxy", "-internal/agent/autohand/autohandtest",
		"-internal/agent/copilot/copilottest", "-internal/store/postgrestest"},
	"flag": {"*"}, // kong reads the command line
}
