package displaytools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/render/code"
	"webchat/internal/wording"
)

const (
	readSize = 256 << 10
	// hugeEnd is what is kept of each end of a file that is over half the budget:
	// no user reads it whole, and it must not push out outputs that are read.
	hugeEnd = 4 << 20
	// sizeless is how much is read of files that say they have no size, as those
	// of /proc do.
	sizeless = 16 << 20
	// early is from what size on a text is shown from its beginning on, while the rest is read.
	// Below it, a view may be made of the whole: the user would see lines, then a table.
	early = 16 << 20
	// readTime is how long one showing may read. That is enough for tens of GB
	// from a local disk; a longer wait looks like a hang.
	readTime = 10 * time.Second
)

// reading copies the asked lines of a file to an output.
type reading struct {
	call  *fileCall
	meta  outputs.Meta
	begun func() // called once there are first bytes in w, then set to nil
	stop  func() // ends what begun began
	w     *outputs.Writer
	from  int // the first line wanted
	to    int // the last one; 0: the file's
	size  int64

	until time.Time     // when it has taken too long
	wide  *kind.Decoder // nil: the text is not in UTF-16
	ends  int           // line ends read
	open  bool          // the last byte was none
	more  bool          // a file without a size was cut
}

func (r *reading) all(ctx context.Context, src *sparse) error {
	buf := make([]byte, readSize)
	n, err := io.ReadFull(src, buf) // what the file is shows in its beginning
	if err := r.begin(buf[:n]); err != nil {
		return err
	}
	if err := r.take(buf[:n]); err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		if time.Now().After(r.until) {
			r.meta.Unread = src.left()
			break
		}
		if hole := src.skip(); hole > 0 {
			err = r.zeros(hole)
			continue
		}
		n, err = src.Read(buf)
		if err := r.take(buf[:n]); err != nil {
			return err
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
		r.more = r.size == 0 && src.left() == 0 && src.size == sizeless
	}
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		r.meta.Unread = src.left()
	}
	return err
}

// begin looks at the first bytes.
func (r *reading) begin(head []byte) error {
	name := kind.Charset(head)
	if r.wide = kind.Wide(name); r.wide != nil {
		head = kind.Wide(name).Decode(head)
		if r.from > 1 || r.to > 0 {
			name = "utf-8" // some lines are stored decoded, the whole as it is
		}
	}
	r.meta.Binary = r.wide == nil && kind.Binary(head)
	r.meta.MimeType = "text/plain; charset=" + name
	if r.meta.Binary {
		if r.call.from > 0 || r.call.to > 0 {
			return agent.Errorf(event.KindBinary,
				"%s is not text, so it has no lines. Leave out startLine and endLine.",
				called(r.call.place.rel))
		}
		r.meta.MimeType = cmp.Or(kind.Picture(head), kind.Unknown)
		return nil
	}
	r.meta.Highlight = r.call.language
	if r.call.detect {
		r.meta.Highlight = code.Language(r.call.place.rel, head)
	}
	return nil
}

// early reports whether the user sees the beginning while the rest is read: what is shown as lines
// in the end, too, and as they are.
func (r *reading) early() bool {
	return r.size > early && !r.meta.Binary && r.meta.MimeType == "text/plain; charset=utf-8" &&
		r.meta.Was == ""
}

// take counts lines and keeps the wanted ones.
func (r *reading) take(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	whole := r.from == 1 && r.to == 0
	if r.wide != nil {
		raw := b
		if b = r.wide.Decode(raw); whole {
			if err := r.keep(raw); err != nil {
				return err
			}
		}
	}
	if len(b) > 0 {
		r.open = b[len(b)-1] != '\n'
	}
	if whole {
		if r.ends += bytes.Count(b, []byte{'\n'}); r.wide != nil {
			return nil
		}
		return r.keep(b)
	}
	for len(b) > 0 {
		line := r.ends + 1 // the one b begins in
		var chunk []byte
		switch {
		case line < r.from:
			chunk = upTo(b, r.from-line)
		case r.to == 0:
			chunk = b
		case line <= r.to:
			chunk = upTo(b, r.to-line+1)
		default:
			chunk = b
		}
		r.ends += bytes.Count(chunk, []byte{'\n'})
		if line >= r.from && (r.to == 0 || line <= r.to) {
			if err := r.keep(chunk); err != nil {
				return err
			}
		}
		b = b[len(chunk):]
	}
	return nil
}

// upTo returns b up to its n-th line end, or all of it.
func upTo(b []byte, n int) []byte {
	end := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			return b
		}
		end += i + 1
	}
	return b[:end]
}

