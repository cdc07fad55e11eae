// Package acp drives any program that speaks the Agent Client Protocol, version 1
// (https://agentclientprotocol.com): one process for each conversation, JSON-RPC on its standard
// input and output.
//
// What agents do differently from the specification was recorded from six of them: calls that are
// updated before they are reported, output that replaces what was there, errors that come as text,
// permissions under ids that say nothing.
//
// # Guarantees
//
//   - Neither files nor terminals are offered. An agent that asks for them all the same is refused,
//     and the user reads that it may have written anyway.
//   - A question is answered by the kind of its options, and only ever for once: what lasts is the
//     session's to remember. When a turn is stopped, every open question is answered at once.
//   - The session's own tools reach the agent over MCP. Their questions are asked by the session,
//     so the agent's own question about them is answered here, if its program marks them ([Mark]).
//     A title or a name makes no call one of them.
//   - Every path, command and address that a call names is asked about. What is missing, cannot be
//     read or does not agree with itself is asked about each time.
//   - What an agent replays when a conversation is loaded is dropped.
//   - An agent is not started in a folder from which it is known to run commands without asking.
//   - Nothing an agent reports of its calls is left out since a part of it is odd; a call that says
//     to be of the session's tools, and never reached them, is shown as any other.
//
// A [Backend] may be used from any goroutine. What it shares with other agents is in package convo:
// turns, stops, processes and panics.
//
// # Usage
//
//	b, err := acp.New(acp.Config{Preset: acp.Presets()["gemini"], Name: "gemini", Env: env, Lend: lend})
package acp
