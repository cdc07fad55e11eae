package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/txtar"

	"webchat/internal/event"
)

func golden(t testing.TB, name string) [][]byte {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(a.Files[0].Data, []byte("\n")), []byte("\n"))
}

func TestGoldenLinesComeBackByteForByte(t *testing.T) {
	for _, name := range []string{"known.txtar", "unknown.txtar", "extra.txtar"} {
		for _, line := range golden(t, name) {
			e, err := event.Unmarshal(line)
			if err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
				continue
			}
			back, err := event.Marshal(e)
			if err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
			if !bytes.Equal(back, line) {
				t.Errorf("%s:\n got %s\nwant %s", name, back, line)
			}
		}
	}
}

func TestGoldenLogHoldsEveryType(t *testing.T) {
	seen := map[event.Type]bool{}
	for _, line := range golden(t, "known.txtar") {
		e, err := event.Unmarshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, unknown := e.Data.(event.Unknown); unknown {
			t.Errorf("%s is not a known type", e.Type())
		}
		if e.Ephemeral == event.Logged(e.Data) {
			t.Errorf("%s: ephemeral %v, logged %v", e.Type(), e.Ephemeral, event.Logged(e.Data))
		}
		seen[e.Type()] = true
	}
	for _, d := range event.Known() {
		if !seen[event.TypeOf(d)] {
			t.Errorf("no golden line for %s", event.TypeOf(d))
		}
	}
}

func TestUnknownKeepsNameAndEphemeral(t *testing.T) {
	e, err := event.Unmarshal(golden(t, "unknown.txtar")[1])
	if err != nil {
		t.Fatal(err)
	}
	if e.Type() != "x" || event.Logged(e.Data) || !e.Ephemeral || e.ParentID != "0" {
		t.Errorf("decoded %+v", e)
	}
}

func TestMalformedIsRefused(t *testing.T) {
	a, err := txtar.ParseFile("testdata/malformed.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if e, err := event.Unmarshal(bytes.TrimSpace(f.Data)); !errors.Is(err, event.ErrMalformed) {
			t.Errorf("%s: decoded %+v, error %v", f.Name, e, err)
		}
	}
}

