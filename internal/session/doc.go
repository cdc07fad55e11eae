// Package session is the heart: it runs turns, appends events, fans them out,
// asks permission and stops what has to stop.
//
// A session is its log. Everything a person sees of it is folded from events:
// the row in the list ([Fold] into a [Summary]), the page, the status.
//
// # Guarantees
//
//   - Durable before visible: append stamps an event, writes it to the [Log],
//     folds it and only then hands it to subscribers, all under one lock. An
//     ephemeral event skips the log. Sequences have no holes.
//   - One prompt at a time, in order. user.message is logged when a prompt is
//     accepted, before Send returns; its turn.start says when the work on it
//     began. Each accepted message gets exactly one turn.start and turn.end, or
//     is named in the "steered" of the turn.end of the turn it joined. That
//     holds for prompts an abort dropped from the queue (outcome aborted) and
//     for those a restart found waiting (outcome interrupted).
//   - turn.end closes everything the turn opened: messages in flight become
//     partial ones, tools and questions get their completion.
//   - Nothing acts before its permission.completed is durable. The first answer
//     wins; a time limit, an abort and a restart mean deny.
//
// # When the log cannot be written
//
// The operation that needed it returns an error that wraps [ErrLog] and has had
// no effect on the log: the caller may try again, and nothing is ever logged
// twice. Subscribers are told once by an ephemeral session.error of errorType
// "log". What ends something (turn.end and what it closes) is tried again with a
// growing pause until it is durable or the process ends; the queue waits for it.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. An idle session has
// no goroutine. [Manager.Run] returns when everything the sessions started has
// ended.
//
// # Usage
//
//	m, err := session.New(session.Config{Log: log, Catalog: log, Backends: backends, Workspace: dir})
//	go m.Run(ctx)
//	s, err := m.Create(ctx, session.Options{})
//	live := s.Subscribe()
//	defer live.Close()
//	snap, err := s.Join(ctx)                       // the past is Events(ctx, 0, n) up to snap.LastSeq
//	id, err := s.Send(ctx, session.Message{Content: "show me go.mod"})
//	result, err := s.WaitTurn(ctx, id)
package session
