// Package convo runs conversations with agents that other programs are: what every backend with a
// process behind it does the same way, so that a backend is its wire types, a table from each type
// of message to what is reported, and what only it has.
//
// # The loop
//
// A [Conversation] has one goroutine, its loop. What the agent reports is handled there, one
// message at a time and in order; so is everything that a backend keeps of a conversation, which
// needs no lock. An agent that reports faster than its session takes it is slowed down, and nothing
// is lost: [Conversation.Do] waits for the loop, and [Conversation.Receive], for a process that
// many conversations share, waits while more than a few megabytes wait here. What runs on the loop
// may wait for the session ([Conversation.Report]) and for nothing else: no request to the agent,
// no Do and no Receive. [Conversation.Post], which does not wait, is for what the backend itself
// has done.
//
// # Turns
//
// [Conversation.Prompt] runs a [Turn]: Ready, Send, the end that the backend reports with
// [Turn.End], what a [Settler] does then, Finish. When it is to stop, the agent is asked to by
// Abort, which returns when the turn has ended. What the agent asks meanwhile is counted by
// [Conversation.Join]: the turn's end waits for it.
//
// A turn has steps, the calls of the model ([Turn.NextStep]); texts, by the agent's own ids
// ([Turn.Piece], [Turn.Message]) or one after the other ([Turn.Say], [Turn.Quiet]); and calls
// ([Calls], [Turn.Begin], [Turn.Complete]), of which the session ends those that a turn leaves
// open. A [Task] goes on beside the turns. What the agent wants to do [Conversation.Hooked] and
// [Conversation.Permit] decide.
//
// # Processes
//
// [Conversation.Launch] starts the program of one conversation, [Conversation.Running] starts it
// again when it has ended. A program that many conversations share is its backend's own.
//
// # Guarantees
//
//   - Every turn ends: by its agent, with its agent's process, or within a second of a stop.
//   - A panic in what handles the agent's words ends that conversation with an error that wraps
//     [agent.ErrDied], and nothing else; see [Conversation.Contained].
//   - An agent that shows no sign of life is reported once, and ended if the backend wants that.
//   - Close returns when nothing of the conversation is left: no goroutine, process or call.
//   - An [Act] is asked about with all it names.
package convo
