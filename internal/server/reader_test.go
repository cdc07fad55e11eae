package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

type frame struct {
	id   string // empty: no id line
	of   string // the event line: whose part it is
	data string
	kind string // of the event in data
}

type reader struct {
	t      *testing.T
	res    *http.Response
	lines  *bufio.Reader
	cancel context.CancelCauseFunc
	silent *time.Timer // ends the stream
}

// patience is how long is waited for what has to come next.
const patience = 2 * time.Minute

var errSilent = errors.New("the stream is silent")

func (h *house) open(t *testing.T, method, path, body string, header ...string) *reader {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	req := h.request(method, path, body, append(header,
		"Accept: text/event-stream")...).WithContext(ctx)
	res, err := h.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, res: res, lines: bufio.NewReader(res.Body), cancel: cancel}
	r.silent = time.AfterFunc(patience, func() { cancel(errSilent) })
	t.Cleanup(r.close)
	return r
}

func (r *reader) close() { r.silent.Stop(); r.cancel(nil); _ = r.res.Body.Close() }

func (r *reader) next() (frame, bool) {
	r.t.Helper()
	r.silent.Reset(patience)
	var f frame
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, errSilent) {
				r.t.Fatal(err)
			}
			return frame{}, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.of = value
		case "data":
			f.data += value
		case "":
			if f.data == "" {
				f = frame{}
				continue
			}
			var e struct{ Type string }
			if err := json.Unmarshal([]byte(f.data), &e); err != nil {
				r.t.Fatalf("%q: %v", f.data, err)
			}
			f.kind = e.Type
			return f, true
		}
	}
}

func (r *reader) until(kind string) (all []frame) {
	r.t.Helper()
	for {
		f, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended before %s, after %v", kind, kinds(all))
		}
		if all = append(all, f); f.kind == kind {
			return all
		}
	}
}

func kinds(all []frame) (list []string) {
	for _, f := range all {
		list = append(list, f.kind)
	}
	return list
}

func (h *house) session(t testing.TB) (id, path string) {
	t.Helper()
	if h.owner != nil {
		return h.owner.session(t)
	}
	_, body := h.do("POST", "/api/sessions", "{}")
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(body), &one); err != nil || one.ID == "" {
		t.Fatalf("%s: %v", body, err)
	}
	if h.resident != nil {
		h.resident.town.own(one.ID, h.resident.number)
	}
	return one.ID, "/api/sessions/" + one.ID
}

func (h *house) say(t *testing.T, path, content string) {
	t.Helper()
	b, _ := json.Marshal(map[string]string{"content": content})
	if res, body := h.do("POST", path+"/messages?wait=true", string(b)); res.StatusCode != 200 {
		t.Fatalf("%s: %d %s", content, res.StatusCode, body)
	}
}

func (h *house) logOf(t *testing.T, path string) (all []frame) {
	t.Helper()
	_, body := h.do("GET", path+"/events?limit=5000", "")
	var list struct{ Events []json.RawMessage }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	for i, e := range list.Events {
		all = append(all, frame{id: strconv.Itoa(i + 1), data: string(e)})
	}
	return all
}

func checkLogged(t *testing.T, who string, got, log []frame, after int) {
	t.Helper()
	var kept []frame
	for _, f := range got {
		if !strings.Contains(f.data, `"ephemeral":true`) {
			kept = append(kept, frame{id: f.id, data: f.data})
		}
	}
	want := log[after:]
	if len(kept) > len(want) {
		t.Fatalf("%s: %d logged events, the log has %d", who, len(kept), len(want))
	}
	for i := range kept {
		if kept[i] != want[i] {
			t.Fatalf("%s: frame %d is\n%v\nwant\n%v", who, i, kept[i], want[i])
		}
	}
	if n := len(kept); n > 0 && kept[n-1].id != want[n-1].id {
		t.Errorf("%s ends at %s", who, kept[n-1].id)
	}
}
