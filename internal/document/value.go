package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const fresh = time.Second // how old what [Value.Get] returns may be

// Value is what a text says in JSON. What its methods give and take is not to be modified.
type Value[T any] struct {
	store Store // nil: it is in memory only
	name  string
	log   *slog.Logger // may be nil

	mu      sync.Mutex // guards what follows
	value   T          // what the text says, or what could not be saved
	version string     // of the text that was read
	text    []byte     // what it says, as it would be written
	bad     []byte     // the text, if it could not be understood
	read    time.Time
	logged  string        // the error that was logged last
	changed chan struct{} // closed with the next change; nil: nothing waits
}

// Open returns the value of a text; without the text it is zero. Without a store, and in
// Folder(""), it is in memory only. What cannot be read or understood is logged.
func Open[T any](s Store, name string, log *slog.Logger) *Value[T] {
	if s == Folder("") {
		s = nil
	}
	v := &Value[T]{store: s, name: name, log: log}
	v.text, _ = written(v.value) // a change to the same is none
	return v
}

func written(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "\t")
	return append(text, '\n'), err
}

// Get returns what the text said at most a second ago, or what a [Refresher] knows; what was
// understood last, if it cannot be.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.store.(Refresher); known || time.Since(v.read) >= fresh {
		_ = v.look() // it was logged
	}
	return v.value
}

// Refresher is a [Store] that reads from memory, where what others change is some seconds late.
type Refresher interface {
	// Refresh reads a text anew.
	Refresh(name string) error
}

// Latest is [Value.Get] for what is about to be refused: it is not late where a [Refresher] can
// tell.
func (v *Value[T]) Latest() T {
	if r, ok := v.store.(Refresher); ok && r.Refresh(v.name) == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		_ = v.look() // it was logged
		return v.value
	}
	return v.Get()
}

// Changed is closed when the value changes. What other programs change is noticed by the next call
// of a method.
func (v *Value[T]) Changed() <-chan struct{} {
	_ = v.Get()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed == nil {
		v.changed = make(chan struct{})
	}
	return v.changed
}

// Change replaces the value by what change makes of it, which is called again if others were
// faster. After an error nothing has changed.
func (v *Value[T]) Change(change func(T) T) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.replace(change)
}

// Hold is [Value.Change], but after an error the change holds here until the text is another one,
// and is saved with the next.
func (v *Value[T]) Hold(change func(T) T) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.replace(change)
	if err != nil {
		v.set(change(v.value))
	}
	return err
}

// replace is Change; mu is held.
func (v *Value[T]) replace(change func(T) T) error {
	for range 1000 { // others may be faster
		if err := v.look(); err != nil {
			return err
		}
		value := change(v.value)
		text, err := written(value)
		if now := ""; err == nil && v.store != nil && !bytes.Equal(text, v.text) {
			if err = v.setAside(); err == nil {
				now, err = v.store.Replace(v.name, v.version, text)
			}
			if errors.Is(err, ErrChanged) {
				continue
			}
			if err == nil {
				v.version, v.text, v.bad = now, text, nil
			}
		}
		if err == nil {
			v.set(value)
		}
		return err
	}
	return fmt.Errorf("%s: %w, again and again; try later", v.name, ErrChanged)
}

// set changes the value; mu is held.
func (v *Value[T]) set(value T) {
	if v.value = value; v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}

// look reads the text, and what it says if it is another one; mu is held.
func (v *Value[T]) look() error {
	if v.store == nil {
		return nil
	}
	v.read = time.Now()
	text, version, err := v.store.Read(v.name)
	if err != nil {
		v.report("a document cannot be read: what it said before holds", err)
	}
	if err != nil || version == v.version {
		return err
	}
	var value T
	v.version, v.bad, v.logged = version, nil, ""
	if version != "" {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		v.bad, v.text = text, nil
		v.report("a document cannot be understood: what it said before holds. Mend it, or the next "+
			"change begins it anew and keeps a copy", err)
		return nil
	}
	v.text, _ = written(value) // it was JSON
	v.set(value)
	return nil
}

// say logs a trouble once.
func (v *Value[T]) report(what string, err error) {
	if v.log != nil && v.logged != err.Error() {
		v.logged = err.Error()
		v.log.Warn(what, "document", v.name, "in", v.store, "error", err)
	}
}

// setAside copies a text that could not be understood, before it is replaced, to a name of its own.
func (v *Value[T]) setAside() error {
	if v.bad == nil {
		return nil
	}
	name := fmt.Sprintf("%s.damaged-%.8s", v.name, v.version)
	// it is there
	if _, err := v.store.Replace(name, "", v.bad); err != nil && !errors.Is(err, ErrChanged) {
		return fmt.Errorf("keep a copy of %s, which cannot be understood: %w", v.name, err)
	}
	v.report("a document is begun anew",
		fmt.Errorf("what it said could not be understood and is in %s", name))
	return nil
}
