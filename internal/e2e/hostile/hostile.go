// Package hostile is what attackers put into the files, pictures, command output
// and answers that webchat shows: each case tries to run a script, to call home
// or to pass for something else. It is for tests only.
//
// Every case calls home to an address of its own below a sink, runs a script that
// leaves a mark ([Mark]) or both, so that a test can count requests and look for
// the mark, and name the case that got through.
//
//	for _, c := range hostile.Corpus("http://127.0.0.1:1234") { … }
package hostile

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// Mark is what scripts set: a property of window, and an item of localStorage.
const Mark = "pwned"

// Kind is the way a case reaches the page.
type Kind string

// The ways.
const (
	File     Kind = "file"     // shown by render_file_contents
	Picture  Kind = "picture"  // shown by display_image
	Terminal Kind = "terminal" // what a command prints
	Answer   Kind = "answer"   // Markdown that a model says
	Name     Kind = "name"     // a title, a command, a reason: text of a few words
)

// Case is one attack.
type Case struct {
	Kind Kind
	Name string // as a file's name, its extension included
	Row  string // of the threat it tries
	Body []byte
}

// Corpus makes all cases. What calls home calls sink + "/" + the case's name.
func Corpus(sink string) []Case {
	var all []Case
	for _, table := range []struct {
		kind Kind
		rows []row
	}{{File, files}, {Picture, pictures}, {Terminal, terminals}, {Answer, answers}, {Name, names}} {
		for _, r := range table.rows {
			all = append(all, Case{Kind: table.kind, Name: r.name, Row: r.row, Body: r.fill(sink)})
		}
	}
	return all
}

// Of returns the cases of one kind.
func Of(kind Kind, sink string) (list []Case) {
	for _, c := range Corpus(sink) {
		if c.Kind == kind {
			list = append(list, c)
		}
	}
	return list
}

// row is a case before it knows the sink. In its text HOME is where to call, JS a
// script that leaves the mark and calls, BARE the address without its scheme, and
// B64 the script page in base 64.
type row struct{ name, row, text string }

func (r row) fill(sink string) []byte {
	home := sink + "/" + r.name
	js := "top." + Mark + "='" + r.name + "';localStorage." + Mark + "='" + r.name +
		"';new Image().src='" + home + "?js'"
	page := "<script>" + js + "</script>"
	_, bare, _ := strings.Cut(home, ":")
	text := strings.NewReplacer("HOME", home, "JS", js, "BARE", bare, "B64",
		base64.StdEncoding.EncodeToString([]byte(page))).Replace(r.text)
	if r.name == "utf16.html" {
		return utf16(text)
	}
	return []byte(text)
}

// utf16 is little-endian with its mark: a browser that sniffs would find a page.
func utf16(s string) []byte {
	var b bytes.Buffer
	b.WriteString("\xff\xfe")
	for i := range len(s) {
		b.Write([]byte{s[i], 0})
	}
	return b.Bytes()
}
