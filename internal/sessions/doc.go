// Package sessions holds all sessions: it creates, lists, loads, deletes, restores and
// prunes them, tells what becomes of them, and says when their log refuses what it is
// given.
//
// # Guarantees
//
//   - A session has one value: every caller gets the same [session.Session].
//   - What an earlier process left open is closed before a session is returned, or as
//     soon as the log can be written.
//   - A session belongs to one workspace, and works with what is that workspace's alone:
//     its [Room]. Which folders there are says the list of [Manager.Workspaces].
//   - A deleted session can be restored for [UndoDelete]; then its log, outputs and
//     uploads are removed for good, after a restart too.
//   - While the log refuses what it is given, every reader of every session and of
//     [Manager.Watch] is told so at once by an ephemeral session.error of errorType
//     "log", and by one of type "saved" when the log takes as much as it refused. Marks
//     and deletions are refused meanwhile.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. A session is created,
// loaded or ended by one caller at a time; those of other sessions do not wait, however
// long an agent takes to close. [Manager.Run] returns when
// everything the sessions started has ended.
//
// # Usage
//
//	m, err := sessions.New(sessions.Config{Log: log, Catalog: log, Backends: backends, Workspaces: list})
//	go m.Run(ctx)
//	s, err := m.Create(ctx, sessions.Options{})
package sessions
