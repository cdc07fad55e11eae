//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where the list of vulnerabilities cannot be asked, that is said loudly, and a release fails.
func TestVulnerabilitiesThatCannotBeLookedFor(t *testing.T) {
	const reached, away = "exit 0", "echo no route >&2; exit 6"
	for name, c := range map[string]struct {
		curl, govulncheck string
		check, release    bool // it passes
		says              string
	}{
		"nothing known": {reached, "exit 0", true, true, "nothing is known"},
		"known": {reached, "echo 'Vulnerability #1: x'; exit 3", false, false,
			"Vulnerability #1"},
		"no list":    {away, "exit 0", true, false, "NOT LOOKED FOR"},
		"no program": {reached, "echo no such module; exit 1", true, false, "no such module"},
	} {
		dir := t.TempDir()
		for name, script := range map[string]string{"curl": c.curl, "go": c.govulncheck} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"),
				0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"vuln.sh"}, {"vuln.sh", "release"}} {
			cmd := exec.Command("sh", args...)
			cmd.Dir = ".."
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			want := c.check
			if len(args) > 1 {
				want = c.release
			}
			if (err == nil) != want || !strings.Contains(string(out), c.says) {
				t.Errorf("%s, %v: %v, %s", name, args, err, out)
			}
		}
	}
}
