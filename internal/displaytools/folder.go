package displaytools

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/workspace"
)

// list shows the names in a folder, one a line.
func (c *fileCall) list(ctx context.Context, f *os.File) agent.Result {
	w := c.set.work
	name := called(filepath.Join(w.Path, c.place.rel))
	entries, whole, err := workspace.Entries(f, func(entry string) bool {
		return w.policy.Hidden(filepath.Join(w.Path, c.place.rel, entry))
	})
	if err != nil {
		return agent.Failure(event.KindInternal, "The folder %s could not be read: %v.", name, err)
	}
	if ctx.Err() != nil {
		return agent.Failure(event.KindAborted, "Stopped while the folder %s was read.", name)
	}
	text := workspace.Listing(entries)
	about := make([]outputs.Entry, len(entries))
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
	count := fmt.Sprintf("%d entries", len(entries))
	switch {
	case !whole:
		text, count = text+"… more entries are left out\n", count+" and more"
	case len(entries) == 1:
		count = "1 entry"
	}
	meta := c.set.meta(outputs.File, agent.CallFrom(ctx))
	meta.Path, meta.MimeType, meta.StartLine, meta.Entries = filepath.ToSlash(c.place.rel),
		outputs.FolderType, 1, about
	if meta.Path == "." {
		meta.Path = filepath.Base(w.Path)
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
	confirmation := confirm("Displayed %s to user ("+count+")", filepath.Join(w.Path, c.place.rel))
	return agent.Result{
		Type:         agent.Success,
		TextForModel: confirmation,
		Telemetry:    telemetry(out.Output(), outputs.File, int64(len(entries)), confirmation),
	}
}
