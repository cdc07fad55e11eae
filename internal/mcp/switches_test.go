package mcp_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/document"
	"webchat/internal/event"
	webmcp "webchat/internal/mcp"
)

// The user switches tools and servers off, for a session or a workspace: agents are not offered
// them, and calls are refused. Prices of what is on are said where they are high.
func TestSwitches(t *testing.T) {
	var down atomic.Bool
	tool := func(name string, words int) string {
		return `{"name":"` + name + `","description":"` + strings.Repeat("word ", words) + `","inputSchema":{"type":"object"}}`
	}
	web := listing(t, func() string {
		if down.Load() {
			return "no JSON"
		}
		return tool("find", 10) + "," + tool("a", 900) + "," + tool("b", 800) + "," + tool("c", 700)
	})
	dir := t.TempDir()
	c := webmcp.UserServersConfig{Servers: map[string]agent.MCPServer{"docs": {Type: "http", URL: web.URL}}, Documents: document.Folder(t.TempDir())}
	s := webmcp.NewUserServers(c)
	here, there := webmcp.In{Workspace: dir, Session: "s1"}, webmcp.In{Workspace: dir}
	status := func(in webmcp.In) (off []string, dear string) {
		t.Helper()
		all, err := s.Status(t.Context(), in)
		if err != nil || len(all) != 1 || len(all[0].Tools) != 4 || all[0].Tools[1].Tokens < 900 || all[0].Tools[1].Tokens > 930 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, x := range all[0].Tools {
			off = append(off, x.Name+":"+string(x.Off))
		}
		return off, webmcp.Dear(all)
	}
	if off, dear := status(here); !slices.Equal(off, []string{"find:", "a:", "b:", "c:"}) || dear != "Their tools add 2,446 tokens to each call of a model. The dearest: docs-a 909, docs-b 809, docs-c 709." {
		t.Errorf("%q: %s", off, dear)
	}
	set := func(in webmcp.In, tool string, off bool) {
		t.Helper()
		if err := s.Switch(webmcp.Switch{In: in, Server: "docs", Tool: tool, Off: off}); err != nil {
			t.Fatal(err)
		}
	}
	_, tools := lend(t, s, dir, nil)
	set(here, "a", true)
	if off, dear := status(here); off[1] != "a:session" || dear != "" {
		t.Errorf("%q, %s", off, dear)
	}
	if off, _ := status(there); off[1] != "a:" {
		t.Errorf("in the workspace: %q", off)
	}
	if tools["docs-a"].Spec().Needed() || !tools["docs-b"].Spec().Needed() {
		t.Error("agents are offered what is off, or not what is on")
	}
	if _, res := run(t, tools["docs-a"], `{}`); res.Kind != event.KindDenied || res.TextForModel != "docs-a was not called: the user switched it off for the session." {
		t.Errorf("%+v", res)
	}
	set(there, "", true)
	down.Store(true) // another process knows them all the same
	s = webmcp.NewUserServers(c)
	if _, tools := lend(t, s, dir, nil); len(tools) != 4 || tools["docs-b"].Spec().Needed() || tools["docs-b"].Spec().Server != "docs" {
		t.Errorf("after a restart: %v", tools)
	}
	set(there, "", false)
	set(here, "a", false)
	_, tools = lend(t, s, dir, nil)
	for name, one := range tools {
		if !one.Spec().Needed() {
			t.Errorf("%s is off", name)
		}
	}
	if _, tools := lend(t, s, t.TempDir(), nil); len(tools) != 4 {
		t.Errorf("what is reached by an address is known in each workspace, but %v", tools)
	}
	if err := s.Switch(webmcp.Switch{In: here, Server: "other"}); err == nil {
		t.Error("a server that is not there is switched")
	}
}
