package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// checkArguments returns raw as a JSON object, or why it is none that a tool may
// see. A key that occurs twice, or again in another case, in any object of it is
// refused: decoders disagree about which one counts.
func checkArguments(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if len(raw) > MaxArguments {
		return nil, fmt.Errorf("the arguments have %d bytes, the limit is %d", len(raw), MaxArguments)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if raw[0] != '{' {
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err := checkKeys(dec); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("the arguments are more than one JSON object")
	}
	return raw, nil
}

// level is one object or array around the place a walk has reached.
type level struct {
	keys  map[string]string // of an object: folded to as written; nil: an array
	isKey bool              // the next token is a key
}

// checkKeys walks the tokens of one value.
func checkKeys(dec *json.Decoder) error {
	var stack []level
	for {
		t, err := dec.Token()
		if err != nil {
			return fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
		top := len(stack) - 1
		switch {
		case t == json.Delim('{'):
			stack = append(stack, level{keys: map[string]string{}, isKey: true})
			continue
		case t == json.Delim('['):
			stack = append(stack, level{})
			continue
		case t == json.Delim('}') || t == json.Delim(']'):
			stack = stack[:top]
			top--
		case stack[top].isKey:
			key := t.(string)
			folded := foldKey(key)
			if before, twice := stack[top].keys[folded]; twice {
				return fmt.Errorf("the arguments name %q twice (as %q): each key once, in one case", key, before)
			}
			stack[top].keys[folded] = key
			stack[top].isKey = false
			continue
		}
		if top < 0 {
			return nil
		}
		stack[top].isKey = stack[top].keys != nil // a value ended
	}
}

// foldKey maps keys that a decoder may take for one another to the same string.
func foldKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}

// loggable returns arguments as they can be logged: what is no JSON becomes a
// string, what is too long is cut.
func loggable(raw json.RawMessage) json.RawMessage {
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
