package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// model does random things to the store and to a plain map, and compares them.
func model(t *testing.T, r *rig) {
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		m := &machine{rig: r, prefix: fmt.Sprintf("r%d-", round), have: map[eventlog.ID]*known{}}
		rt.Repeat(rapid.StateMachineActions(m))
		for id := range m.have { // the next round starts empty
			if err := r.Delete(t.Context(), id); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

type known struct {
	eventlog.Summary
	log    []event.Entry
	n      int // order of creation
	active int // when it was active last
}

type machine struct {
	rig    *rig
	prefix string
	have   map[eventlog.ID]*known
	made   int
	acts   int
}

func (m *machine) id(rt *rapid.T) eventlog.ID {
	return eventlog.ID(m.prefix + rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "id"))
}

// Append adds one to three entries, now and then in a wrong place.
func (m *machine) Append(rt *rapid.T) {
	id := m.id(rt)
	k := m.have[id]
	if k == nil {
		k = &known{Summary: eventlog.Summary{ID: id}, n: m.made}
	}
	wrong := rapid.SampledFrom([]int64{0, 0, 0, 0, 1, -1}).Draw(rt, "wrong")
	var entries []event.Entry
	for i := range rapid.Int64Range(1, 3).Draw(rt, "n") {
		seq := k.LastSeq + 1 + i + wrong
		d := rapid.SampledFrom([]event.Data{event.TurnStart{TurnID: "t"}, event.TurnEnd{TurnID: "t"},
			event.SessionTitleChanged{Title: "T" + fmt.Sprint(seq)}}).Draw(rt, "data")
		entries = append(entries, Entry(m.rig.t, seq, d))
	}
	s := Fold(k.Summary, entries)
	err := m.rig.Append(m.rig.t.Context(), id, entries, s)
	if (err != nil) != (wrong != 0) {
		rt.Fatalf("Append off by %d: %v", wrong, err)
	}
	if err == nil {
		s.Pinned, s.DeletedAt = k.Pinned, k.DeletedAt
		k.Summary, k.log = s, append(k.log, entries...)
		m.acts++
		k.active = m.acts
		if m.have[id] == nil {
			m.made++
		}
		m.have[id] = k
	}
}

// Mark pins, unpins, deletes softly or restores.
func (m *machine) Mark(rt *rapid.T) {
	id := m.id(rt)
	var mark sessions.Mark
	if rapid.Bool().Draw(rt, "pin") {
		mark.Pinned = ptr(rapid.Bool().Draw(rt, "pinned"))
	} else {
		mark.DeletedAt = ptr(rapid.SampledFrom([]time.Time{{}, epoch}).Draw(rt, "deleted"))
	}
	err := m.rig.Mark(m.rig.t.Context(), id, mark)
	k := m.have[id]
	if (err == nil) != (k != nil) {
		rt.Fatalf("Mark: %v", err)
	}
	if k == nil {
		return
	}
	if mark.Pinned != nil {
		k.Pinned = *mark.Pinned
	}
	if mark.DeletedAt != nil {
		k.DeletedAt = *mark.DeletedAt
	}
}

// Delete removes for good.
func (m *machine) Delete(rt *rapid.T) {
	id := m.id(rt)
	if err := m.rig.Delete(m.rig.t.Context(), id); err != nil {
		rt.Fatal(err)
	}
	delete(m.have, id)
}

// Check compares logs and lists after each step.
func (m *machine) Check(rt *rapid.T) {
	var all []*known
	for id, k := range m.have {
		all = append(all, k)
		got := m.rig.all(id)
		if len(got) != len(k.log) {
			rt.Fatalf("session %s has %d entries, want %d", id, len(got), len(k.log))
		}
		for i := range got {
			if got[i].Seq != int64(i+1) || string(got[i].JSON) != string(k.log[i].JSON) {
				rt.Fatalf("session %s, entry %d: %s", id, i+1, got[i].JSON)
			}
		}
	}
	slices.SortFunc(all, func(a, b *known) int { return cmp.Compare(a.n, b.n) })
	names := func(keep func(*known) bool) string {
		var ids []string
		for _, k := range all {
			if keep(k) {
				ids = append(ids, string(k.ID))
			}
		}
		return strings.Join(ids, " ")
	}
	if got, want := m.rig.list(sessions.Query{Kind: sessions.QueryUnfinished, Limit: 2}),
		names(func(k *known) bool { return k.Unfinished() }); got != want {
		rt.Fatalf("unfinished: %q, want %q", got, want)
	}
	if got, want := m.rig.list(sessions.Query{Kind: sessions.QueryDeleted, Limit: 1}),
		names(func(k *known) bool { return !k.DeletedAt.IsZero() }); got != want {
		rt.Fatalf("deleted: %q, want %q", got, want)
	}
	slices.SortStableFunc(all, func(a, b *known) int {
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.active, a.active)
	})
	if got, want := m.rig.list(sessions.Query{Limit: 2}), names(func(k *known) bool {
		return k.DeletedAt.IsZero()
	}); got != want {
		rt.Fatalf("list: %q, want %q", got, want)
	}
}
