package scripted

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

// The last of these in a request decides whether the model talks on and on, until its reader
// leaves, or is brief.
const (
	TalkOn  = "Talk on and on."
	BeBrief = "Be brief."
)

// talks reports whether the last prompt wants a long talk.
func talks(body []byte) bool {
	return bytes.LastIndex(body, []byte(TalkOn)) > bytes.LastIndex(body, []byte(BeBrief))
}

// talkTick is how often a talking model says a word, most is when it ends by itself.
const (
	talkTick = 20 * time.Millisecond
	mostTalk = time.Minute
)

// talk says words, a piece each, in the protocol of the address.
func (a answer) talk(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, mostTalk)
	defer cancel()
	const word = "word "
	piece := func() {
		a.event("", object{"id": "chat" + a.id, "object": "chat.completion.chunk", "created": 1, "model": a.model,
			"choices": []any{object{"index": 0, "delta": object{"role": "assistant", "content": word}, "finish_reason": nil}}})
	}
	a.begin()
	switch {
	case strings.HasSuffix(path, "/messages"):
		a.event("message_start", object{"message": object{"id": "msg" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": []any{},
			"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 100, "output_tokens": 1}}})
		a.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
		piece = func() {
			a.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": word}})
		}
	case strings.HasSuffix(path, "/responses"):
		a.event("response.created", object{"sequence_number": 0, "response": object{"id": "resp" + a.id, "object": "response", "status": "in_progress", "output": []any{}}})
		a.event("response.output_item.added", object{"sequence_number": 1, "output_index": 0,
			"item": object{"id": "item" + a.id, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}})
		piece = func() {
			a.event("response.output_text.delta", object{"sequence_number": 2, "item_id": "item" + a.id, "output_index": 0, "content_index": 0, "delta": word})
		}
	}
	tick := time.NewTicker(talkTick)
	defer tick.Stop()
	for {
		piece()
		if f, ok := a.w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
