package main

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func parseOptions(args, env []string) (*options, error) {
	_, o, err := parse(args, env)
	return o, err
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]size{"256MiB": 256 << 20, "1GiB": 1 << 30, "64k": 64 << 10,
		"10 MB": 10e6, "1000000": 1e6, "5b": 5} {
		var s size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1MiB", "0", "1.5GiB", "99999999999GiB", "1TiB"} {
		var s size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, s)
		}
	}
	if got := size(256 << 20).String(); got != "256MiB" {
		t.Errorf("256 MiB is written %s", got)
	}
}

func TestOptionErrorsAreUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  []string
		says string
	}{
		{[]string{"--unknown"}, nil, "unknown"},
		{[]string{"url", "extra"}, nil, `extra`},
		{[]string{"--permissions", "maybe"}, nil, `must be one of "ask","allow","deny"`},
		{[]string{"--instructions", "maybe"}, nil, `must be one of "on","off"`},
		{[]string{"--output-ttl", "-1s"}, nil, "output-ttl"},
		{[]string{"--output-budget", "much"}, nil, "256MiB"},
		{[]string{"--budget", "0.5"}, nil, "500k"},
		{[]string{"--listen", "8080"}, nil, "host:port"},
		{[]string{"--listen", "localhost:http"}, nil, "port"},
		{[]string{"--listen", "localhost:70000"}, nil, "port"},
		{[]string{"--listen", "0.0.0.0:0", "--insecure-no-auth"}, nil, "everybody"},
		{[]string{"--listen", ":0", "--insecure-no-auth"}, nil, "everybody"},
		{[]string{"--listen", "[::]:0", "--insecure-no-auth"}, nil, "everybody"},
		{[]string{"--insecure-no-auth"}, []string{"WEBCHAT_CONTAINER=1"}, "container"},
		{[]string{"--insecure-no-auth", "--public-url", "https://x.example"}, nil, "public-url"},
		{[]string{"--shared-dir", "."}, nil,
			"--shared-dir makes this webchat one of several on a database, which needs more flags: " +
				"--engine-file, the database"},
		{[]string{"--peer-url", "http://10.0.0.5:8080"}, nil,
			"--peer-url makes this webchat one of several on a database, which needs more flags: " +
				"--engine-file, the database"},
		{[]string{"--engine-file", "f", "--token-file", "t", "--shared-dir", ".", "--peer-url",
			"http://10.0.0.5:8080"}, nil, "needs more flags: --public-url, the one address of all"},
		{[]string{"--engine-file", "f", "--public-url", "https://x.example", "--shared-dir", ".",
			"--peer-url", "http://10.0.0.5:8080"}, nil, "needs more flags: --token-file, the API token"},
		{[]string{"--engine-file", "f", "--public-url", "https://x.example", "--token-file", "t",
			"--peer-url",
			"http://10.0.0.5:8080"}, nil, "needs more flags: --shared-dir, the folder for outputs"},
		{[]string{"--engine-file", "f", "--public-url", "https://x.example", "--token-file", "t",
			"--shared-dir", "."}, nil, "needs more flags: --peer-url, where the others reach"},
		{[]string{"--peer-url", "10.0.0.5:8080", "--engine-file", "f", "--public-url",
			"https://x.example", "--token-file", "t", "--shared-dir",
			"."}, nil, "where the other webchats reach this one"},
		{[]string{"--peer-url", "http://10.0.0.5:8080/x", "--engine-file", "f", "--public-url",
			"https://x.example", "--token-file", "t", "--shared-dir",
			"."}, nil, "where the other webchats reach this one"},
		{[]string{"--peer-url", "http://10.0.0.5:8080", "--engine-file", "f", "--public-url",
			"https://x.example", "--token-file", "t", "--shared-dir",
			"none"}, nil, "none: there is no such folder; mount"},
		{nil, []string{"WEBCHAT_OUTPUT_TTL=soon"}, "WEBCHAT_OUTPUT_TTL"},
		{nil, []string{"WEBCHAT_INSECURE_NO_AUTH=perhaps"}, "WEBCHAT_INSECURE_NO_AUTH"},
	} {
		_, err := parseOptions(c.args, c.env)
		if _, ok := errors.AsType[*usageError](err); !ok || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %v: %v, want %q", c.args, c.env, err, c.says)
		}
	}
}

func TestFlagsComeBeforeTheEnvironment(t *testing.T) {
	o, err := parseOptions([]string{"--output-ttl", "1h"},
		[]string{"WEBCHAT_OUTPUT_TTL=2h", "WEBCHAT_LISTEN=localhost:9", "WEBCHAT_LISTEN=localhost:10",
			"WEBCHAT_MODEL="})
	if err != nil {
		t.Fatal(err)
	}
	if o.OutputTTL != time.Hour || o.Listen != "localhost:10" || !o.listenGiven ||
		o.Permissions != "ask" || o.Model != "" {
		t.Errorf("%+v", o)
	}
	if o, _ = parseOptions(nil, nil); o.listenGiven || o.OutputBudget != 256<<20 ||
		o.CommandTimeout != 10*time.Minute {
		t.Errorf("%+v", o)
	}
	if _, err := parseOptions([]string{"--insecure-no-auth", "--listen", "[::1]:0"},
		nil); (err != nil) != boxed() {
		t.Errorf("in a container: %v; %v", boxed(), err)
	}
}

func TestVersionSaysCommitAndDate(t *testing.T) {
	built := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-11-22T03:58:40Z"}, {Key: "vcs.modified", Value: "true"}}}
	if got := described(
		built); got != "devel-0123456789ab commit 0123456789abcdef with changes of 2026-11-22T03:58:40Z" {
		t.Error(got)
	}
	if got := described(&debug.BuildInfo{}); got != "devel" {
		t.Errorf("of a build that knew nothing: %s", got)
	}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	for _, line := range []string{"sessions prune --older-than 90d --model x",
		"--older-than 90d --model x sessions prune", "--model=x sessions --older-than=90d prune"} {
		name, o, err := parse(strings.Fields(line), nil)
		if err != nil || name != "sessions prune" || o.OlderThan != age(90*24*time.Hour) ||
			o.Model != "x" {
			t.Errorf("%s: %s, %+v, %v", line, name, o, err)
		}
	}
}
