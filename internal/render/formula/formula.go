// Package formula turns TeX into MathML. Temml does it, a JavaScript library, in an interpreter
// that is written in Go: it has no document, no network and no files there, and it is interrupted
// when it takes too long.
package formula

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// Bounds of one formula. Within them one takes milliseconds.
const (
	MaxSource = 1000     // bytes of TeX
	maxMathML = 64 << 10 // bytes
	maxCalls  = 2000     // calls within calls of the library
	maxTime   = 3 * time.Second
	maxSpent  = 3 * time.Second // of all formulas in one text, but for the last one
)

// maxKept is how many bytes of formulas are kept for pages that show them again.
const maxKept = 4 << 20

//go:embed temml.min.js.gz
var packed []byte

//go:embed formula.js
var script string

var (
	// ErrUnreadable is returned for text that is not a formula, or one that is not supported.
	ErrUnreadable = errors.New("not a formula that can be read")
	// ErrSpent is returned for formulas of a text that has taken too long.
	ErrSpent = errors.New("the formulas of this text take too long")
)

// Spent is the time that formulas of one text have taken, in nanoseconds. The zero value is ready.
type Spent struct{ atomic.Int64 }

var errTime = errors.New("it takes too long")

// defines matches commands that define others: what a formula does with those may take long.
var defines = regexp.MustCompile(
	`\\(?:[gex]?def|let|futurelet|global|long|(?:re|provide)?newcommand|renewcommand|providecommand)(?:[^A-Za-z]|$)`)

// engine is the interpreter, which runs one formula at a time, and what it made.
var engine struct {
	sync.Mutex
	run  func(Source) (string, error) // nil: to be made
	kept map[Source]string            // MathML; empty: it cannot be read
	size int
}

// Source is what a formula is made of.
type Source struct {
	TeX   string
	Block bool // it is centred in a line of its own
}

// MathML returns a formula as a math element. It is the same for the same formula. What comes from
// outside is in it: it has to be sanitized. [ErrSpent] if the text's formulas have taken too long
// and this one is not kept.
func MathML(of Source, spent *Spent) (string, error) {
	if len(of.TeX) > MaxSource || strings.TrimSpace(of.TeX) == "" || defines.MatchString(of.TeX) {
		return "", ErrUnreadable
	}
	e := &engine
	e.Lock()
	defer e.Unlock()
	made, ok := e.kept[of]
	if !ok {
		if spent.Load() > int64(maxSpent) {
			return "", ErrSpent
		}
		begun := time.Now()
		made = render(of)
		spent.Add(int64(time.Since(begun)))
		if e.size += len(of.TeX) + len(made); e.kept == nil || e.size > maxKept {
			e.kept, e.size = map[Source]string{}, len(of.TeX)+len(made)
		}
		e.kept[of] = made
	}
	if made == "" {
		return "", ErrUnreadable
	}
	return made, nil
}

// render runs the library. An interpreter that failed is not used again.
func render(of Source) (made string) {
	e := &engine
	defer func() {
		if p := recover(); p != nil {
			e.run, made = nil, ""
		}
	}()
	if e.run == nil {
		e.run = start()
	}
	made, err := e.run(of)
	if errors.Is(err, errTime) {
		e.run = nil
	}
	if err != nil || len(made) > maxMathML {
		return ""
	}
	return made
}

var program = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("temml", library(), false)
})

// library is the text of Temml.
func library() string {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil { // it is a part of the program
		panic(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// start makes an interpreter.
func start() func(Source) (string, error) {
	vm := goja.New()
	vm.SetMaxCallStackSize(maxCalls)
	if _, err := vm.RunProgram(program()); err != nil {
		panic(err)
	}
	f, err := vm.RunString(script)
	if err != nil {
		panic(err)
	}
	call, ok := goja.AssertFunction(f)
	if !ok {
		panic("no function")
	}
	return func(of Source) (string, error) {
		timer := time.AfterFunc(maxTime, func() { vm.Interrupt(errTime) })
		v, err := call(goja.Undefined(), vm.ToValue(of.TeX), vm.ToValue(of.Block))
		if !timer.Stop() { // an interruption may come yet
			return "", errTime
		}
		if err != nil {
			return "", err
		}
		return v.String(), nil
	}
}
