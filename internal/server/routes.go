package server

import (
	"slices"

	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/session"
)

// routes is all of webchat.
func (p *resources) routes() []route {
	const path = "/api/sessions/{id}"
	find, in := p.find, p.find.in
	return slices.Concat(p.optional(), p.pageRoutes(), []route{
		{get, "/healthz", guard.Public, healthz, 200, nil, textBody("ok"), "",
			"Whether the server lives"},
		{get, "/readyz", guard.Public, p.health.readyz, 200, nil, textBody("ready"), "",
			"Whether prompts are taken; else 503 with one word: starting, engine while its database does " +
				"not answer, stopping, or log when it cannot be written"},
		{get, "/api/openapi.json", guard.Read, p.description.serve, 200, nil, anyJSON{}, "",
			"This description"},
		to(get, "/api/sign-in", guard.Read, 200, p.signIns.challenge, "",
			"What a browser signs to prove itself after a restart"),
		{post, "/api/sign-in", guard.Public, p.signIns.signIn, 200, signInRequest{}, signInReply{}, "",
			"Spend a sign-in link (token, and a public P-256 key): a cookie that reads, a secret that " +
				"writes. With a signature of \"webchat sign-in \" and the challenge: another secret"},
		{post, "/api/sign-out", guard.Write, p.signIns.signOut, 200, nil, empty{}, "",
			"Revoke this browser's sign-in"},
		{get, "/api/stream", guard.Read, p.together.serve, 200, nil,
			streamBody(
				"session.changed of every session, as it happens; session.error when the log cannot be " +
					"written, and when it can " +
					"again"), "sessions view", "What changes in the list of sessions. With sessions, up to 100 " +
				"ids with commas between, each with :N to go on after event N, also their events; an event " +
				"line names the session, and Last-Event-ID resumes all. With view=page, what changes on " +
				"their pages. stream.closing with an event line ends that session's part only: retryMs says " +
				"when to come back, and 0 that there is no such session"},

		to(get, "/api/backends", guard.Read, 200, p.agents.backends, "", "Kinds of agents"),
		to(get, "/api/system", guard.Read, 200, p.system.show, "",
			"The version, and whether what agents run is confined: if not, why, and what helps"),
		to(get, "/api/models", guard.Read, 200, p.agents.models, "backend", "Models of a backend"),
		to(get, "/api/permissions", guard.Read, 200, p.consents.list, "session",
			"What agents may do: the mode, the rules, and what was allowed for a session and for "+
				"workspaces"),
		to(del, "/api/permissions/{grantId}", guard.Write, 204, p.consents.takeBack, "session",
			"Take back what was allowed, at once"),
		to(get, "/api/mcp", guard.Read, 200, p.mcpServers.list, "session workspace",
			"The MCP servers that you set up for agents: what was found of each, about what each of its "+
				"tools adds to each call of a model in tokens, and what is off for the session or the "+
				"workspace. dear says it where all are of more than 2,000 tokens"),
		to(post, "/api/mcp/{server}/allow", guard.Write, 204, p.mcpServers.allow, "",
			"Allow an MCP server whose tools changed, as they are now"),
		to(post, "/api/mcp/{server}/switch", guard.Write, 204, p.mcpServers.turn, "session workspace",
			"Have agents go without a tool of an MCP server, or without all of it, in a session or else "+
				"in all of a workspace; or with it again. The Copilot CLI learns of it with the next prompt, "+
				"others when their conversation opens, and calls are refused at once"),
		to(get, "/api/mcp/prompts", guard.Read, 200, p.mcpServers.prompts, "session workspace",
			"Texts that your MCP servers have for you, with what each asks for"),
		to(post, "/api/mcp/{server}/prompt", guard.Write, 200, p.mcpServers.prompt,
			"session workspace", "The text of a prompt of an MCP server. Nothing is sent"),
		to(get, "/api/mcp/resources", guard.Read, 200, p.mcpServers.resources, "session workspace",
			"What your MCP servers let you read. The uri of one that asks for arguments is a template"),
		to(post, "/api/mcp/{server}/resource", guard.Write, 200, p.mcpServers.resource,
			"session workspace", "The text and pictures of a resource of an MCP server. Nothing is sent"),
		to(post, "/api/mcp/{server}/complete", guard.Write, 200, p.mcpServers.complete,
			"session workspace", "What an argument of a prompt or resource of an MCP server may be"),
		to(get, "/api/hooks", guard.Read, 200, p.consents.hooks, "", "The user's hooks"),
		to(get, "/api/files", guard.Read, 200, p.files.complete, "workspace q limit",
			"Files of a workspace, for completing a path"),
		to(get, "/api/files/price", guard.Read, 200, p.files.prices, "workspace name",
			"What files of a workspace, some of their lines (main.go:10-40) and listings of folders cost "+
				"a model that is given them with a prompt; name may be given 100 times"),
		{get, "/api/search", guard.Read, p.search.serve, 200, nil,
			bytesBody(
				"lines of JSON: {\"file\"} for each file with hits as they are found, then " +
					"{\"done\"}"), "workspace session output q expression case word " +
				"glob", "Search the text of a workspace, or of what was shown in a session, for q: the lines " +
				"that match with 3 around each. What git ignores is left out, and of files that may hold " +
				"secrets only names are searched. It ends with the request"},
		to(post, "/api/colours", guard.Write, 200, colours, "",
			"How lines of files are coloured, by the language that the file's name tells: for each line "+
				"of each piece its spans, with their lengths in UTF-16 units and a class; of 16 KiB at most"),
		to(post, "/api/price", guard.Write, 200, price, "",
			"What a text, or a picture of so many pixels, costs a model that is given it with a prompt"),
		to(get, "/api/looks", guard.Read, 200, p.looks.looks, "workspace text",
			"What a text asks to see, if it asks for nothing else and is there: the display of each file "+
				"that fits"),
		to(get, "/api/start", guard.Read, 200, p.starts.start, "workspace",
			"What a new session in a workspace may begin with: changed files, what was looked at lately, "+
				"commands"),

		to(get, "/api/folders", guard.Read, 200, p.workspaces.folders, "q limit",
			"Folders that could be opened: closed ones first, then those below the home folder that begin "+
				"like q"),
		to(get, "/api/workspaces", guard.Read, 200, p.workspaces.list, "",
			"The open workspaces, the one opened last first"),
		{post, "/api/workspaces", guard.Write, p.workspaces.open, 201, openRequest{}, workspaceShape{},
			"", "Open a folder by its absolute path; 200 if it was open"},
		to(del, "/api/workspaces/{id}", guard.Write, 204, p.workspaces.close, "",
			"Hide a workspace with its sessions; opened again, they are back"),

		to(get, "/api/sessions", guard.Read, 200, p.catalog.list, "q workspace state limit cursor",
			"Sessions, by activity; q searches, and finds outputs that are alive and hold it as well: "+
				"those of files that may hold secrets by name only"),
		to(post, "/api/sessions", guard.Write, 201, p.catalog.create, "", "Begin a session"),
		of(find, get, path, guard.Read, 200, p.catalog.show, "",
			"A session, and whether what it runs is confined: if not, why, and what helps"),
		to(patch, path, guard.Write, 200, p.catalog.update, "",
			"Rename, pin, change the model, the mode, how hard the model thinks, or what the session may "+
				"take before its turn waits for you: a number of tokens or of dollars, 0 for no limit"),
		of(find, get, path+"/choices", guard.Read, 200, choices, "",
			"What the agent lets its user choose: models, modes, efforts, the commands it takes, and what "+
				"it can do with its conversation"),
		to(del, path, guard.Write, 204, p.catalog.delete, "worktree",
			"Delete; for 30 seconds it can be restored. With worktree=throw its worktree is thrown away, "+
				"too; else that stays"),
		to(post, path+"/restore", guard.Write, 200, p.catalog.restore, "", "Undo a deletion"),

		of(find, get, path+"/worktree", guard.Read, 200, p.copies.show, "",
			"The worktree that a session works in, and which files of it differ from what it began with, "+
				"or from what was brought back last; also says that the checkout changed the file, and "+
				"unfitted that both cannot be merged"),
		of(find, post, path+"/worktree/bring", guard.Write, 200, p.copies.back, "",
			"Bring back what a session did in its worktree: as changes, which are not committed and of "+
				"which what does not fit is left out; or as one commit, while the checkout is on the branch "+
				"it was made from and nothing is staged there, if all fits"),
		of(find, post, path+"/worktree/undo", guard.Write, 200, p.copies.undo, "",
			"Take back what was brought back last, where it still is what was left"),
		of(find, del, path+"/worktree", guard.Write, 204, p.copies.throw, "",
			"Throw the worktree of a session away; for 30 days it can be restored"),
		of(find, post, path+"/worktree/restore", guard.Write, 200, p.copies.restore, "",
			"Bring back a worktree that was thrown away"),

		{post, path + "/messages", guard.Write, in(p.messages.send), 202, messageRequest{},
			messageReply{},
			"wait", "Say something; with wait=true or as an event stream, see it through"},
		of(find, patch, path+"/messages/{messageId}", guard.Write, 200, changeWaiting, "",
			"Edit a prompt that waits, or have it sent earlier; it gets another messageId"),
		of(find, del, path+"/messages/{messageId}", guard.Write, 204,
			act("messageId", (*session.Session).Withdraw), "", "Take back a prompt that waits"),
		of(find, post, path+"/rewind", guard.Write, 200, rewind, "dry",
			"Go on from before a prompt: the agent forgets it and all that came after it. With files true "+
				"the files are what they were then, too, what commands changed included; with files \"only\" "+
				"nothing else happens. What somebody else changed is kept and named, and brought back if "+
				"also has its path. If one file cannot be written, nothing happens. With dry=true it is only "+
				"listed"),
		of(find, post, path+"/rewind/undo", guard.Write, 200, bringBack, "dry",
			"Take back the last rewind, or undone turn, that was not: the conversation, the files, or "+
				"both. If the agent has gone on since, it is given the text of the conversation with its "+
				"next prompt"),
		of(find, post, path+"/compact", guard.Write, 202, compact, "",
			"Have the agent replace the conversation by a summary, in a turn of its own; focus says what "+
				"the summary must not lose"),
		of(find, post, path+"/clear", guard.Write, 200, forget, "",
			"Have the agent forget the whole conversation. The log keeps it, and files stay as they are"),
		of(find, post, path+"/inside", guard.Write, 200, inside, "",
			"Ask the agent what it works with: what fills its context, instruction files, helpers, "+
				"skills. It is started if it rests; what it does not report is null"),
		to(post, path+"/branch", guard.Write, 201, p.catalog.branch, "",
			"Begin a session with everything before a prompt; its agent is given that with "+
				"its first prompt"),
		{post, path + "/display", guard.Write, in(p.looker.display), 200, displayRequest{},
			displayReply{},
			"", "Show something yourself: no model hears of the content. A preview is not logged, and " +
				"holds until the next one"},
		of(find, post, path+"/outputs/{outputId}/keep", guard.Write, 200,
			act("outputId", (*session.Session).Keep), "", "Log a preview as a display"),
		{post, path + "/outputs/{outputId}/reread", guard.Write, in(p.looker.reread), 200, nil,
			displayReply{}, "",
			"Show a file again whose output is gone, or which has changed on disk since: a new output " +
				"stands in its place. No model hears of it"},
		of(find, post, path+"/turns/{turnId}/undo", guard.Write, 200, undoTurn(false), "dry",
			"Bring back what a turn changed, commands included: each file only where it still is what the "+
				"turn left; others are kept and named. If one cannot be written, none is. With dry=true "+
				"nothing is written. No model hears of it"),
		of(find, post, path+"/turns/{turnId}/redo", guard.Write, 200, undoTurn(true), "dry",
			"Bring back what undoing a turn took away, in the same way"),
		{post, path + "/outputs/{outputId}/undo", guard.Write, in(p.edits.undo), 200, undoRequest{},
			displayReply{}, "",
			"Take changes of a file back on disk: those numbered in undone of what differs from the " +
				"output with, and bring the others back, if the file is otherwise still as it is shown. The " +
				"file is read again, as by reread. No model hears of it"},
		of(find, post, path+"/outputs/{outputId}/open", guard.Write, 200,
			act("outputId", (*session.Session).Open), "",
			"Note that the user looked at an output: logged once, and no model hears of it"),
		of(find, post, path+"/outputs/{outputId}/pin", guard.Write, 200, p.shown.pin, "",
			"Keep an output from expiring and from being evicted, for eight hours at most, or no longer"),
		of(find, post, path+"/outputs/{outputId}/app/hosts", guard.Write, 204, p.apps.allow, "",
			"Let the page of an MCP server reach the hosts that it names, as long as it is there"),
		of(find, post, path+"/outputs/{outputId}/app/call", guard.Write, 200, p.apps.call, "",
			"Call a tool of its server for the page of an MCP server, after the user was asked as about a "+
				"call of the agent's. No model hears of it or of what came of it"),
		of(find, del, path+"/outputs/{outputId}", guard.Write, 204, p.shown.delete, "",
			"Delete an output before its life is over"),
		of(find, post, path+"/abort", guard.Write, 202, abort, "",
			"Stop the turn with all its processes; with tasks, what runs in the background as well"),
		of(find, get, path+"/tasks", guard.Read, 200, listTasks, "",
			"What the agent left running in the background"),
		of(find, post, path+"/tasks/{taskId}/abort", guard.Write, 202,
			act("taskId", (*session.Session).AbortTask), "", "End one of it, with everything it started"),
		of(find, post, path+"/tools/{toolCallId}/abort", guard.Write, 202,
			act("toolCallId", (*session.Session).AbortTool), "", "Stop one command, or the task it left"),
		{get, path + "/events", guard.Read, in(p.streams.events), 200, nil, eventList{},
			"after limit dialect",
			"The log; as an event stream, the log and then what happens. With dialect=autohand in the " +
				"words of the Autohand contract"},
		{post, path + "/refused/{toolCallId}/outside", guard.Write, in(runOutside), 200, empty{},
			displayReply{}, "",
			"Run the command of a call that the sandbox refused something once more, for you and not " +
				"confined: you are asked about the whole of it, and no model hears of the output"},
		of(find, post, path+"/permissions/{requestId}", guard.Write, 200, decide, "",
			"Decide about an act, or about a file that is held: allow puts it back, deny deletes it"),
		of(find, post, path+"/permissions/{requestId}/again", guard.Write, 200, holdAgain, "",
			"Take back what was decided about a file that was held: it is held again, and asked about "+
				"anew. 410 if it changed, or was deleted for good"),
		of(find, post, path+"/opened", guard.Write, 201, open, "",
			"Open a path or a host to what the session runs confined, at once: once (until no call that "+
				"runs now still runs), for the session, or for the workspace. All sessions of the folder "+
				"that share a process with it have it, too. What is open already is answered the same"),
		of(find, del, path+"/opened/{openedId}", guard.Write, 204, closeOpened, "",
			"Close what was opened, at once, in all that runs"),
		of(find, post, path+"/answers/{requestId}", guard.Write, 200, answer, "",
			"Answer an agent's question"),
		{post, path + "/attachments", guard.Upload, in(p.attachments.attach), 201,
			bytesBody("image/* or text/*"), attachReply{}, "name",
			"Upload something for the next prompt; name is what the prompt will call it"},
		{get, path + "/export", guard.Read, in(p.exports.serve), 200, nil,
			bytesBody("the session as a file"), "format left",
			"A session as Markdown (md), its events as JSON lines (jsonl), or one HTML page that needs " +
				"nothing else (html). With left=0, Markdown leaves out what the agent was made to forget"},
		of(find, get, path+"/places", guard.Read, 200, p.files.places, "name",
			"Which of these names lead to a file of the workspace; name may be given 100 times"),
		{get, path + "/changes", guard.Read, in(p.changes.serve), 200, nil, files.ChangeList{},
			"format", "What the session changed in the files of its workspace, since the commit at which " +
				"it began or as far as it has copies of them; with format=diff, as one unified diff in plain " +
				"text, which git applies"},
		of(find, get, path+"/outputs", guard.Read, 200, p.shown.list, "",
			"What was shown, in the order of the calls. For what is gone, gone names the reason: "+
				"expired, evicted (to make room), restart (of webchat) or deleted"),

		{get, "/api/outputs/{id}/page", guard.Frame, p.outputs.of(p.outputs.page), 200, nil,
			htmlPage("HTML that a file, or a cell of a notebook, holds"), "cell output",
			"HTML that was shown, as a page for a frame: of an HTML file, or what a cell of a notebook " +
				"wrote. It runs no script and loads nothing"},
		{get, "/api/outputs/{id}/pictures/{picture}", guard.Read, p.outputs.of(p.far.serve), 200, nil,
			bytesBody("the picture"), "",
			"A picture of another site that shown Markdown names, by the name that its data-far has " +
				"in the HTML. webchat fetches it: by https, from public addresses only, without " +
				"cookies and Referer, 10 MB at most"},
		{get, "/api/outputs/{id}/app", guard.Frame, p.outputs.of(p.apps.page), 200, nil,
			htmlPage("The page of an MCP server"), "",
			"The page of an MCP server that draws what a tool of it returned (MCP Apps), for a frame: its " +
				"scripts run in an origin of their own, and reach nothing but what the user allowed"},
		{get, "/api/outputs/{id}/app/data", guard.Output, p.outputs.of(p.apps.data), 200, nil, appData{},
			"", "What such a page draws: the call, the whole result, and the hosts that it asks to reach"},
		{get, "/api/outputs/{id}", guard.Output, p.outputs.of(p.outputs.handler.ServeOutput), 200, nil,
			bytesBody("the output"),
			"format lines grep follow offset view from rows filter sort at with count density within tokens",
			"The bytes of an output; with a query, what the addresses below it give"},
	}, p.outputs.forms())
}

func (p *resources) optional() (rows []route) {
	if p.metrics != nil {
		rows = append(rows, route{get, "/metrics", guard.Read, served(p.metrics), 200, nil,
			textBody("Prometheus text"), "", "Counters"})
	}
	if p.mcp != nil {
		const about = "The Model Context Protocol, streamable HTTP"
		for _, pattern := range []string{"/mcp", "/mcp/w/{workspaceId}"} {
			rows = append(rows,
				route{post, pattern, guard.MCP, streaming(p.mcp), 200, anyJSON{},
					streamBody("the answer of " + about), "", about + ": a message"},
				route{get, pattern, guard.MCP, streaming(p.mcp), 200, nil,
					streamBody("messages of the server"), "", about +
						": the stream of a session, up to version 2025-11-25"},
				route{del, pattern, guard.MCP, streaming(p.mcp), 204, nil, nil, "", about +
					": end a session, up to version 2025-11-25"})
		}
	}
	return rows
}
