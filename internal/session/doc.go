// Package session is the heart: it runs the turns of one session and stops what has to stop.
// Package eventlog appends its events and fans them out.
//
// A session is its log. Everything a person sees of it is folded from events: the row in a list,
// what is in flight, the page, the status.
//
// # Guarantees
//
//   - Durable before visible: see package eventlog.
//   - One prompt at a time, in order. user.message is logged when a prompt is accepted, before Send
//     returns; its turn.start says when the work on it began. Each accepted message gets at most
//     one turn.start and turn.end, or is named in the "steered" of the turn.end of the turn it
//     joined, or in a user.message_withdrawn: the user took it back, edited or moved it. Until then
//     it waits; an abort or a restart holds it until the user goes on.
//   - The agent may begin a turn by itself; it is one turn among the others. What it left running
//     in the background is a task: turns end without it, and what is called for it is closed by its
//     task.completed.
//   - turn.end closes everything the turn opened: messages in flight become partial ones, tools and
//     questions get their completion.
//   - Nothing acts before its permission.completed is durable. The first answer wins; a time limit,
//     an abort and a restart mean deny.
//   - A file that may hold secrets goes with a prompt only where the user confirmed it, webchat's
//     own secrets never, and what [FindAttachment] prices is what is given.
//
// # When the log cannot be written, or is slow
//
// What the log refuses has not happened: the operation that needed it returns an error that wraps
// [eventlog.ErrLog], and nothing is ever logged twice. The [eventlog.Owner] informs every reader.
// Meanwhile:
//
//   - a prompt, a decision and a title are refused;
//   - a running turn waits at its next logged event and tries again, with pauses up to five
//     seconds, until that is durable or the turn is stopped. A stop acts at once; turn.end and what
//     it closes are logged when the log takes them;
//   - a user's display is done and not kept ([DisplayResult].NotKept);
//   - what an earlier process left open can be read, and is closed later.
//
// A write that takes long holds up what is to be appended after it, in order, and nothing else:
// s.mu is free while the log writes.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. An idle session has no goroutine.
// [Session.Close] returns when everything the session started has ended.
//
// # Usage
//
//	s, err := session.Create(ctx, session.Config{Log: log, Owner: owner, Backend: backend, Workspace: dir, Context: where},
//		event.SessionStart{SessionID: id, Backend: backend.Name()}, "")
//	defer s.Close()
//	live := s.Subscribe()
//	defer live.Close()
//	snap, err := s.Join(ctx)                       // the past is Events(ctx, 0, n) up to snap.LastSeq
//	id, err := s.Send(ctx, session.Message{Content: "show me go.mod"})
//	result, err := s.WaitTurn(ctx, id)
package session
