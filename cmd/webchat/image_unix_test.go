//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// imageLine returns what stands in the Dockerfile after an instruction.
func imageLine(t *testing.T, pattern string) string {
	t.Helper()
	b, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^`+pattern+`$`).FindAllStringSubmatch(string(b), -1)
	if len(m) != 1 {
		t.Fatalf("the Dockerfile has %d lines %s", len(m), pattern)
	}
	return m[0][1]
}

// THREATS 70: the image's own look at its health works, behind a public URL as
// well, and reports when there is none; and the image runs as an ordinary user.
// (scripts/image.sh runs the image itself.)
func TestHealthCheckOfTheImage(t *testing.T) {
	check := imageLine(t, `HEALTHCHECK .*CMD (.*)`)
	if user := imageLine(t, `USER (.*)`); !regexp.MustCompile(`^[1-9]\d+:[1-9]\d+$`).MatchString(
		user) {
		t.Errorf("the image runs as %s", user)
	}
	tool, _, _ := strings.Cut(check, " ")
	if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
		t.Skipf("no %s here: apt-get install %s to try the health check", tool, tool)
	}
	healthy := func(p *program) error {
		_, port, err := net.SplitHostPort(p.address)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.ReplaceAll(check, ":8080/", ":"+port+"/")
		if line == check {
			t.Fatalf("it asks for another port than the one it listens on: %s", check)
		}
		out, err := exec.Command("sh", "-c", line).CombinedOutput()
		if err != nil {
			t.Logf("%s: %v %s", line, err, out)
		}
		return err
	}
	for _, flags := range [][]string{nil, {"--public-url", "https://chat.example"}} {
		p := startProgram(t, flags...)
		if err := healthy(p); err != nil {
			t.Errorf("%v: %v", flags, err)
		}
		p.stop(t)
		if healthy(p) == nil {
			t.Error("a server that is gone is healthy")
		}
	}
}
