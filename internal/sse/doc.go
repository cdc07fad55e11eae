// Package sse serves text/event-stream: what is published on a topic reaches every reader of it,
// each frame once and in order, joined without a gap to whatever past the reader still lacks.
//
// The fan-out is that of github.com/r3labs/sse: topics are its streams, and what is published at
// about the same time is one of its events. This package owns everything between that and the
// network, because a stream must stay right when a client is slow, gone or hostile.
//
// # Guarantees
//
//   - [Topic.Publish] never blocks, whatever any client does.
//   - [Topic.Serve] attaches to the topic before it replays the past, and drops live frames the
//     past already held (by [Frame.Pos]): no gap, no repeat.
//   - One client never delays another. Each has a buffer that takes at once what r3labs writes;
//     what waits for a client is bounded ([Config.Buffer]), and so is the time its connection may
//     refuse to take bytes ([Config.WriteTimeout]). Beyond either the client is cut and resumes
//     with Last-Event-ID; a frame is never skipped.
//   - No content can forge a frame: line ends in data become further data lines.
//   - A frame without an id writes no id line, so a browser keeps the last one.
//   - When Serve or Stream returns, no goroutine and no memory of the stream is left. A topic
//     without readers holds nothing, and the names of topics come from the program only, never from
//     a request.
//
// # Concurrency
//
// All methods may be called at the same time from any goroutine. Frames of one topic are delivered
// in the order in which Publish was called; callers who need an order among several publishers
// serialise their own calls. The goroutine that calls Serve or Stream is the one that writes to the
// client.
//
// # Usage
//
//	hub, err := sse.New(sse.Config{})
//	…
//	topic := hub.Topic("session/" + id)
//	topic.Publish(sse.Frame{ID: seq, Pos: pos, Data: json})   // the producer
//	…
//	func events(w http.ResponseWriter, r *http.Request) error { // one reader
//		after, ok, _ := sse.ParseLastEventID(r)
//		return topic.Serve(w, r, func(ctx context.Context, send func(sse.Frame) error) (int64, error) {
//			… // send what was logged after `after`; return the Pos up to which that is complete
//		})
//	}
//
// The server around it must leave http.Server.WriteTimeout at zero or accept that it is replaced
// here by a deadline per write, and should listen with [ListenControl], which finds peers that
// vanished without a word.
package sse