func TestNewStampsInOrder(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	a := event.New(event.SessionIdle{}, "", now)
	b := event.New(event.Abort{Reason: "x"}, a.ID, now)
	if !a.Ephemeral || b.Ephemeral {
		t.Errorf("ephemeral: idle %v, abort %v", a.Ephemeral, b.Ephemeral)
	}
	if a.ID >= b.ID {
		t.Errorf("ids do not sort by age: %s, %s", a.ID, b.ID)
	}
	if u, err := uuid.Parse(string(a.ID)); err != nil || u.Version() != 7 {
		t.Errorf("id %s: %v, version %d", a.ID, err, u.Version())
	}
	line, err := event.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"` + string(b.ID) + `","timestamp":"2026-11-20T11:00:00.000Z","parentId":"` +
		string(a.ID) +
		`","type":"abort","data":{"reason":"x"}}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

// Each struct must have the field Extra, and json names for all others: the
// codec relies on both.
func TestShapesOfKnownTypes(t *testing.T) {
	for _, d := range event.Known() {
		rt := reflect.TypeOf(d)
		if f, ok := rt.FieldByName("Extra"); !ok || f.Type != reflect.TypeFor[event.Extra]() {
			t.Errorf("%s has no Extra", rt)
		}
		for i := range rt.NumField() {
			if f := rt.Field(i); f.Tag.Get("json") == "" {
				t.Errorf("%s.%s has no json name", rt, f.Name)
			}
		}
	}
}

func TestExtraNeverOverridesAField(t *testing.T) {
	e := event.New(event.Abort{
		Reason: "real",
		Extra:  event.Extra{"reason": json.RawMessage(`"forged"`)},
	}, "", time.Now())
	line, err := event.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(line), "forged") {
		t.Errorf("an extra field stands beside a known one: %s", line)
	}
}

// FuzzUnmarshal: whatever is accepted is stable, one type, valid JSON; what is
// unknown is kept byte for byte.
func FuzzUnmarshal(f *testing.F) {
	for _, name := range []string{"known.txtar", "unknown.txtar", "extra.txtar"} {
		for _, line := range golden(f, name) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := event.Unmarshal(b)
		if err != nil {
			if !errors.Is(err, event.ErrMalformed) {
				t.Fatalf("foreign error %v", err)
			}
			return
		}
		// Behind a space it is no line of a log, which is decoded by a shorter way.
		long, err := event.Unmarshal(append([]byte(" "), b...))
		_, unknown := e.Data.(event.Unknown)
		if err != nil || !unknown && !reflect.DeepEqual(e, long) {
			t.Fatalf("%q is %+v by one way and %+v by the other: %v", b, e, long, err)
		}
		once, err := event.Marshal(e)
		if err != nil {
			t.Fatalf("accepted but not encoded: %v", err)
		}
		if unknown {
			if !bytes.Equal(once, b) {
				t.Fatalf("unknown type changed:\n got %q\nfrom %q", once, b)
			}
			return
		}
		again, err := event.Unmarshal(once)
		if err != nil {
			t.Fatalf("own encoding refused: %v\n%s", err, once)
		}
		if twice, _ := event.Marshal(again); !bytes.Equal(once, twice) {
			t.Fatalf("not stable:\n%s\n%s", once, twice)
		}
		if bytes.ContainsAny(once, "\n\r") {
			t.Fatalf("more than one line: %q", once)
		}
	})
}

func BenchmarkMarshalDelta(b *testing.B) {
	e := event.New(event.AssistantMessageDelta{
		MessageID:    "m",
		Offset:       120,
		DeltaContent: "twenty characters ok",
	}, event.NewID(), time.Now())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}

func TestProgressOfAnOutputAlwaysHasItsNumbers(t *testing.T) {
	for _, c := range []struct {
		data event.Data
		want string
	}{
		{event.ToolExecutionProgress{ToolCallID: "c", OutputID: "o"},
			`{"toolCallId":"c","outputId":"o","bytes":0,"lines":0,"elapsedMs":0}`},
		{event.ToolExecutionProgress{ToolCallID: "c", ProgressMessage: "half"},
			`{"toolCallId":"c","progressMessage":"half"}`},
		{event.ToolExecutionProgress{
			ToolCallID: "c",
			OutputID:   "o",
			Extra:      event.Extra{"x": json.RawMessage(`1`)},
		},
			`{"toolCallId":"c","outputId":"o","bytes":0,"lines":0,"elapsedMs":0,"x":1}`},
	} {
		b, err := event.Marshal(event.New(c.data, "", time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(b, []byte(`"data":`+c.want+"}")) {
			t.Errorf("got %s\nwant %s", b, c.want)
		}
	}
}

// The envelope is what encoding/json makes of it, whatever an id holds.
func TestEnvelopeIsPlainJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	for _, id := range []event.ID{"", "01990000-0000-7000-8000-00000000000a", `<"é> `} {
		for _, d := range []event.Data{event.TurnStart{TurnID: "<t>", MessageID: "m"},
			event.AssistantMessageDelta{MessageID: "m", DeltaContent: "a\u2028b"},
			event.TurnStart{TurnID: "t", Extra: event.Extra{"more": json.RawMessage(`"<x>"`)}}} {
			e := event.New(d, id, at.Add(time.Duration(len(id))*time.Microsecond))
			e.ID = id
			got, err := event.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var w struct {
				ID        string          `json:"id"`
				Timestamp event.Time      `json:"timestamp"`
				ParentID  *string         `json:"parentId"`
				Ephemeral bool            `json:"ephemeral,omitempty"`
				Type      string          `json:"type"`
				Data      json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal(got, &w); err != nil || w.ID != string(id) ||
				(w.ParentID == nil) != (id == "") || w.Type != string(e.Type()) {
				t.Fatalf("%s: %+v, %v", got, w, err)
			}
			if want, err := json.Marshal(w); err != nil || string(got) != string(want) {
				t.Errorf("got  %s\nwant %s (%v)", got, want, err)
			}
		}
	}
}
