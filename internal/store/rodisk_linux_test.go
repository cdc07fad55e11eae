package store

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// TestReadOnlyDisk: a disk that can only be read is not called a broken one, or a file of somebody
// else's, whether it became so before the start or while the file is open.
func TestReadOnlyDisk(t *testing.T) {
	disk := newFaultDisk(t)
	db := mustOpen(t, disk.dir)
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	says := func(what string, err error, text string) {
		t.Helper()
		r, ok := errors.AsType[sessions.Refusal](err)
		if !ok || r.Error() != text || r.Advice() == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	e := storetest.Entry(t, 2, event.Abort{Reason: "x"})
	add := func() error {
		return db.Append(t.Context(), "a", []event.Entry{e}, eventlog.Summarize(s, e))
	}
	disk.set(true)
	says("a broken disk", add(), ErrDisk.Error())
	if err := syscall.Mount(disk.dir, disk.dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	defer func() { _ = syscall.Unmount(disk.dir, syscall.MNT_DETACH) }()
	if err := syscall.Mount("", disk.dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY,
		""); err != nil {
		t.Fatal(err)
	}
	const text = "the disk can only be read"
	err := add()
	says("a prompt", err, text)
	if !errors.Is(err, ErrReadOnly) || strings.Contains(err.Error(), "who owns") {
		t.Errorf("a prompt: %v", err)
	}
	says("whether it is over", db.Writable(t.Context(), 100), text)
	started, _, err := OpenFile(Config{Dir: disk.dir}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	says("after a start", started.Append(t.Context(), "a", []event.Entry{e}, eventlog.Summarize(s, e)),
		text)
	if err := started.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Unmount(disk.dir, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	disk.set(false)
	if err := errors.Join(db.Writable(t.Context(), 100), add()); err != nil {
		t.Errorf("when it can be written again: %v", err)
	}
}