// zeros takes n zero bytes, which end no line.
func (r *reading) zeros(n int64) error {
	r.open = true
	if line := r.ends + 1; line < r.from || r.to > 0 && line > r.to {
		return nil
	}
	if err := r.need(); err != nil {
		return err
	}
	r.w.WriteZeros(n)
	r.kept()
	return nil
}

func (r *reading) keep(b []byte) error {
	if err := r.need(); err != nil {
		return err
	}
	_, err := r.w.Write(b)
	r.kept()
	return err
}

// kept begins what is to begin with the first bytes.
func (r *reading) kept() {
	if begun := r.begun; begun != nil {
		r.begun = nil
		begun()
	}
}

// need makes the output unless it is there.
func (r *reading) need() error {
	if r.w != nil {
		return nil
	}
	return r.create()
}

func (r *reading) create() (err error) {
	var limits outputs.Limits
	if r.from == 1 && r.to == 0 && r.size > r.call.set.out.Stats().Budget/2 {
		limits = outputs.Limits{Head: hugeEnd, Tail: hugeEnd}
	}
	r.meta.StartLine = r.from
	r.w, err = r.call.set.out.Create(r.meta, limits)
	return err
}

// total is how many lines were read.
func (r *reading) total() int {
	if r.open {
		return r.ends + 1
	}
	return r.ends
}

// beyond says that a file has no such line, or that it was not reached.
func (r *reading) beyond(name string, total int) error {
	switch {
	case r.meta.Unread > 0:
		f := agent.Errorf(event.KindTimeout,
			"Line %d of %s was not reached within %s. Run sed or tail to see it.", r.from, name,
			short(r.call.set.readTime))
		f.Limit = event.LimitReadTime
		return f
	case total == 0:
		return agent.Errorf(event.KindBadArguments,
			"%s is empty, so there is no line %d. Leave out startLine and endLine.", name, r.from)
	case total == 1:
		return agent.Errorf(event.KindBadArguments,
			"%s has 1 line, so there is no line %d. Ask for line 1.", name, r.from)
	}
	return agent.Errorf(event.KindBadArguments,
		"%s has %s, so there is no line %d. Ask for lines from 1 to %d.", name, lines(int64(total)),
		r.from, total)
}

func (r *reading) result(ctx context.Context, failure error) agent.Result {
	name := called(r.call.place.rel)
	total := r.total()
	if failure == nil && !r.meta.Binary && r.from > max(total, 1) {
		failure = r.beyond(name, total)
	}
	if failure == nil && r.w == nil {
		failure = r.create() // an empty file is shown, too
	}
	last := total
	if r.to > 0 {
		last = min(r.to, total)
	}
	r.stop()
	if r.w != nil {
		r.w.Complete(func(m *outputs.Meta) {
			m.TotalLines, m.EndLine = total, last
			m.Unread, m.Truncated = r.meta.Unread, r.meta.Unread > 0 || r.more
		})
	}
	switch {
	case failure == nil:
	case ctx.Err() != nil:
		return agent.Failure(event.KindAborted, "Stopped while %s was read.", name)
	case errors.As(failure, new(*agent.Fault)):
		return agent.FailedBy(failure, event.KindInternal)
	default:
		return agent.Failure(event.KindInternal, "%s could not be shown: %v", name, failure)
	}
	shown := int64(last - r.from + 1)
	count := lines(shown)
	switch {
	case r.meta.Unread > 0 && (r.to == 0 || r.to > total):
		count = "first " + wording.Size(r.size-r.meta.Unread)
	case r.more:
		count = "first " + wording.Size(sizeless)
	case r.meta.Binary:
		shown, count = 0, "binary" // a size beside it would leave no token for the name
	}
	text := confirm("Displayed %s to user ("+count+")", r.call.place.asked)
	return agent.Result{
		Type:         agent.Success,
		TextForModel: text,
		SessionLog:   r.log(),
		Telemetry:    telemetry(r.w.Output(), outputs.File, shown, text),
	}
}

// log says what was not read.
func (r *reading) log() string {
	switch {
	case r.meta.Unread > 0:
		return fmt.Sprintf(
			"Reading stopped after %s: the last %s of %s were not read. Run tail to see the end.",
			short(r.call.set.readTime), wording.Size(r.meta.Unread), wording.Size(r.size))
	case r.more:
		return fmt.Sprintf(
			"The file does not say how long it is: only its first %s were read. Run head to see more.",
			wording.Size(sizeless))
	}
	return ""
}
