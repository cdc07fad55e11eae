package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

type object = map[string]any

// done is what the model says when it makes no call.
const done = "Done."

// answer is one answer: a call, or that it is done.
type answer struct {
	w      http.ResponseWriter
	id     string // a number no other answer has
	c      call
	calls  bool
	model  string
	stream bool
}

func send(w http.ResponseWriter, v object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the agent may have gone
}

// event writes one event of a stream, with its name if it has one.
func (a answer) event(name string, v object) {
	if name != "" {
		v["type"] = name
		_, _ = fmt.Fprintf(a.w, "event: %s\n", name) // the agent may have gone
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of strings
	}
	_, _ = fmt.Fprintf(a.w, "data: %s\n\n", b)
}

func (a answer) begin() { a.w.Header().Set("Content-Type", "text/event-stream") }

// chat speaks OpenAI's chat completions.
func (a answer) chat() {
	message, finish := object{"role": "assistant", "content": done}, "stop"
	if a.calls {
		// One agent runs no further tool of a model that does not mention the last one.
		content := fmt.Sprintf(
			"What the tools returned so far is understood. The next call is of %s, with %s.", a.c.name,
			a.c.arguments)
		message = object{"role": "assistant", "content": content,
			"tool_calls": []any{object{"index": 0, "id": a.c.id, "type": "function",
				"function": object{"name": a.c.name, "arguments": a.c.arguments}}}}
		finish = "tool_calls"
	}
	whole := func(kind, part string, content any, finish any) object {
		return object{"id": "chat" + a.id, "object": kind, "created": 1, "model": a.model,
			"choices": []any{object{"index": 0, part: content, "finish_reason": finish}}}
	}
	usage := object{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	if !a.stream {
		v := whole("chat.completion", "message", message, finish)
		v["usage"] = usage
		send(a.w, v)
		return
	}
	a.begin()
	a.event("", whole("chat.completion.chunk", "delta", message, nil))
	last := whole("chat.completion.chunk", "delta", object{}, finish)
	last["usage"] = usage
	a.event("", last)
	_, _ = fmt.Fprint(a.w, "data: [DONE]\n\n") // the agent may have gone
}

// messages speaks Anthropic's messages.
func (a answer) messages() {
	block, reason := object{"type": "text", "text": done}, "end_turn"
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": done}
	if a.calls {
		block = object{"type": "tool_use", "id": a.c.id, "name": a.c.name,
			"input": json.RawMessage(a.c.arguments)}
		start = object{"type": "tool_use", "id": a.c.id, "name": a.c.name, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": a.c.arguments}, "tool_use"
	}
	message := object{"id": "msg" + a.id, "type": "message", "role": "assistant", "model": a.model,
		"content":     []any{block},
		"stop_reason": reason, "stop_sequence": nil, "usage": object{"input_tokens": 100,
			"output_tokens": 10}}
	if !a.stream {
		send(a.w, message)
		return
	}
	a.begin()
	message["content"], message["stop_reason"] = []any{}, nil
	a.event("message_start", object{"message": message})
	a.event("content_block_start", object{"index": 0, "content_block": start})
	a.event("content_block_delta", object{"index": 0, "delta": delta})
	a.event("content_block_stop", object{"index": 0})
	a.event("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil},
		"usage": object{"output_tokens": 10}})
	a.event("message_stop", object{})
}

// responses speaks OpenAI's responses.
func (a answer) responses() {
	item := object{"id": "item" + a.id, "type": "message", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": done, "annotations": []any{}}}}
	if a.calls {
		item = object{"id": "item" + a.id, "type": "function_call", "status": "completed",
			"call_id": a.c.id, "name": a.c.name, "arguments": a.c.arguments}
		if a.c.space != "" {
			item["namespace"] = a.c.space
		}
	}
	response := object{"id": "resp" + a.id, "object": "response", "created_at": 1, "model": a.model,
		"status": "completed", "output": []any{item},
		"usage": object{"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens":         10,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 110}}
	if !a.stream {
		send(a.w, response)
		return
	}
	a.begin()
	a.event("response.created", object{"sequence_number": 0,
		"response": object{"id": "resp" + a.id, "object": "response", "status": "in_progress",
			"output": []any{}}})
	a.event("response.output_item.added", object{"sequence_number": 1, "output_index": 0,
		"item": item})
	if !a.calls {
		a.event("response.output_text.delta", object{"sequence_number": 2, "item_id": "item" + a.id,
			"output_index": 0, "content_index": 0, "delta": done})
	}
	a.event("response.output_item.done", object{"sequence_number": 3, "output_index": 0, "item": item})
	a.event("response.completed", object{"sequence_number": 4, "response": response})
}

// gemini speaks Gemini's generateContent.
func (a answer) gemini() {
	part := object{"text": done}
	if a.calls {
		part = object{"functionCall": object{"id": a.c.id, "name": a.c.name,
			"args": json.RawMessage(a.c.arguments)}}
	}
	v := object{"candidates": []any{object{"index": 0,
		"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 10,
			"totalTokenCount": 110}, "modelVersion": a.model}
	if !a.stream {
		send(a.w, v)
		return
	}
	a.begin()
	a.event("", v)
}
