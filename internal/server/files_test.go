package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What a prompt would name has a price before it is sent, and what may hold secrets goes
// only where the user said so again.
func TestFilesGoWithAPrompt(t *testing.T) {
	h := newHouse(t)
	h.file("a b.go", "package main\n\nfunc main() {}\n")
	h.file(".env", "TOKEN=1\n")
	_, session := h.session(t)
	var got struct {
		Files map[string]struct {
			Path, Lines, What, Refused string
			Tokens                     int
			Sensitive                  bool
		}
	}
	const names = "name=a+b.go&name=a+b.go:1&name=.env&name=.&name=no&name=../x&name=a+b.go:2-9&name=no:3"
	if err := json.Unmarshal([]byte(h.text(t, "/api/files/price?"+names)), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a b.go": "a b.go  text 7 false ", "a b.go:1": "a b.go 1 text 3 false ",
		".env": ".env  text 4 true ", ".": "./  folder 6 false ",
		"a b.go:2-9": "a b.go 2-9 other 0 false A b.go has no lines 2-9; its last line is 3.",
	}
	for name, f := range got.Files {
		if is := fmt.Sprintf("%s %s %s %d %v %s", f.Path, f.Lines, f.What, f.Tokens, f.Sensitive,
			f.Refused); is != want[name] {
			t.Errorf("%s: %s, want %s", name, is, want[name])
		}
	}
	if len(got.Files) != len(want) {
		t.Errorf("%d names lead somewhere, want %d", len(got.Files), len(want))
	}
	// In lists it comes last, and is named as such.
	if body := h.text(t, "/api/files?q="); !strings.Contains(body,
		`"files":["a b.go",".env"],"secret":[".env"]`) {
		t.Error(body)
	}
	for attachment, code := range map[string]int{
		`{"path":"a b.go","lines":"1-3"}`: 202, `{"path":".env","mention":true}`: 202,
		`{"path":".env"}`: 400, `{"path":".env","sensitive":true}`: 202,
	} {
		res, body := h.do("POST", session+"/messages", `{"content":"look","attachments":[`+attachment+
			`]}`)
		if res.StatusCode != code || code == 400 && !strings.Contains(body, `"code":"sensitive"`) {
			t.Errorf("%s: %d %s", attachment, res.StatusCode, body)
		}
	}
}
