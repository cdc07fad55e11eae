// Package calls is the index of one session's log: the tool calls, the outputs they showed, the
// prompts, turns and questions it has, and where they begin and end.
//
// An [Index] is folded from the events of a log, one after the other from the first. It holds
// places and short facts, and no text, command or output: a call, a prompt or a question is
// a few hundred bytes of it, however large its events are. What else there is to know of one is
// read from the log, at its place.
//
// Values that it returns are copies, but for slices, which are never changed. An Index is for one
// goroutine at a time.
//
//	var x calls.Index
//	for _, e := range entries {
//		x.Add(e)
//	}
//	c, ok := x.Call("call_1")
package calls
