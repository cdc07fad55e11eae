package sse

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lines is what a client makes of data: every line end becomes LF. A reader of a
// stream cannot see NUL or broken UTF-8 differently from what they are, since the
// test's parser, unlike a browser, keeps bytes.
func lines(data string) string {
	return strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n")
}

func FuzzFrame(f *testing.F) {
	for _, data := range []string{
		"", "{}", ":", ": ping", "data: x", "a\nb", "a\r\nb", "a\rb", "a\n\nid: 9\n\n", "\n", "\r",
		"\r\n", "\n\r", " x", "\xef\xbb\xbf", "\x00",
		"\n\nevent: permission\ndata:{}", "\xff\xfe", "id:\n", "retry: 1\n",
	} {
		f.Add(int64(7), "", data, "next")
		f.Add(int64(0), data, "x", data)
	}
	f.Fuzz(func(t *testing.T, id int64, event, data, second string) {
		frames := []Frame{{ID: id, Pos: 1, Event: event, Data: []byte(data)},
			{Pos: 2, Data: []byte(second)}}
		var wire []byte
		for _, f := range frames {
			wire = appendFrame(wire, f)
		}
		// The way through r3labs changes nothing.
		if live := throughFanOut(t, frames, 0); !bytes.Equal(live, wire) {
			t.Fatalf("r3labs gives %q, frames %q", live, wire)
		}
		if live := throughFanOut(t, frames, 1); !bytes.Equal(live, appendFrame(nil, frames[1])) {
			t.Fatalf("after 1: %q", live)
		}
		var want []got
		lastID := ""
		if id > 0 {
			lastID = strconv.FormatInt(id, 10)
		}
		if data != "" {
			name := strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(event)
			want = append(want, got{name: name, data: lines(data), lastID: lastID})
		}
		if second != "" {
			want = append(want, got{data: lines(second), lastID: lastID})
		}
		all, err := newParser(bytes.NewReader(append([]byte("retry: 1\n\n"), wire...))).rest()
		if err != io.EOF || len(all) != len(want) {
			t.Fatalf("%q was read as %+v, want %+v", wire, all, want)
		}
		for i := range want {
			if all[i] != want[i] {
				t.Fatalf("%q was read as %+v, want %+v", wire, all[i], want[i])
			}
		}
	})
}

// throughFanOut is what a client is to write of frames when its replay held all up to
// pos.
func throughFanOut(t *testing.T, frames []Frame, pos int64) (all []byte) {
	h := newHub(t, Config{})
	ctx, leave := context.WithCancel(t.Context())
	l := h.acquire("a")
	s, left := l.subscribe(ctx, nil)
	defer func() { leave(); <-left; h.release(l) }()
	l.publish(frames)
	l.publishEnd()
	for {
		text, end := s.take(pos)
		switch {
		case end:
			return all
		case len(text) == 0:
			receive(t, s.wake)
		}
		all = append(all, text...)
	}
}

// What was published before a client joined may reach it late through the fan-out. It
// was in the past that the client's replay looked at, also when it has no Pos.
func TestRecordsFromBeforeTheJoinAreLeftOut(t *testing.T) {
	var records []byte
	from := 0
	for i, data := range []string{"a", "b", "c", "d"} {
		if i == 2 {
			from = len(records)
		}
		records = appendRecord(records, int64(len(records)), Frame{Data: []byte(data)})
	}
	text, end := appendLive(nil, records, int64(from), 0)
	if want := "data: c\n\ndata: d\n\n"; string(text) != want || end != int64(len(records)) {
		t.Errorf("%q up to %d, want %q up to %d", text, end, want, len(records))
	}
}

func TestFrameThatOnlyMovesTheID(t *testing.T) {
	wire := appendFrame(nil, Frame{ID: 41, Event: "x"})
	p := newParser(bytes.NewReader(append(wire, appendFrame(nil, Frame{Data: []byte("y")})...)))
	if all, _ := p.rest(); len(all) != 1 || all[0] != (got{data: "y", lastID: "41"}) {
		t.Fatalf("%+v", all)
	}
}

func TestRetryIsNeverZero(t *testing.T) {
	// With a retry of 0 a browser reconnects some 17 times a second.
	if got := string(appendRetry(nil, time.Nanosecond)); got != "retry: 1\n\n" {
		t.Errorf("%q", got)
	}
}

// The parser that all tests here trust, by the standard's own examples and rules.
func TestParser(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []got
	}{
		"examples": {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  " +
			"third event\n\n", []got{{"", "first event", "1"}, {"", "second event", ""}, {"", " third event", ""}}},
		"two lines":    {"data: YHOO\ndata: +2\ndata: 10\n\n", []got{{"", "YHOO\n+2\n10", ""}}},
		"empty data":   {"data\n\ndata\ndata\n\ndata:", []got{{"", "", ""}, {"", "\n", ""}}},
		"line ends":    {"data: a\rdata: b\r\ndata: c\n\r\n", []got{{"", "a\nb\nc", ""}}},
		"byte order":   {"\xef\xbb\xbfdata: a\n\n", []got{{"", "a", ""}}},
		"cut":          {"data: a\n\ndata: b\n", []got{{"", "a", ""}}},
		"cut id":       {"id: 1\ndata: a\n\nid: 2\n", []got{{"", "a", "1"}}},
		"id alone":     {"id: 3\n\ndata: a\n\n", []got{{"", "a", "3"}}},
		"NUL in id":    {"id: 1\n\nid: 2\x003\ndata: a\n\n", []got{{"", "a", "1"}}},
		"event resets": {"event: x\n\ndata: a\n\n", []got{{"", "a", ""}}},
		"unknown":      {"foo: x\nevent: y\ndata: a\n\n", []got{{"y", "a", ""}}},
	} {
		all, err := newParser(oneByte{strings.NewReader(c.stream)}).rest()
		if err != io.EOF || len(all) != len(c.want) {
			t.Errorf("%s: %+v, %v", name, all, err)
			continue
		}
		for i := range all {
			if all[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", name, all[i], c.want[i])
			}
		}
	}
}

// oneByte hands out one byte at a time, as a network may.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
