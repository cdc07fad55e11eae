// Command bench passes on what `go test -bench` writes and ends with a table: what
// this project asks of its speed, the figure that was measured, and whether it
// holds. It ends with status 1 if a benchmark failed; a figure that does not hold
// is for a person to judge, because it may be the machine's.
//
//	go test -run '^$' -bench . ./... | go run ./scripts/bench
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	if !run(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// demand is one thing that is asked of one figure.
type demand struct {
	row    int    // its number among what is asked of speed
	what   string // the figure in words
	bench  string // the benchmark, without "Benchmark"; with a slash at its end, all of its parts
	metric string // the unit of the figure
	least  bool   // limit is the least it may be, else the most
	limit  float64
}

const atLeast, atMost = true, false

var demands = []demand{
	{1, "burst to 100 readers, as a multiple of a hand-written server's speed", "FanoutBurst/100",
		"of-optimum", atLeast, 0.5},
	{1, "burst to 1,000 readers, likewise", "FanoutBurst/1000", "of-optimum", atLeast, 1.5},
	{2, "paced fan-out: median latency, in hand-written servers", "FanoutPaced", "p50/optimum", atMost,
		1.2},
	{2, "paced fan-out: CPU of a delivery, in hand-written servers", "FanoutPaced", "cpu/optimum",
		atMost, 1.1},
	{3, "beside a stalled reader: % delivered to the others", "StalledClient", "%-delivered", atLeast,
		100},
	{3, "beside a stalled reader: median latency, in that without it", "StalledClient", "p50-ratio",
		atMost, 1.1},
	{4, "an idle stream, bytes", "IdleStream", "ours-bytes/stream", atMost, 40 << 10},
	{5, "from backend to wire, 2,000 events a second: median, µs", "BackendToWire/webchat", "p50-µs",
		atMost, 300},
	{5, "from backend to wire, 2,000 events a second: 99 %, µs", "BackendToWire/webchat", "p99-µs",
		atMost, 10_000},
	{5, "an answer of 2 MB in 40,000 pieces, in the time the CLI takes for it", "ManyDeltas",
		"our-share", atMost, 0.1},
	{6, "an output of 1 KiB by http.ServeContent, in the speed of writing a []byte", "Get/1KiB",
		"ratio", atLeast, 0.8},
	{6, "an output of 100 KiB, likewise", "Get/100KiB", "ratio", atLeast, 0.6},
	{6, "an output of 10 MiB, likewise", "Get/10MiB", "ratio", atLeast, 0.75},
	{6, "an output of 100 KiB, in nginx's speed", "GetNginx/100KiB", "ratio", atLeast, 1},
	{6, "an output of 10 MiB, in nginx's speed", "GetNginx/10MiB", "ratio", atLeast, 1},
	{7, "a window of 500 lines of 100,000, in the time of those lines alone", "CodeWindow/", "ratio",
		atMost, 1.2},
	{8, "highlighting made to be slow, in limits of 100 ms", "CodePathological/", "limits", atMost, 1},
	{9, "most held in memory, in budgets", "Budget", "worst/budget", atMost, 1},
	{10, "an answer's Markdown: CPU of 1 MB, in that of 100 KB", "MarkdownStream", "1MB/100KB", atMost,
		12},
	{10, "an answer's Markdown: 40 KB, in rendering it at each delta", "MarkdownStream", "ours/again",
		atMost, 0.2},
	{10, "an answer in the page: CPU of 1 MB, in that of 100 KB", "AnswerInThePage", "1MB/100KB",
		atMost, 12},
	{10, "an answer in the page: 40 KB, in rendering it at each delta", "AnswerInThePage",
		"40KB/again", atMost, 0.2},
	{10, "an answer in the page, paced: CPU, in rendering once a frame", "AnswerInThePage",
		"paced/again", atMost, 0.8},
	{10, "an answer in the page, paced: longest task, ms", "AnswerInThePage", "ms-longest-task",
		atMost, 100},
	{10, "an answer in the page, paced: updates a second", "AnswerInThePage", "updates/s", atLeast,
		10},
	{10, "1 MB that names a file 11,000 times, in prose, a list or a table: longest task, busy ms",
		"NamesInAnAnswer", "busy-ms-longest-task", atMost, 100},
	{10, "coming back to an answer of 1 MB in flight: longest task, busy ms", "Rejoin",
		"busy-ms-longest-task", atMost, 100},
	{11, "a window of 500 lines in the page, ms", "FirstWindow", "ms/window", atMost, 200},
	{12, "from start to first page, in those of an empty server", "Start", "ratio", atMost, 12},
	{13, "an output of 1,000,000 lines on the Desk, in the time of 50 lines", "DeskOpens", "ratio",
		atMost, 1.2},
	{13, "an output of 1,000,000 lines on the Desk: from key to paint, ms", "DeskOpens",
		"1000000-lines-ms", atMost, 100},
	{14, "120 frames through 1,000,000 lines: frames with a row without its number", "DeskScrolls",
		"blank-frames", atMost, 0},
	{14, "120 frames through 1,000,000 lines: longest task, ms", "DeskScrolls", "ms-longest-task",
		atMost, 50},
	{14, "120 frames through 1,000,000 lines: rows in the page", "DeskScrolls", "rows", atMost, 2500},
	{14, "scrolling up through 300 turns: % of frames over 50 ms", "ScrollUp", "%-over-50-ms", atMost,
		1},
	{15, "a literal in 1,000,000 lines, in ripgrep's time", "Find/ERROR", "ratio", atMost, 1.5},
	{15, "any expression in 1,000,000 lines, in ripgrep's time", "Find/", "ratio", atMost, 10},
	{15, "what is found in 1,000,000 lines: first answer, ms", "Find/", "first-ms", atMost, 50},
	{16, "following a command that prints all it can: the page, in cores", "Follow", "cores", atMost,
		0.1},
	{16, "following a command that prints all it can: from key to stop, ms", "Follow", "ms-to-stop",
		atMost, 300},
	{16, "following a command that prints all it can: lines of head and tail lost", "Follow",
		"lines-lost", atMost, 0},
	{17, "opening 10,000 turns, in opening 40", "OpenLongSession", "ratio", atMost, 1.5},
	{17, "first page of a long session, kB", "OpenLongSession", "first-page-kB", atMost, 300},
	{17, "a replay of 102,000 events: first moment, ms", "OpenReplay", "first-ms", atMost, 2000},
	{18, "first visit: kB before the first paint", "FirstVisit", "kB", atMost, 60},
	{18, "first visit: requests before the first paint", "FirstVisit", "requests", atMost, 10},
	{19, "two common words in 1,000,000 events, in the time of a rare one", "OldAge/search",
		"common/rare", atMost, 3},
	{20, "memory of an idle conversation, KiB", "IdleSession", "our-KiB/session", atMost, 50},
	{13, "a letter typed in a session of 300 turns, in the time of a new one", "Typing", "ratio",
		atMost, 1.2},
	{10, "a letter typed while an answer streams: from key to paint, ms", "Typing", "streaming-ms",
		atMost, 50},
	{14, "the page's heap after 300 turns and 100 outputs, in that of a page opened then",
		"PageAfterADay", "heap/fresh", atMost, 1.5},
	{14, "the page's elements, likewise: eight outputs stay drawn", "PageAfterADay", "elements/fresh",
		atMost, 2},
	{22, "first paint beside 10,000 sessions in 50 folders, in that beside 10", "FirstPaint", "ratio",
		atMost, 1.2},
	{23, "a literal in 10,000 files of 100 MB, in ripgrep's time", "Folder/literal/", "ratio", atMost,
		1.5},
	{23, "an expression in 10,000 files of 100 MB, in ripgrep's time", "Folder/expression/", "ratio",
		atMost, 5},
	{23, "what is found in 10,000 files: first hits, ms", "Folder/", "first-ms", atMost, 100},
	{23, "a window of 500 lines of 11 MB under the veil, ms", "Veiled/window/veiled=true", "ms",
		atMost, 1},
	{23, "an expression in 11 MB under the veil, ms", "Veiled/find/veiled=true", "ms", atMost, 30},
	{24, "a file of 10 MB on the Desk that changes ten times a second: the server, in cores",
		"LiveFile/", "server-cores", atMost, 0.1},
	{21, "files of 500,000 that fit what is typed in the bar, ms", "Complete500k/ours/", "ms/answer",
		atMost, 50},
	{26, "a command confined, beside one that is not: more, ms (median, at load below 1)", "Confined",
		"more-ms", atMost, 4},
	{26, "a command confined, in the time of one that is not", "Confined", "ratio", atMost, 2},
	{26, "opening a running tree, ms", "OpenConfined", "open-ms", atMost, 1},
	{26, "a snapshot of 1,500 files that did not change, ms", "Snapshot", "ms/snapshot", atMost, 20},
	{27, "going back over 1,500 files, of which 30 changed, ms", "GoBack", "ms/back", atMost, 300},
	{28, "a call of an MCP server's tool, beside the same by the SDK's client: more, ms",
		"GatewayCall",
		"more-ms", atMost, 2},
	{28, "the page of an MCP server: from its result in the page to its paint, ms", "FramePaints",
		"arrived-ms", atMost, 300},
	{28, "the page of an MCP server: from the choice of its view to its paint, ms", "FramePaints",
		"chosen-ms", atMost, 300},
	{26, "go vet confined with a warm cache, in its time outside", "ConfinedVet", "ratio", atMost,
		1.1},
	{25, "a session through another replica, in that through a bare proxy", "Forward/JSON", "ratio",
		atMost, 1.5},
	{25, "an output of 100 KiB through another replica, in the speed through a bare proxy",
		"Forward/100KiB", "of-proxy", atLeast, 0.8},
	{25, "an output of 100 KiB through another replica, in the speed at its owner", "Forward/100KiB",
		"of-owner", atLeast, 0.7},
	{25, "an output of 10 MiB through another replica, in the speed at its owner", "Forward/10MiB",
		"of-owner", atLeast, 0.9},
	{25, "an output of 10 MiB through another replica, in the speed through a bare proxy",
		"Forward/10MiB", "of-proxy", atLeast, 0.9},
	{25, "an event to 50 readers through another replica, in that at its owner", "ForwardedEvents",
		"ratio", atMost, 2},
	{26, "a middle word in 1,000,000 events on PostgreSQL, in a bare tsquery", "PostgresSearch/middle",
		"ratio", atMost, 2},
	{26, "from start to first page with PostgreSQL, in that with SQLite", "EngineStart", "ratio",
		atMost, 1.5},
	{26, "an append on PostgreSQL: median, in that of a bare statement", "PostgresAppend/one",
		"p50-ratio", atMost, 1.5},
	{26, "an append on PostgreSQL: 99 %, in that of a bare statement", "PostgresAppend/one",
		"p99-ratio", atMost, 2},
	{26, "appends of 64 sessions at once on PostgreSQL, in the speed of bare statements",
		"PostgresAppend/64", "ratio", atLeast, 0.7},
}

// figures are what benchmarks reported: by benchmark and unit, one for each run.
type figures map[[2]string][]float64

// run reads in to its end and reports whether no benchmark failed.
func run(in io.Reader, out io.Writer) bool {
	seen, ok := figures{}, true
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
		seen.take(lines.Text())
		for _, bad := range []string{"FAIL", "--- FAIL", "panic:"} {
			ok = ok && !strings.HasPrefix(lines.Text(), bad)
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(out, "The benchmarks' output could not be read to its end:", err)
		ok = false
	}
	seen.table(out)
	return ok
}

// take reads a result: a name, the number of rounds, then pairs of value and unit.
func (f figures) take(line string) {
	words := strings.Fields(line)
	if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
		return
	}
	name := strings.TrimPrefix(words[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	for i := 2; i+1 < len(words); i += 2 {
		if v, err := strconv.ParseFloat(words[i], 64); err == nil {
			key := [2]string{name, words[i+1]}
			f[key] = append(f[key], v)
		}
	}
}

// of returns the figure that is asked for: the median of the runs, and where
// several benchmarks are asked the worst of them.
func (f figures) of(d demand) (worst float64, measured bool) {
	for key, values := range f {
		part := strings.HasSuffix(d.bench, "/") && strings.HasPrefix(key[0], d.bench)
		if key[1] != d.metric || key[0] != d.bench && !part {
			continue
		}
		slices.Sort(values)
		v := values[len(values)/2]
		if !measured || d.least && v < worst || !d.least && v > worst {
			worst, measured = v, true
		}
	}
	return worst, measured
}

func (f figures) table(out io.Writer) {
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\twhat\tfigure\tasked\tholds")
	for _, d := range demands {
		sign, figure, holds := "≤", "-", "not measured"
		if d.least {
			sign = "≥"
		}
		if v, ok := f.of(d); ok {
			figure, holds = number(v), "no"
			if d.least && v >= d.limit || !d.least && v <= d.limit {
				holds = "yes"
			}
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s %s\t%s\n", d.row, d.what, figure, sign, number(d.limit), holds)
	}
	_ = t.Flush() // out is standard output
}

// number writes a figure with three digits that count.
func number(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
