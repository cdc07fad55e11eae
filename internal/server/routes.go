package server

import (
	"net/http"

	"webchat/internal/agent"
	"webchat/internal/files"
	"webchat/internal/guard"
)

// route is one row of the table: what is answered, to whom, by what; and what the
// published description says of it.
type route struct {
	method  string
	pattern string
	class   guard.Class
	serve   handler

	status  int
	in, out any    // values of the bodies' types; nil: none
	query   string // names
	about   string
}

const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete

// routes is all of webchat.
func (s *Server) routes() []route {
	const one = "/api/sessions/{id}"
	return append(append(s.optional(), s.pageRoutes()...), []route{
		{get, "/healthz", guard.Public, s.healthz, 200, nil, textBody("ok"), "", "Whether the server lives"},
		{get, "/api/openapi.json", guard.Read, s.openapi, 200, nil, anyJSON{}, "", "This description"},
		{get, "/api/sign-in", guard.Read, s.challenge, 200, nil, challengeReply{}, "", "What a browser signs to prove itself after a restart"},
		{post, "/api/sign-in", guard.Public, s.signIn, 200, signInRequest{}, signInReply{}, "", "Spend a sign-in link (token, and a public P-256 key): a cookie that reads, a secret that writes. With a signature of \"webchat sign-in \" and the challenge: another secret"},
		{post, "/api/sign-out", guard.Write, s.signOut, 200, nil, empty{}, "", "Revoke this browser's sign-in"},
		{get, "/api/stream", guard.Read, s.changes, 200, nil, streamBody("session.changed of every session, as it happens; session.error when the log cannot be written, and when it can again"), "", "What changes in the list of sessions"},

		{get, "/api/backends", guard.Read, s.backends, 200, nil, []backendShape{}, "", "Kinds of agents"},
		{get, "/api/models", guard.Read, s.models, 200, nil, []agent.Model{}, "backend", "Models of a backend"},
		{get, "/api/conversations", guard.Read, s.conversations, 200, nil, conversationList{}, "backend workspace", "What was said to an agent in a workspace elsewhere, such as in a terminal, as far as it tells: a session may go on with it. The agent is started for that"},
		{get, "/api/permissions", guard.Read, s.permissions, 200, nil, permissionList{}, "session", "What agents may do: the mode, the rules, and what was allowed for a session and for workspaces"},
		{del, "/api/permissions/{grantId}", guard.Write, s.takeBack, 204, nil, nil, "session", "Take back what was allowed, at once"},
		{get, "/api/mcp", guard.Read, s.mcpServers, 200, nil, mcpServerList{}, "", "The MCP servers that you set up for agents, and what was found of each"},
		{post, "/api/mcp/{server}/allow", guard.Write, s.allowMCP, 204, nil, nil, "", "Allow an MCP server whose tools changed, as they are now"},
		{get, "/api/hooks", guard.Read, s.hooks, 200, nil, hookList{}, "", "The user's hooks"},
		{get, "/api/files", guard.Read, s.completeFiles, 200, nil, fileList{}, "workspace q limit", "Files of a workspace, for completing a path"},
		{get, "/api/files/price", guard.Read, s.filePrices, 200, nil, filePrices{}, "workspace name", "What files of a workspace, some of their lines (main.go:10-40) and listings of folders cost a model that is given them with a prompt; name may be given 100 times"},
		{get, "/api/start", guard.Read, s.start, 200, nil, startShape{}, "workspace", "What a new session in a workspace may begin with: changed files, what was looked at lately, commands"},

		{get, "/api/folders", guard.Read, s.completeFolders, 200, nil, folderList{}, "q limit", "Folders that could be opened: closed ones first, then those below the home folder that begin like q"},
		{get, "/api/workspaces", guard.Read, s.listWorkspaces, 200, nil, []workspaceShape{}, "", "The open workspaces, the one opened last first"},
		{post, "/api/workspaces", guard.Write, s.openWorkspace, 201, openRequest{}, workspaceShape{}, "", "Open a folder by its absolute path; 200 if it was open"},
		{del, "/api/workspaces/{id}", guard.Write, s.closeWorkspace, 204, nil, nil, "", "Hide a workspace with its sessions; opened again, they are back"},

		{get, "/api/sessions", guard.Read, s.listSessions, 200, nil, sessionList{}, "q workspace state limit cursor", "Sessions, by activity; q searches"},
		{post, "/api/sessions", guard.Write, s.createSession, 201, createRequest{}, sessionShape{}, "", "Begin a session"},
		{get, one, guard.Read, s.showSession, 200, nil, sessionShape{}, "", "A session"},
		{patch, one, guard.Write, s.updateSession, 200, patchRequest{}, sessionShape{}, "", "Rename, pin, change the model, the mode, or how hard the model thinks"},
		{get, one + "/choices", guard.Read, s.choices, 200, nil, agent.Choices{}, "", "What the agent lets its user choose: models, modes, efforts, the commands it takes, and what it can do with its conversation"},
		{del, one, guard.Write, s.deleteSession, 204, nil, nil, "", "Delete; for 30 seconds it can be restored"},
		{post, one + "/restore", guard.Write, s.restoreSession, 200, nil, sessionShape{}, "", "Undo a deletion"},

		{post, one + "/messages", guard.Write, s.sendMessage, 202, messageRequest{}, messageReply{}, "wait", "Say something; with wait=true or as an event stream, see it through"},
		{patch, one + "/messages/{messageId}", guard.Write, s.changeWaiting, 200, waitingPatch{}, messageReply{}, "", "Edit a prompt that waits, or have it sent earlier; it gets another messageId"},
		{del, one + "/messages/{messageId}", guard.Write, s.withdraw, 204, nil, nil, "", "Take back a prompt that waits"},
		{post, one + "/rewind", guard.Write, s.rewind, 200, promptRef{}, empty{}, "", "Go on from before a prompt: the agent forgets it and all that came after it. Files stay as they are"},
		{post, one + "/compact", guard.Write, s.compact, 202, compactRequest{}, empty{}, "", "Have the agent replace what was said by a summary, in a turn of its own; focus says what the summary must not lose"},
		{post, one + "/clear", guard.Write, s.clear, 200, nil, empty{}, "", "Have the agent forget the whole conversation. The log keeps it, and files stay as they are"},
		{post, one + "/inside", guard.Write, s.inside, 200, nil, agent.Inside{}, "", "Ask the agent what it works with: what fills its context, instruction files, MCP servers, helpers, skills. It is started if it rests; what it does not tell of is null"},
		{post, one + "/branch", guard.Write, s.branch, 201, promptRef{}, sessionShape{}, "", "Begin a session with everything that was said before a prompt; its agent is given that with its first prompt"},
		{post, one + "/display", guard.Write, s.display, 200, displayRequest{}, displayReply{}, "", "Show something yourself: no model hears of the content. A preview is not logged, and holds until the next one"},
		{post, one + "/outputs/{outputId}/keep", guard.Write, s.keepOutput, 200, nil, empty{}, "", "Log a preview as a display"},
		{post, one + "/outputs/{outputId}/open", guard.Write, s.openOutput, 200, nil, empty{}, "", "Note that the user looked at an output: logged once, and no model hears of it"},
		{post, one + "/outputs/{outputId}/pin", guard.Write, s.pinOutput, 200, pinRequest{}, pinReply{}, "", "Keep an output from expiring and from being evicted, for eight hours at most, or no longer"},
		{del, one + "/outputs/{outputId}", guard.Write, s.deleteOutput, 204, nil, nil, "", "Delete an output before its life is over"},
		{post, one + "/abort", guard.Write, s.abort, 202, abortRequest{}, empty{}, "", "Stop the turn with all its processes; with tasks, what runs in the background as well"},
		{get, one + "/tasks", guard.Read, s.listTasks, 200, nil, taskList{}, "", "What the agent left running in the background"},
		{post, one + "/tasks/{taskId}/abort", guard.Write, s.abortTask, 202, nil, empty{}, "", "End one of it, with everything it started"},
		{post, one + "/tools/{toolCallId}/abort", guard.Write, s.abortTool, 202, nil, empty{}, "", "Stop one command, or the task it left"},
		{get, one + "/events", guard.Read, s.events, 200, nil, eventList{}, "after limit dialect", "The log; as an event stream, the log and then what happens. With dialect=autohand in the words of the Autohand contract"},
		{post, one + "/permissions/{requestId}", guard.Write, s.decide, 200, decisionRequest{}, empty{}, "", "Decide about an act"},
		{post, one + "/answers/{requestId}", guard.Write, s.answer, 200, answerRequest{}, empty{}, "", "Answer an agent's question"},
		{post, one + "/attachments", guard.Upload, s.attach, 201, bytesBody("image/* or text/*"), attachReply{}, "name", "Upload something for the next prompt; name is what the prompt will call it"},
		{get, one + "/export", guard.Read, s.export, 200, nil, bytesBody("the session as a file"), "format left", "A session as Markdown (md), its events as JSON lines (jsonl), or one HTML page that needs nothing else (html). With left=0, Markdown leaves out what the agent was made to forget"},
		{get, one + "/places", guard.Read, s.namedPlaces, 200, nil, placeList{}, "name", "Which of these names lead to a file of the workspace; name may be given 100 times"},
		{get, one + "/changes", guard.Read, s.sessionChanges, 200, nil, files.ChangeList{}, "format", "What the session changed in the files of its workspace, since the commit at which it began or as far as it has copies of them; with format=diff, as one unified diff in plain text, which git applies"},
		{get, one + "/outputs", guard.Read, s.listOutputs, 200, nil, outputList{}, "", "What was shown"},

		{get, "/api/outputs/{id}", guard.Output, s.output, 200, nil, bytesBody("the output"), "format lines grep follow offset view from rows filter sort at with count density within tokens", "An output: its bytes, or lines, matches, JSON; a view of it as HTML; how many lines match (count), where (density), and what lines cost a model (tokens)"},
	}...)
}

func (s *Server) optional() (rows []route) {
	if s.Metrics != nil {
		rows = append(rows, route{get, "/metrics", guard.Read, s.metrics, 200, nil, textBody("Prometheus text"), "", "Counters"})
	}
	if s.MCP != nil {
		const about = "The Model Context Protocol, streamable HTTP"
		for _, pattern := range []string{"/mcp", "/mcp/w/{workspaceId}"} {
			rows = append(rows,
				route{post, pattern, guard.MCP, s.mcp, 200, anyJSON{}, streamBody("the answer of " + about), "", about + ": a message"},
				route{get, pattern, guard.MCP, s.mcp, 200, nil, streamBody("messages of the server"), "", about + ": the stream of a session, up to version 2025-11-25"},
				route{del, pattern, guard.MCP, s.mcp, 204, nil, nil, "", about + ": end a session, up to version 2025-11-25"})
		}
	}
	return rows
}
