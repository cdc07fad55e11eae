package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"webchat/internal/strictjson"
)

// MaxArguments is how many bytes the arguments of a call may have.
const MaxArguments = 1 << 20

// Arguments returns raw as a JSON object, or why it is none that a tool may
// see. A key that occurs twice, or again in another case, in any object of it is
// refused: decoders disagree about which one counts.
func CleanArguments(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if len(raw) > MaxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes, the limit is %d", len(raw), MaxArguments)
	}
	if err := strictjson.Object(raw); err != nil {
		return nil, errors.New(strictjson.Say("the arguments", err))
	}
	return strictjson.Whole(raw), nil
}

// Loggable returns arguments as they can be logged: text that is not JSON becomes a
// string, what is too long is cut.
func LoggableArguments(raw json.RawMessage) json.RawMessage {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return json.RawMessage("{}")
	case len(raw) > MaxArguments:
		raw = raw[:1024]
	case json.Valid(raw):
		return raw
	}
	b, err := json.Marshal(strings.ToValidUTF8(string(raw), "�"))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
