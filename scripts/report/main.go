// Command report prints what `go test -json` reports for people: a line
// for each package when it is done, the output of tests that failed, what runs when
// nothing was reported for a while, and as its last line either that all passed or which
// tests failed. It ends with status 1 unless all passed.
//
//	go test -json ./... | go run ./scripts/report
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// silence is how long no line comes before the report names what runs.
const silence = 20 * time.Second

func main() {
	if !report(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// line is one event of `go doc test2json` and of `go help buildjson`.
type line struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
	Elapsed                                                float64 // seconds
}

// result is what is known of one package.
type result struct {
	began  time.Time
	passed int                 // tests, without those inside of others
	failed []string            // tests, likewise
	output map[string][]string // of tests that may fail still; "" is the package itself
}

type reporter struct {
	out io.Writer

	mu       sync.Mutex // guards what follows, and writing
	running  map[string]*result
	lastAt   time.Time // when the last line was written
	packages int
	passed   int
	skipped  int
	failures []string // a text for each package that failed
}

// report reads in to its end and returns whether all passed.
func report(in io.Reader, out io.Writer) bool {
	began := time.Now()
	r := &reporter{out: out, running: map[string]*result{}, lastAt: began}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(silence / 4); ; {
			select {
			case <-tick.C:
				r.breakSilence()
			case <-stop:
				tick.Stop()
				return
			}
		}
	}()
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			r.take(text)
		}
		if err != nil {
			break
		}
	}
	close(stop)
	<-stopped
	return r.end(time.Since(began))
}

// take reads one line. What is not an event comes from the go command and is
// passed on.
func (r *reporter) take(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var l line
	if json.Unmarshal(text, &l) != nil || l.Action == "" {
		r.print("%s", text)
		return
	}
	if l.Action == "build-output" {
		r.print("%s", l.Output)
	}
	if l.Package == "" {
		return
	}
	p := r.running[l.Package]
	if p == nil {
		p = &result{began: time.Now(), output: map[string][]string{}}
		r.running[l.Package] = p
	}
	switch l.Action {
	case "output":
		p.output[l.Test] = append(p.output[l.Test], l.Output)
	case "pass", "skip", "fail":
		if l.Test == "" {
			r.finish(p, l)
			return
		}
		r.finishTest(p, l)
	}
}

func (r *reporter) finishTest(p *result, l line) {
	output := p.output[l.Test]
	delete(p.output, l.Test)
	inner := strings.Contains(l.Test, "/")
	switch {
	case l.Action == "fail":
		r.print("%s", telling(output))
		if !inner {
			p.failed = append(p.failed, l.Test)
		}
	case inner:
	case l.Action == "skip":
		r.skipped++
	default:
		p.passed++
	}
}

func (r *reporter) finish(p *result, l line) {
	delete(r.running, l.Package)
	name := short(l.Package)
	r.packages++
	r.passed += p.passed
	took := fmt.Sprintf("%.1fs", l.Elapsed)
	if strings.Contains(strings.Join(p.output[""], ""), "(cached)") {
		took = "cached"
	}
	switch {
	case l.Action == "fail":
		r.fail(p, l, name)
	case p.passed > 0:
		r.print("ok      %-28s %3d tests  %s\n", name, p.passed, took)
	}
}

func (r *reporter) fail(p *result, l line, name string) {
	what := strings.Join(p.failed, ", ")
	switch {
	case l.FailedBuild != "":
		what = "(does not compile)"
	case len(p.failed) == 0:
		// A crash, a time-out or a goroutine left behind: the output of the package
		// and of the tests that had not ended says which.
		what = "(ended badly)"
		open := slices.DeleteFunc(slices.Sorted(maps.Keys(p.output)), func(test string) bool {
			return test == ""
		})
		if len(open) > 0 {
			what = "(ended badly in " + strings.Join(open, ", ") + ")"
		}
	}
	for _, test := range slices.Sorted(maps.Keys(p.output)) {
		r.print("%s", telling(p.output[test]))
	}
	r.print("FAILED  %-28s %s\n", name, what)
	r.failures = append(r.failures, name+" "+what)
}

// telling leaves out what says only that a test began, waited or went on.
func telling(output []string) string {
	return strings.Join(slices.DeleteFunc(output, func(s string) bool {
		return strings.HasPrefix(s, "=== ")
	}), "")
}

func (r *reporter) breakSilence() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.lastAt) < silence {
		return
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.running)) {
		parts = append(parts, fmt.Sprintf("%s for %.0fs", short(name),
			time.Since(r.running[name].began).Seconds()))
	}
	if len(parts) == 0 {
		r.print("compiling tests\n")
		return
	}
	r.print("running %s\n", strings.Join(parts, ", "))
}

// end writes the last line.
func (r *reporter) end(took time.Duration) bool {
	for _, name := range slices.Sorted(maps.Keys(r.running)) {
		r.failures = append(r.failures, short(name)+" (did not end)")
	}
	counts := fmt.Sprintf("%d tests passed in %d packages", r.passed, r.packages)
	if r.skipped > 0 {
		counts += fmt.Sprintf(", %d skipped", r.skipped)
	}
	counts += fmt.Sprintf(", %v", took.Round(time.Second))
	switch {
	case len(r.failures) > 0:
		r.print("FAILED: %s (%s)\n", strings.Join(r.failures, "; "), counts)
		return false
	case r.passed == 0:
		r.print("FAILED: no test ran; see above\n")
		return false
	}
	r.print("passed: %s\n", counts)
	return true
}

func (r *reporter) print(format string, args ...any) {
	r.lastAt = time.Now()
	fmt.Fprintf(r.out, format, args...)
}

func short(name string) string { return strings.TrimPrefix(name, "webchat/") }
