package server

import (
	"net/http"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// Which replica answers each route: a new one needs a place here.
func TestEveryRouteHasADestination(t *testing.T) {
	want := map[string]destination{}
	for to, list := range map[destination]string{
		here: `GET /healthz, GET /readyz, GET /metrics, GET /api/openapi.json, GET /api/sign-in, POST /api/sign-in, POST /api/sign-out,
			GET /api/stream, GET /api/backends, GET /api/system, GET /api/models, POST /api/mcp/{server}/allow, GET /api/hooks, GET /api/files,
			GET /api/files/price, POST /api/price, POST /api/colours, GET /api/looks, GET /api/start, GET /api/folders, GET /api/workspaces, POST /api/workspaces,
			DELETE /api/workspaces/{id}, GET /api/sessions, POST /api/sessions, GET /, GET /auth, GET /sessions, GET /diagram, GET /sandbox, GET /auth/user`,
		ofSession: `GET /api/permissions, DELETE /api/permissions/{grantId}, GET /api/search, GET /consent,
			GET /api/sessions/{id}, PATCH /api/sessions/{id}, DELETE /api/sessions/{id}, GET /api/sessions/{id}/choices,
			POST /api/sessions/{id}/restore, POST /api/sessions/{id}/messages, PATCH /api/sessions/{id}/messages/{messageId},
			DELETE /api/sessions/{id}/messages/{messageId}, POST /api/sessions/{id}/rewind, POST /api/sessions/{id}/rewind/undo, POST /api/sessions/{id}/compact,
			GET /api/mcp, GET /api/mcp/prompts, POST /api/mcp/{server}/prompt, GET /api/mcp/resources, POST /api/mcp/{server}/resource, POST /api/mcp/{server}/complete,
			POST /api/mcp/{server}/switch,
			GET /api/sessions/{id}/worktree, POST /api/sessions/{id}/worktree/bring, POST /api/sessions/{id}/worktree/undo,
			DELETE /api/sessions/{id}/worktree, POST /api/sessions/{id}/worktree/restore,
			POST /api/sessions/{id}/clear, POST /api/sessions/{id}/inside, POST /api/sessions/{id}/branch, POST /api/sessions/{id}/display,
			POST /api/sessions/{id}/outputs/{outputId}/keep, POST /api/sessions/{id}/outputs/{outputId}/reread,
			POST /api/sessions/{id}/turns/{turnId}/undo, POST /api/sessions/{id}/turns/{turnId}/redo,
			POST /api/sessions/{id}/outputs/{outputId}/app/hosts,
			POST /api/sessions/{id}/outputs/{outputId}/app/call, POST /api/sessions/{id}/outputs/{outputId}/undo, POST /api/sessions/{id}/outputs/{outputId}/open,
			POST /api/sessions/{id}/outputs/{outputId}/pin, DELETE /api/sessions/{id}/outputs/{outputId}, POST /api/sessions/{id}/abort,
			GET /api/sessions/{id}/tasks, POST /api/sessions/{id}/tasks/{taskId}/abort, POST /api/sessions/{id}/tools/{toolCallId}/abort,
			GET /api/sessions/{id}/events, POST /api/sessions/{id}/permissions/{requestId},
			POST /api/sessions/{id}/permissions/{requestId}/again,
			POST /api/sessions/{id}/refused/{toolCallId}/outside, POST /api/sessions/{id}/answers/{requestId},
			POST /api/sessions/{id}/opened, DELETE /api/sessions/{id}/opened/{openedId},
			POST /api/sessions/{id}/attachments, GET /api/sessions/{id}/export, GET /api/sessions/{id}/places, GET /api/sessions/{id}/changes,
			GET /api/sessions/{id}/outputs, GET /sessions/{id}, GET /sessions/{id}/replay, GET /sessions/{id}/stream,
			GET /api/sessions/{id}/tools/{toolCallId}, GET /sessions/{id}/desk/{output}, GET /sessions/{id}/review, GET /sessions/{id}/sandbox`,
		ofOutput: `GET /api/outputs/{id}, GET /api/outputs/{id}/page, GET /api/outputs/{id}/pictures/{picture}, GET /api/outputs/{id}/app, GET /api/outputs/{id}/app/data,
			GET /api/outputs/{id}/media, GET /api/outputs/{id}/follow,
			GET /api/outputs/{id}/json, GET /api/outputs/{id}/lines, GET /api/outputs/{id}/html, GET /api/outputs/{id}/views/{view},
			GET /api/outputs/{id}/grep, GET /api/outputs/{id}/matches, GET /api/outputs/{id}/count, GET /api/outputs/{id}/density,
			GET /api/outputs/{id}/price`,
		ofKey:     `GET /mcp, POST /mcp, DELETE /mcp, GET /mcp/w/{workspaceId}, POST /mcp/w/{workspaceId}, DELETE /mcp/w/{workspaceId}`,
		ofVersion: `GET /static/*`,
	} {
		for row := range strings.SplitSeq(list, ",") {
			want[strings.TrimSpace(row)] = to
		}
	}
	people, err := guard.New(guard.Config{Dir: t.TempDir(), Users: struct{ guard.Users }{}})
	if err != nil {
		t.Fatal(err)
	}
	routes := wire(Config{
		Guard:   people,
		Pages:   &Pages{},
		Metrics: http.NotFoundHandler(),
		MCP:     http.NotFoundHandler(),
	}, nil).routes()
	for _, r := range routes {
		row := r.method + " " + r.pattern
		if to, placed := want[row]; !placed {
			t.Errorf("%s: say here which replica answers it", row)
		} else if got := destinationOf(r); got != to {
			t.Errorf("%s goes to %q, want %q", row, got, to)
		}
		delete(want, row)
	}
	for row := range want {
		t.Errorf("%s is not a route", row)
	}
}
