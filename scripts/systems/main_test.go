package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What does not compile, and what go vet finds, is reported for the system that has it, in tests
// too.
func TestReportsBySystem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example.com/relay\n\ngo 1.26\n",
		"a.go":            "package relay\n\nvar queue int\n",
		"a_windows.go":    "package relay\n\nvar wide string = queue\n",
		"a_darwin.go":     "package relay\n\nfunc same() { queue = queue }\n",
		"a_linux_test.go": "package relay\n\nfunc text() string { return string(queue) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{
		"windows/amd64": "a_windows.go:3:19: cannot use queue",
		"darwin/arm64":  "a_darwin.go:3:15: self-assignment of queue",
		"linux/arm64":   "a_linux_test.go:3:29: conversion from int to string",
		"freebsd/amd64": "",
		"windows":       "a system is named like linux/arm64",
	} {
		var out strings.Builder
		good := look(&out, dir, system)
		if lines := strings.Count(out.String(), "\n"); good != (want == "") || lines > 1 ||
			!strings.Contains(out.String(), want) {
			t.Errorf("%s is good: %v, and it says %q, not %q", system, good, out.String(), want)
		}
	}
}
