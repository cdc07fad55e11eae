package main

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReport(t *testing.T) {
	event := func(fields string) string { return "{" + fields + "}\n" }
	test := func(action, pkg, name string) string {
		return event(`"Action":"` + action + `","Package":"webchat/internal/` + pkg + `","Test":"` +
			name + `"`)
	}
	said := func(pkg, name, text string) string {
		return event(`"Action":"output","Package":"webchat/internal/` + pkg + `","Test":"` + name +
			`","Output":"` + text + `\n"`)
	}
	good := test("run", "sse", "TestA") + said("sse", "TestA", "=== RUN   TestA") +
		said("sse", "TestA", "a secret of the good") +
		test("pass", "sse", "TestA/inner") + test("pass", "sse", "TestA") + test("skip", "sse", "TestB") +
		event(`"Action":"pass","Package":"webchat/internal/sse","Elapsed":1.25`)
	bad := said("page", "TestC", "=== RUN   TestC") +
		said("page", "TestC", "    page_test.go:1: <b> is missing") +
		said("page", "TestC/x", "    inner words") + test("fail", "page", "TestC/x") +
		test("fail", "page", "TestC") +
		test("fail", "page", "TestD") + event(`"Action":"fail","Package":"webchat/internal/page"`)
	crash := said("proc", "TestE", "panic: it is broken") +
		event(`"Action":"fail","Package":"webchat/internal/proc"`)
	leak := said("hooks", "", "goleak: found unexpected goroutines") +
		event(`"Action":"fail","Package":"webchat/internal/hooks"`)
	broken := event(
		`"ImportPath":"webchat/cmd/x","Action":"build-output","Output":"x.go:1: undefined\n"`) +
		event(`"ImportPath":"webchat/cmd/x","Action":"build-fail"`) +
		event(`"Action":"fail","Package":"webchat/cmd/x","FailedBuild":"webchat/cmd/x"`)
	for name, c := range map[string]struct {
		in, last string
		ok       bool
		has      []string
	}{
		"all pass": {good, "passed: 1 tests passed in 1 packages, 1 skipped, 0s", true,
			[]string{"ok      internal/sse", "1.2s"}},
		"tests fail": {good + bad,
			"FAILED: internal/page TestC, TestD (1 tests passed in 2 packages, 1 skipped, 0s)", false,
			[]string{"page_test.go:1: <b> is missing", "inner words"}},
		"a test crashes": {crash,
			"FAILED: internal/proc (ended badly in TestE) (0 tests passed in 1 packages, 0s)", false,
			[]string{"panic: it is broken"}},
		"something leaks": {leak,
			"FAILED: internal/hooks (ended badly) (0 tests passed in 1 packages, 0s)", false,
			[]string{"goleak: found"}},
		"no compiling": {good + broken,
			"FAILED: cmd/x (does not compile) (1 tests passed in 2 packages, 1 skipped, 0s)", false,
			[]string{"x.go:1: undefined"}},
		"cut off": {good + test("run", "proc", "TestE"),
			"FAILED: internal/proc (did not end) (1 tests passed in 1 packages, 1 skipped, 0s)", false, nil},
		"nothing ran": {"go: no such tool\n", "FAILED: no test ran; see above", false,
			[]string{"go: no such tool"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				if ok := report(strings.NewReader(c.in), &out); ok != c.ok {
					t.Errorf("passed: %t", ok)
				}
				lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
				if last := lines[len(lines)-1]; last != c.last {
					t.Errorf("the last line is\n%s\nwant\n%s", last, c.last)
				}
				for _, want := range c.has {
					if !strings.Contains(out.String(), want) {
						t.Errorf("no %q in\n%s", want, out.String())
					}
				}
				if strings.Contains(out.String(), "===") || strings.Contains(out.String(), "secret") {
					t.Errorf("too much is told:\n%s", out.String())
				}
			})
		})
	}
}

// The report names what is waited for.
func TestReportBreaksTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, feed := io.Pipe()
		var out strings.Builder
		done := make(chan bool)
		go func() { done <- report(in, &out) }()
		_, _ = io.WriteString(feed, `{"Action":"start","Package":"webchat/internal/sse"}`+"\n")
		time.Sleep(silence + silence/2) // in the bubble's time
		_, _ = io.WriteString(feed, `{"Action":"pass","Package":"webchat/internal/sse","Test":"TestA"}`+
			"\n"+`{"Action":"pass","Package":"webchat/internal/sse"}`+"\n")
		feed.Close()
		if !<-done || !strings.HasPrefix(out.String(), "running internal/sse for 20s\nok ") {
			t.Errorf("%s", out.String())
		}
	})
}
