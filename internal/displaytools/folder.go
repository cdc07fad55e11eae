package displaytools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

// maxListed is how many entries of a folder are shown.
const maxListed = 10_000

// list shows the names in a folder, one a line.
func (c *fileCall) list(ctx context.Context, f *os.File) agent.Result {
	w := c.set.work
	name := called(filepath.Join(w.real, c.place.rel))
	entries, err := f.ReadDir(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return agent.Failure(event.KindInternal, "The folder %s could not be read: %v.", name, err)
	}
	if ctx.Err() != nil {
		return agent.Failure(event.KindAborted, "Stopped while the folder %s was read.", name)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return w.policy.Hidden(filepath.Join(w.real, c.place.rel, e.Name()))
	})
	text, more := listing(entries), len(entries) > maxListed
	about := make([]outputs.Entry, min(len(entries), maxListed))
	for i := range about {
		if ctx.Err() != nil {
			break
		}
		if st, err := entries[i].Info(); err == nil { // else it is gone by now
			about[i].Modified = st.ModTime()
			if st.Mode().IsRegular() {
				about[i].Size = st.Size()
			}
		}
	}
	count := fmt.Sprintf("%d entries", min(len(entries), maxListed))
	switch {
	case more:
		text, count = text+"… more entries are left out\n", count+" and more"
	case len(entries) == 1:
		count = "1 entry"
	}
	meta := c.set.meta(outputs.File, agent.CallFrom(ctx))
	meta.Path, meta.MimeType, meta.StartLine, meta.Entries = filepath.ToSlash(c.place.rel),
		outputs.FolderType, 1, about
	if meta.Path == "." {
		meta.Path = filepath.Base(w.real)
	}
	out, err := c.set.out.Create(meta, outputs.Limits{})
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	if out != nil {
		out.Complete(func(m *outputs.Meta) {
			m.TotalLines = strings.Count(text, "\n")
			m.EndLine = m.TotalLines
		})
	}
	if err != nil {
		return agent.Failure(event.KindInternal, "The folder %s was not shown: %v", name, err)
	}
	confirmation := confirm("Displayed %s to user ("+count+")", filepath.Join(w.real, c.place.rel))
	return agent.Result{
		Type:         agent.Success,
		TextForModel: confirmation,
		Telemetry:    telemetry(out.Output(), outputs.File, int64(len(entries)), confirmation),
	}
}

// listing is one line for each entry, folders first and with a slash.
func listing(entries []fs.DirEntry) string {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(strings.ToLower(a.Name()),
			strings.ToLower(b.Name())), strings.Compare(a.Name(), b.Name()))
	})
	var b strings.Builder
	for _, e := range entries[:min(len(entries), maxListed)] {
		b.WriteString(printable(e.Name()))
		switch {
		case e.IsDir():
			b.WriteByte('/')
		case e.Type()&fs.ModeSymlink != 0:
			b.WriteString(" (link)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func rank(e fs.DirEntry) int {
	if e.IsDir() {
		return 0
	}
	return 1
}
