package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// ErrMalformed is wrapped by every error of [Unmarshal].
var ErrMalformed = errors.New("malformed event")

// wire is the envelope as it travels.
type wire struct {
	ID        ID              `json:"id"`
	Timestamp Time            `json:"timestamp"`
	ParentID  *ID             `json:"parentId"`
	Ephemeral bool            `json:"ephemeral,omitempty"`
	Type      Type            `json:"type"`
	Data      json.RawMessage `json:"data"`
}

// Marshal encodes e as one JSON object. The result is one line unless e was decoded from several
// and is of an unknown type.
func Marshal(e Event) ([]byte, error) {
	if e.raw != nil {
		return slices.Clone(e.raw), nil
	}
	data, plain, err := marshalData(e.Data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type(), err)
	}
	if plain && isPlain(string(e.ID)) && isPlain(string(e.ParentID)) {
		return envelope(e, data), nil
	}
	w := wire{
		ID:        e.ID,
		Timestamp: Time(e.Timestamp),
		Ephemeral: e.Ephemeral,
		Type:      e.Type(),
		Data:      data,
	}
	if e.ParentID != "" {
		w.ParentID = &e.ParentID
	}
	return json.Marshal(w)
}

// envelope writes what json.Marshal makes of a wire, without reading data, which may be long,
// again.
func envelope(e Event, data []byte) []byte {
	b := make([]byte, 0, len(data)+200)
	b = append(append(b, `{"id":"`...), e.ID...)
	b = Time(e.Timestamp).append(append(b, `","timestamp":"`...))
	if b = append(b, `","parentId":`...); e.ParentID == "" {
		b = append(b, "null"...)
	} else {
		b = append(append(append(b, '"'), e.ParentID...), '"')
	}
	if e.Ephemeral {
		b = append(b, `,"ephemeral":true`...)
	}
	b = append(append(b, `,"type":"`...), e.Type()...)
	return append(append(append(b, `","data":`...), data...), '}')
}

