// Package outputs keeps what was shown to the user, by unguessable id: files, what commands
// printed, images. It exists so that content never has to pass through a model: the model reads one
// line, the user fetches the bytes here.
//
// # Guarantees
//
//   - An [Output] exists from its first byte. It can be read at any offset and
//     followed while it grows; readers never block the writer. Bytes that were
//     once published never change.
//   - Its life starts when it is complete and is not extended by reading. It ends
//     when its age reaches Config.TTL by the monotonic or by the wall clock,
//     whichever comes first (a laptop that slept counts the sleep). A growing
//     output never expires.
//   - All outputs together, growing ones and stored compressed forms included,
//     stay within Config.Budget. The least recently read complete outputs go
//     first. One that is too large keeps its head and its tail; what was left out
//     is described by a [Gap]: where, how many bytes, how many lines. An oversized
//     output therefore never pushes out everything else.
//   - A pinned output neither expires nor is evicted, for eight hours at most. Pinned
//     outputs together hold at most a quarter of the budget.
//   - A holder of an *Output may finish reading it after its life ended.
//
// # Concurrency
//
// All methods of [Store] and [Output] may be called concurrently. A [Writer] may be too, but then
// the order of the bytes is not defined. [Store.Run] frees expired outputs; without it they are
// refused all the same, but their memory is freed only as new ones come in.
//
// # Usage
//
//	store, err := outputs.New(outputs.Config{TTL: 30 * time.Minute, Budget: 256 << 20})
//	go store.Run(ctx)
//
//	id, err := store.Put(outputs.Meta{Type: outputs.File, Path: "go.mod"}, data)
//
//	w, err := store.Create(outputs.Meta{Type: outputs.Terminal, Command: "make"}, outputs.Limits{})
//	defer w.Complete(func(m *outputs.Meta) { m.ExitCode = &code })
//	io.Copy(w, pipe)
package outputs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"time"
)

var (
	// ErrExpired is returned for an id that is unknown or whose life has ended; the store does not
	// distinguish the two.
	ErrExpired = errors.New("output expired or unknown")
	// ErrBudget is wrapped by Create and Put when outputs that are still growing hold the whole
	// budget.
	ErrBudget = errors.New("outputs in progress hold the whole budget")
)

// ID names an output. It grants reading the output, so it carries at least 128 random bits and no
// order.
type ID string

// newID makes an id that ends with the number of the replica that makes the output, if it has one.
func newID(maker int64) ID {
	if maker == 0 {
		return ID("out_" + rand.Text())
	}
	return ID("out_" + rand.Text() + "_" + strconv.FormatInt(maker, 10))
}

// outputID is what ids look like; the part is the number of the maker.
var outputID = regexp.MustCompile(`^out_[A-Z2-7]{26}(?:_([1-9][0-9]{0,17}))?$`)

// Maker returns the number of the replica that made an output; 0 if the id names none.
func Maker(id ID) int64 {
	part := outputID.FindStringSubmatch(string(id))
	if part == nil {
		return 0
	}
	n, _ := strconv.ParseInt(part[1], 10, 64) // none: 0
	return n
}

// The sizes below are bytes.
const (
	// MinBudget is the smallest budget New accepts.
	MinBudget = 64 << 10

	overhead   = 1 << 10   // what an output costs besides its bytes: bookkeeping here and in the cache
	minChunk   = 4 << 10   // the first chunk of a growing output
	maxChunk   = 256 << 10 // chunks double up to this; also the step of the line index
	reserve    = 3 * minChunk
	commandCap = 16 << 20 // head and tail each, of a command
)

// Config says how long and how much.
type Config struct {
	TTL    time.Duration // life of a complete output; required
	Budget int64         // bytes, all outputs together; at least MinBudget

	// Keep is how long complete outputs can be had back from files in KeepDir after their life in
	// memory; 0 means no file is written. KeepDir is made for this user only.
	Keep    time.Duration
	KeepDir string
	// KeepShared says that other programs keep theirs in KeepDir, too: what they completed can be had
	// here.
	KeepShared bool

	// Maker returns the number of the replica that makes the outputs, with which their ids end; nil or
	// 0: there is one. It is asked when an output is made.
	Maker func() int64

	// Unveiled says that nothing is covered that looks like a secret.
	Unveiled bool

	Logger *slog.Logger // nil: nothing is logged. Content and ids never are.
}

func (c Config) check() error {
	if c.TTL <= 0 {
		return fmt.Errorf("output life %v: give a positive duration such as 30m", c.TTL)
	}
	if c.Budget < MinBudget {
		return fmt.Errorf("output budget %d: give at least %d bytes", c.Budget, MinBudget)
	}
	if c.Keep < 0 || c.Keep > 0 && c.KeepDir == "" {
		return fmt.Errorf("outputs kept for %v in %q: give a positive duration and a folder", c.Keep,
			c.KeepDir)
	}
	return nil
}

// Limits bounds what is kept of one output: its first Head and last Tail bytes. The zero value is
// chosen by the output's type: half the budget for a file or an image, 16 MiB and 16 MiB (less
// under a small budget) for a command. Values that together exceed half the budget are scaled down.
type Limits struct {
	Head, Tail int64
}

func (l Limits) resolve(t Type, budget int64) Limits {
	most := budget / 2
	if l.Head <= 0 && l.Tail <= 0 {
		each := most / 2
		if t == Terminal {
			each = min(commandCap, budget/8)
		}
		l = Limits{each, each}
	}
	l.Head, l.Tail = max(l.Head, 0), max(l.Tail, 0)
	if sum := l.Head + l.Tail; sum > most || sum < 0 {
		f := float64(most) / (float64(l.Head) + float64(l.Tail))
		l.Head, l.Tail = int64(float64(l.Head)*f), int64(float64(l.Tail)*f)
	}
	return Limits{max(l.Head, minChunk), max(l.Tail, 2*minChunk)}
}
