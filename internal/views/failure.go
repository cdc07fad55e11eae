package views

import (
	"bytes"
	"context"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"

	"webchat/internal/grep"
	"webchat/internal/outputs"
	"webchat/internal/render"
)

// failures matches lines that report a failure: Go, C compilers, Rust, Python, JavaScript,
// TAP, make.
const failures = `^\s*--- FAIL: |^panic: |^fatal error: |(?:^|\s|:)(?:fatal )?error(?:\[\w+\])?: |^Traceback \(most recent|^npm ERR! |^not ok |^\s*(?:✕|✗|×) |^FAILED |\*\*\* \[.*Error \d`

// failureTime is how long one request looks for a failure; the next goes on from there.
var failureTime = 100 * time.Millisecond

const (
	failureAbove  = 12 // lines around a failure that may describe it
	failureBelow  = 20
	maxFoundNames = 100 // names that one request looks for
)

var (
	failName = regexp.MustCompile(`--- FAIL: (\S+)`)
	placed   = regexp.MustCompile(`[\w./@+~-]*[\w@+~-]\.\w{1,12}[:(]\d+|File "[^"]+", line \d+`)
)

// failed is the first failure that a command reports; line 0: none, or none yet.
type failed struct {
	more         bool // not all is searched yet
	line         int  // the one that reports it
	from, to     int  // the lines about it
	name, reason string
}

// firstFailure looks for it in what there is, for a while; asked again it goes on where it was.
func (h *Views) firstFailure(ctx context.Context, o *outputs.Output) (f failed, err error) {
	e, err := grep.Parse(failures)
	if err != nil {
		return f, err
	}
	hits, err := o.Find(ctx, e, failureTime)
	if err != nil || len(hits.Lines) == 0 {
		f.more = !hits.Complete
		return f, err
	}
	f.line = hits.Lines[0]
	var lines []string
	first := max(f.line-failureAbove, max(o.Meta().StartLine, 1))
	for l, err := range o.Lines(ctx, first, f.line+failureBelow) {
		if err != nil {
			return f, err
		}
		if l.Gap != nil {
			break
		}
		lines = append(lines, string(bytes.TrimSpace(outputs.Plain(l.Text[:min(len(l.Text),
			textLength)]))))
	}
	f.describe(lines, first)
	return f, nil
}

// describe fills in what failed and why. Go's tests print the reason below the line that reports
// the failure, or with -v above it.
func (f *failed) describe(lines []string, first int) {
	at := f.line - first
	if at >= len(lines) {
		return
	}
	f.name, f.from, f.to = lines[at], f.line, f.line
	below := lines[at+1:]
	if m := failName.FindStringSubmatch(f.name); m != nil {
		f.name = m[1]
		for i, l := range below { // the innermost test is what failed
			inner := failName.FindStringSubmatch(l)
			if inner != nil && strings.HasPrefix(inner[1], f.name+"/") {
				f.name, f.to = inner[1], f.line+1+i
			}
		}
	} else if placed.MatchString(f.name) {
		return // it names the place by itself
	}
	for i, l := range below {
		if failName.MatchString(l) && !strings.Contains(l, f.name) || strings.HasPrefix(l, "=== RUN") {
			break
		}
		if placed.MatchString(l) {
			f.reason, f.to = l, max(f.to, f.line+1+i)
			return
		}
	}
	for i := at - 1; i >= 0 && !strings.HasPrefix(lines[i], "--- "); i-- {
		if placed.MatchString(lines[i]) {
			f.reason, f.from = lines[i], first+i
			return
		}
	}
}

// failure is the first failure by itself, for a place above the rows.
func (h *Views) failure(ctx context.Context, o *outputs.Output) (outputs.Window, error) {
	f, err := h.firstFailure(ctx, o)
	if err != nil {
		return outputs.Window{}, err
	}
	if f.line == 0 {
		w := window("", 1, 0, 0)
		w.Partial = f.more
		return w, nil
	}
	w := window(render.FirstFailure(f.line, f.name, f.reason, h.finder(ctx, o)), 1, 1, 1)
	w.Header = map[string]string{"Failure": strconv.Itoa(f.from) + "-" + strconv.Itoa(f.to)}
	return w, nil
}

// finder looks for the files that a command's output names, each once.
func (h *Views) finder(ctx context.Context, o *outputs.Output) render.Finder {
	type answer struct {
		path string
		ok   bool
	}
	known := map[string]answer{}
	m := o.Meta()
	return func(name string) (string, bool) {
		a, asked := known[name]
		if !asked && h.places != nil && len(known) < maxFoundNames {
			a.path, a.ok = h.places.Place(ctx, m.SessionID, m.Cwd, name)
			known[name] = a
		}
		return a.path, a.ok
	}
}

// linked makes links of what a terminal's rows name.
func (h *Views) linked(ctx context.Context, o *outputs.Output, html template.HTML) template.HTML {
	if h.places == nil {
		return html
	}
	return render.Places(html, h.finder(ctx, o))
}
