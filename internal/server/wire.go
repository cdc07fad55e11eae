package server

import (
	"net/http"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/views"
)

// resources are the parts of a Server that answer requests. Each has what it needs of a Config, and
// knows others only where it asks them.
type resources struct {
	agents      *agents
	apps        *apps
	attachments *attachments
	catalog     *catalog
	changes     *changes
	consents    *consents
	copies      *copies
	description *description
	edits       *edits
	far         *farPictures
	exports     *exports
	files       *namedFiles
	find        finder
	health      *health
	looker      *looker
	looks       *lookParser
	mcpServers  *mcpServers
	messages    *messages
	outputs     *servedOutputs
	search      *search
	shown       *shownOutputs
	signIns     *signIns
	starts      *starts
	streams     *streams
	system      *system
	together    *together
	workspaces  *workspaces

	// What people see; there is none if pages is nil.
	desk    *desk
	lists   *sessionLists
	pages   *sessionPages
	replays *replays
	reviews *reviews
	sandbox *sandboxPages
	tools   *toolRows

	metrics http.Handler // nil: no /metrics
	mcp     http.Handler // nil: no /mcp
}

// wire makes the resources. It starts nothing.
func wire(c Config, pumps *topicPumps) *resources {
	find, past := finder{c.Sessions}, &films{}
	seen, cover := views.New(c.Outputs, &places{c.Sessions}), c.Pages.cover()
	var drawn *page.Pages
	if c.Pages != nil {
		seen, drawn = c.Pages.views, c.Pages.pages
	}
	shown := &shownOutputs{c.Outputs, time.Now()}
	own := &copies{c.Worktrees, c.Logger}
	found := &shownSearch{sessions: c.Sessions, outputs: c.Outputs}
	streams := &streams{c.Sessions, c.Hub, pumps}
	p := &resources{
		agents:      &agents{c.Sessions},
		apps:        &apps{shown: shown, outputs: c.Outputs, allowed: map[outputs.ID]bool{}},
		attachments: &attachments{c.Guard},
		catalog:     &catalog{find, c.Sessions, found, c.Sandboxes, own},
		changes:     &changes{c.Sessions, c.Snapshots},
		consents:    &consents{c.Consent, c.Sessions, c.Grants, drawn},
		copies:      own,
		description: &description{},
		edits:       &edits{shown, c.Outputs, seen},
		exports:     &exports{past, cover, drawn},
		far:         newFarPictures(c.Outputs, seen, c.Public),
		files:       &namedFiles{find, c.Sessions},
		find:        find,
		health:      &health{c.Sessions, c.Peers, c.Stopping},
		looker:      &looker{shown, c.Outputs},
		looks:       &lookParser{find, c.Looks},
		mcpServers:  &mcpServers{find, c.Sessions, c.UserServers},
		messages:    &messages{c.Hub, own},
		outputs: &servedOutputs{c.Outputs, c.Sessions, c.Guard, seen,
			outputs.NewHandler(c.Outputs, seen, oneStream, c.Logger)},
		search: &search{find, c.Sessions, c.Outputs, found, make(chan struct{}, searches),
			cover},
		shown:      shown,
		signIns:    &signIns{c.Guard, c.Pages},
		starts:     &starts{find, c.Sessions, c.Outputs, c.Logger, own},
		streams:    streams,
		system:     &system{c.Version, c.Sandboxes},
		together:   &together{streams, map[string]http.Handler{}, c.Logger},
		workspaces: &workspaces{c.Sessions, c.Home},
		metrics:    c.Metrics,
		mcp:        c.MCP,
	}
	if c.Pages == nil {
		return p
	}
	around := &layout{c.Sessions, c.Stored, c.Notice, c.Logger}
	live := &projections{hub: c.Hub, pumps: pumps, outputs: c.Outputs, pages: drawn}
	p.desk = &desk{c.Outputs, live, drawn}
	p.lists = &sessionLists{c.Sessions, around, drawn}
	p.pages = &sessionPages{find, c.Outputs, c.Sandboxes, around, live, drawn}
	p.replays = &replays{c.Outputs, past, drawn}
	p.reviews = &reviews{p.changes, p.edits, c.Outputs, seen, drawn, own}
	p.sandbox = &sandboxPages{find, c.Sandboxes, drawn}
	p.tools = &toolRows{live, drawn}
	return p
}
