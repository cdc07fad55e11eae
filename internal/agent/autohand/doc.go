// Package autohand drives Autohand CLI (https://autohand.ai/cli/) in its RPC mode: one process for
// each conversation, JSON-RPC 2.0 on its standard input and output. What the protocol does was
// recorded from version 0.8.2, which differs from its documentation.
//
// # Guarantees
//
//   - A conversation has settings, a state folder and a home folder of its own: the user's provider
//     and login are copied into them, the user's files stay as they are.
//   - Before each tool call of its own the CLI asks this package, by a hook: the user's hooks run,
//     and everything that acts, reads files or is not known is asked about then. Settings in a
//     workspace can switch off the CLI's own questions, not this. A question it asks all the same
//     is answered for once, so it keeps no answer.
//   - A call is asked about with every file its arguments name, and what happens to each. Arguments
//     that may name another file make it one that is always asked about.
//   - The CLI's tool that reads a file into the context is refused. It has no setting that hides
//     one tool, so its model is still offered it.
//   - Files the CLI holds back until the end of a turn are accepted then, since each was allowed
//     before. What was not written is reported.
//   - A command that the CLI leaves in the background is asked about as such, and ends with the
//     conversation; it is not a task, since the CLI does not report its end.
//   - Code of the workspace that the CLI would run by itself keeps the conversation from starting.
//
// A [Backend] may be used from any goroutine. What it shares with other agents is in package convo:
// turns, stops, processes and panics.
//
// # Usage
//
//	b, err := autohand.New(autohand.Config{Env: env, Home: dir, Settings: file, Lend: lend, Hook: []string{exe, "agent-hook"}})
package autohand
