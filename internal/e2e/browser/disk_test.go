package browser

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store"
	"webchat/internal/store/storetest"
)

// fillable is a store whose disk can be full.
type fillable struct {
	*storetest.Memory
	full atomic.Bool
}

func (f *fillable) Append(ctx context.Context, id eventlog.ID, entries []event.Entry, s eventlog.Summary) error {
	if err := f.Writable(ctx, 0); err != nil {
		return err
	}
	return f.Memory.Append(ctx, id, entries, s)
}

func (f *fillable) Writable(context.Context, int) error {
	if f.full.Load() {
		return store.ErrFull
	}
	return nil
}

// A full disk: pages say so while it lasts, what was typed stays where it is, and
// what is looked at opens all the same.
func TestFullDiskKeepsWhatWasTyped(t *testing.T) {
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.site.workspace, "go.mod"), []byte("module demo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const trouble = `!document.getElementById('trouble').hidden && document.getElementById('trouble').textContent.includes('the disk is full. Free some space')`
	const calm = `document.getElementById('trouble').hidden`
	id := h.session(t)
	home := h.site.open("/")
	home.live()
	h.disk.full.Store(true)
	if status := h.status(t, "POST", "/api/sessions/"+id+"/messages", []byte(`{"content":"hi"}`)); status != 503 {
		t.Errorf("a prompt on a full disk: %d", status)
	}
	home.wait(trouble)
	h.disk.full.Store(false)
	home.wait(calm)

	p := h.site.open("/sessions/" + id)
	h.disk.full.Store(true)
	p.expect("503", "Failed to load resource")
	p.say("hello")
	p.has(".toast[data-how=fail]", "nothing was changed: the disk is full. Free some space, then try again.")
	p.is(prompt+`.value`, "hello")
	p.wait(trouble)
	p.shots("full")
	p.js(`document.getElementById('prompt').value = ''`)
	p.say("/show go.mod")
	p.has(".toast[data-how=ask]", "Shown but not saved: the log cannot be written. Open it before the server deletes it")
	p.true(`document.querySelector('.toast[data-how=ask] [data-part=do]').textContent === 'Open'`)
	p.true(`!document.querySelector('#turns [data-card]')`)
	h.disk.full.Store(false)
	p.wait(calm)
	p.say("hello")
	p.wait(`document.getElementById('turns').innerText.includes('hello')`)
	p.is(prompt+`.value`, "")
}
