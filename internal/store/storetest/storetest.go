// Package storetest holds what every store of sessions guarantees, as a
// test any store runs: exact bytes, sequences without holes, one transaction
// for entries and row, lists that page without loss, and nothing half done when
// a context ends.
//
//	func TestMemory(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
//			m := storetest.NewMemory()
//			return m, func() storetest.Store { return m }
//		})
//	}
package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// Store is what is tested.
type Store interface {
	eventlog.Store
	sessions.Catalog
	eventlog.Drafts
}

// Maker returns an empty store and a func that closes it and opens it again
// with what it held. The maker closes it at the end of t.
type Maker func(t testing.TB) (s Store, reopen func() Store)

// parts are what a store is tested for, by name.
var parts = map[string]func(*testing.T, *rig){
	"ExactBytes":       exactBytes,
	"After":            after,
	"Sequences":        sequences,
	"Refusals":         refusals,
	"SummaryComesBack": summaryComesBack,
	"MarksStay":        marksStay,
	"NotFound":         notFound,
	"ListOrder":        listOrder,
	"ListPages":        listPages,
	"ListCursors":      listCursors,
	"ListText":         listText,
	"ListKinds":        listKinds,
	"ListFilters":      listFilters,
	"ListUsers":        listUsers,
	"Search":           search,
	"SearchPages":      searchPages,
	"SearchMany":       searchMany,
	"Delete":           deletion,
	"Drafts":           drafts,
	"Concurrent":       concurrent,
	"Cancel":           cancel,
	"OddTexts":         oddTexts,
	"Model":            model,
}

// Run tests the stores of mk, a fresh one for each subtest. notNext is the
// error a store wraps when entries do not go on from the last one.
func Run(t *testing.T, mk Maker, notNext error) {
	for name, f := range parts {
		t.Run(name, func(t *testing.T) {
			s, reopen := mk(t)
			f(t, &rig{t: t, Store: s, reopen: reopen, notNext: notNext})
		})
	}
}

// rig is one store under test.
type rig struct {
	t *testing.T
	Store
	reopen  func() Store
	notNext error
}

// again goes on with the store after it was closed and opened, as the one who has all sessions.
func (r *rig) again() {
	r.t.Helper()
	r.Store = r.reopen()
	shared, ok := r.Store.(sessions.Owners)
	if !ok {
		return
	}
	for _, kind := range []sessions.QueryKind{sessions.QueryPresent, sessions.QueryDeleted} {
		for id := range strings.FieldsSeq(r.list(sessions.Query{Kind: kind})) {
			if err := shared.Take(r.t.Context(), eventlog.ID(id)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 6_789_000, time.UTC)

// Entry returns a logged entry as the session would make it, at epoch plus seq
// seconds.
func Entry(t testing.TB, seq int64, d event.Data) event.Entry {
	t.Helper()
	e := event.New(d, "", epoch.Add(time.Duration(seq)*time.Second))
	b, err := event.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return event.Entry{Seq: seq, Pos: seq * 10, Event: e, JSON: b}
}

// Start returns the first entries of a session's log and its summary.
func Start(t testing.TB, id eventlog.ID, n int64) ([]event.Entry, eventlog.Summary) {
	t.Helper()
	entries := []event.Entry{Entry(t, 1, event.SessionStart{
		SessionID: string(id),
		Backend:   "offline",
		Title:     "Title of " + string(id),
	})}
	for seq := int64(2); seq <= n; seq++ {
		entries = append(entries, Entry(t, seq, event.AssistantMessage{
			MessageID: fmt.Sprint("m", seq),
			Content:   "wörds 🚀 <>&\u2028",
		}))
	}
	return entries, Fold(eventlog.Summary{}, entries)
}

// Fold folds entries into s.
func Fold(s eventlog.Summary, entries []event.Entry) eventlog.Summary {
	for _, e := range entries {
		s = eventlog.Summarize(s, e)
	}
	return s
}

// begin makes a session with n entries.
func (r *rig) begin(id eventlog.ID, n int64) eventlog.Summary {
	r.t.Helper()
	entries, s := Start(r.t, id, n)
	if err := r.Append(r.t.Context(), id, entries, s); err != nil {
		r.t.Fatalf("Append: %v", err)
	}
	return s
}

// add appends one event.
func (r *rig) add(s eventlog.Summary, d event.Data) eventlog.Summary {
	r.t.Helper()
	e := Entry(r.t, s.LastSeq+1, d)
	s = eventlog.Summarize(s, e)
	if err := r.Append(r.t.Context(), s.ID, []event.Entry{e}, s); err != nil {
		r.t.Fatalf("Append: %v", err)
	}
	return s
}

// all returns the whole log of a session.
func (r *rig) all(id eventlog.ID) []event.Entry {
	r.t.Helper()
	entries, err := r.After(r.t.Context(), id, 0, 1_000_000)
	if err != nil {
		r.t.Fatalf("After: %v", err)
	}
	return entries
}

// same compares what was appended with what came back.
func (r *rig) same(got, want []event.Entry) {
	r.t.Helper()
	if len(got) != len(want) {
		r.t.Fatalf("%d entries came back, %d were appended", len(got), len(want))
	}
	for i := range want {
		if got[i].Seq != want[i].Seq || string(got[i].JSON) != string(want[i].JSON) || got[i].Pos != 0 ||
			got[i].Event.Type() != want[i].Event.Type() || got[i].Event.ID != want[i].Event.ID {
			r.t.Errorf("entry %d came back as\n%+v\nwant\n%+v", i, got[i], want[i])
		}
	}
}

// list returns the ids of all pages of a query.
func (r *rig) list(q sessions.Query) string {
	r.t.Helper()
	var ids []string
	for pages := 0; pages < 100; pages++ {
		p, err := r.List(r.t.Context(), q)
		if err != nil {
			r.t.Fatalf("List(%+v): %v", q, err)
		}
		if q.Limit > 0 && (len(p.Sessions) > q.Limit || p.Cursor != "" && len(p.Sessions) < q.Limit) {
			r.t.Errorf("a page of %d holds %d sessions and has the cursor %q", q.Limit, len(p.Sessions),
				p.Cursor)
		}
		for _, s := range p.Sessions {
			ids = append(ids, string(s.ID))
		}
		if p.Cursor == "" {
			return strings.Join(ids, " ")
		}
		q.Cursor = p.Cursor
	}
	r.t.Fatal("the pages do not end")
	return ""
}

func ptr[T any](v T) *T { return &v }