// isPlain reports whether JSON writes an id as it is.
func isPlain(id string) bool {
	for i := range len(id) {
		c := id[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// Unmarshal decodes one JSON object. It refuses an envelope with other fields than its own, and
// data of a known type that does not have that type's shape. The result keeps no reference to b.
func Unmarshal(b []byte) (Event, error) {
	if e, ok := unmarshalLine(b); ok {
		return e, nil
	}
	var w wire
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return Event{}, fmt.Errorf("%w: %d bytes after the object", ErrMalformed, len(rest))
	}
	switch {
	case w.Type == "":
		return Event{}, fmt.Errorf("%w: no type", ErrMalformed)
	case w.ID == "":
		return Event{}, fmt.Errorf("%w: no id", ErrMalformed)
	case !isObject(w.Data):
		return Event{}, fmt.Errorf("%w: %s: data is not an object", ErrMalformed, w.Type)
	}
	e := Event{ID: w.ID, Timestamp: time.Time(w.Timestamp), Ephemeral: w.Ephemeral}
	if w.ParentID != nil {
		e.ParentID = *w.ParentID
	}
	k := byName[w.Type]
	if k == nil {
		e.Data = Unknown{Name: w.Type, Ephemeral: w.Ephemeral, JSON: w.Data}
		e.raw = slices.Clone(b)
		return e, nil
	}
	data, err := k.read(w.Data)
	if err != nil {
		return Event{}, fmt.Errorf("%w: %s: %w", ErrMalformed, w.Type, err)
	}
	e.Data = data
	return e, nil
}

// unmarshalLine decodes an event of a known type in an envelope as [envelope] writes it, which is
// that of each line of a log: its data is read once. False: [Unmarshal] has to judge it.
func unmarshalLine(b []byte) (Event, bool) {
	b, ok := bytes.CutPrefix(b, []byte(`{"id":"`))
	id, b, inID := bytes.Cut(b, []byte(`","timestamp":"`))
	stamp, b, inStamp := bytes.Cut(b, []byte(`","parentId":`))
	if !ok || !inID || !inStamp || len(id) == 0 || !isPlain(string(id)) {
		return Event{}, false
	}
	var parent []byte
	if b, ok = bytes.CutPrefix(b, []byte("null")); !ok {
		if b, ok = bytes.CutPrefix(b, []byte(`"`)); !ok {
			return Event{}, false
		}
		if parent, b, ok = bytes.Cut(b, []byte(`"`)); !ok || !isPlain(string(parent)) {
			return Event{}, false
		}
	}
	b, ephemeral := bytes.CutPrefix(b, []byte(`,"ephemeral":true`))
	b, ok = bytes.CutPrefix(b, []byte(`,"type":"`))
	name, b, inName := bytes.Cut(b, []byte(`","data":`))
	k := byName[Type(name)]
	raw, whole := bytes.CutSuffix(b, []byte("}"))
	at, err := parseTime(string(stamp))
	if !ok || !inName || k == nil || !whole || !isObject(raw) || err != nil {
		return Event{}, false
	}
	data, err := k.read(raw)
	return Event{ID: ID(id), Timestamp: at, ParentID: ID(parent), Ephemeral: ephemeral, Data: data},
		err == nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// read decodes data, with the fields that the type does not have in its Extra.
func (k *kind) read(raw json.RawMessage) (Data, error) {
	if k.hasAll(raw) {
		return k.decode(raw, nil)
	}
	var fields Extra
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool {
		_, known := k.keys[name]
		return known
	})
	if len(fields) == 0 {
		fields = nil
	}
	return k.decode(raw, fields)
}

// hasAll reports whether all names of an object are of fields of k; what it reports of a name with
// escapes, or of text that is not JSON, is for decoding to judge.
func (k *kind) hasAll(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			begin := i + 1
			for i = begin; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth > 1 || i >= len(raw) {
				continue
			}
			if rest := bytes.TrimLeft(raw[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
				if _, known := k.keys[string(raw[begin:i])]; !known {
					return false
				}
			}
		}
	}
	return true
}

// marshalData appends what is in Extra behind the fields of the struct. plain says that there is
// nothing of that kind: the bytes are what json.Marshal writes.
func marshalData(d Data) (b json.RawMessage, plain bool, err error) {
	if u, ok := d.(Unknown); ok {
		return u.JSON, false, nil
	}
	if b, err = json.Marshal(d); err != nil {
		return nil, false, err
	}
	extra := d.more()
	if len(extra) == 0 {
		return b, true, nil
	}
	known := byType[reflect.TypeOf(d)].keys
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		if _, own := known[k]; own {
			continue
		}
		name, err := json.Marshal(k)
		if err != nil {
			return nil, false, err
		}
		b = b[:len(b)-1]
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, name...), ':'), extra[k]...), '}')
	}
	return b, false, nil
}

// Time is a time as it travels: RFC 3339 in UTC with at least milliseconds.
type Time time.Time

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	p, err := parseTime(s)
	if err == nil {
		*t = Time(p)
	}
	return err
}

func parseTime(s string) (time.Time, error) {
	p, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return p, fmt.Errorf("time %q is not RFC 3339", s)
	}
	if p = p.UTC(); p.Year() < 0 || p.Year() > 9999 {
		return p, fmt.Errorf("time %q is out of range", s)
	}
	return p, nil
}

// String returns t as it travels.
func (t Time) String() string { return string(t.append(nil)) }

func (t Time) append(to []byte) []byte {
	u := time.Time(t).UTC()
	if u.Nanosecond()%int(time.Millisecond) == 0 {
		return u.AppendFormat(to, "2006-01-02T15:04:05.000Z07:00")
	}
	return u.AppendFormat(to, time.RFC3339Nano)
}

// Canonical returns JSON with its keys in order and without spaces, so that two texts of the same
// value are equal; what is not JSON stays as it is.
func Canonical(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}
