package views

import (
	"strings"
	"testing"

	"webchat/internal/outputs"
)

func TestOutputs(t *testing.T) {
	store := testStore(t)
	v := New(store, nil)
	id, err := store.Put(outputs.Meta{
		SessionID: "s1",
		Type:      outputs.File,
		Path:      "a.go",
		Highlight: "Go",
	}, []byte("package a\n\nfunc f() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	o, ok := v.Output(string(id))
	if !ok || o.Path != "a.go" || o.TotalLines != 3 || o.Content.Last() != 3 ||
		string(o.Content.Head(7)) != "package" {
		t.Fatalf("%+v, %v", o, ok)
	}
	if html, err := o.Content.Rows(3, 3); err != nil ||
		!strings.Contains(string(html), `aria-label="Line 3"`) {
		t.Errorf("%s, %v", html, err)
	}
	if b, err := o.Content.Read(23); err != nil || len(b) != 23 {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := o.Content.Read(22); err == nil {
		t.Errorf("more than asked for: %q", b)
	}
	store.DeleteSession("s1")
	if _, ok := v.Output(string(id)); ok {
		t.Error("it is there after it was deleted")
	}
}
