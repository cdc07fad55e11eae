package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/sse"
)

// How files that a session shows are followed.
const (
	mostFollowed = 100             // files of a session, those shown last
	diskPoll     = 2 * time.Second // between two looks at files, whatever the system reports
	// from a report until the look; who writes may have begun only
	diskSettle = 100 * time.Millisecond
)

// diskNews is which outputs of a session are no longer as their files are. It is a frame of the
// page's stream, and whole: what it does not name is as on disk.
type diskNews struct {
	Changed []outputs.ID `json:"changed,omitempty"`
	// of these, changed last by an edit of the session's agent
	Agent []outputs.ID `json:"agent,omitempty"`
	Gone  []outputs.ID `json:"gone,omitempty"`
	// looked at every 2 seconds, since they cannot be watched
	Polled []outputs.ID `json:"polled,omitempty"`
}

// frame is the news as the page's stream has it: between events, so it moves no place.
func (n diskNews) frame() sse.Frame {
	b, err := json.Marshal(struct {
		Disk diskNews `json:"disk"`
	}{n})
	if err != nil {
		panic(err) // lists of texts
	}
	return sse.Frame{Data: b}
}

// diskFollower compares what a session shows with the files it was read from, while anybody looks
// at the session's page. No file is opened or read.
type diskFollower struct {
	watch *files.Watcher
	list  func() []outputs.Listed // what the session showed, in the order of the calls
	wrote func(name string, at time.Time) (wrote, writes bool)
	stir  chan struct{} // has one when something was logged

	shown   []outputs.Listed // from files
	names   []string         // of the files that reports are of
	reports *files.Follower
}

// run calls publish with the news whenever it is another one, until ctx ends.
func (d *diskFollower) run(ctx context.Context, publish func(diskNews)) {
	d.reports = d.watch.Follow(nil)
	defer func() { d.reports.Close() }()
	d.relist()
	tick := time.NewTicker(diskPoll)
	defer tick.Stop()
	settled := time.NewTimer(0)
	defer settled.Stop()
	last, waiting := diskNews{}.frame(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.reports.C:
		case <-d.stir:
			d.relist()
		case <-tick.C:
			settled.Reset(0)
			waiting = true
			continue
		case <-settled.C:
			waiting = false
			news, writes := d.look()
			if f := news.frame(); string(f.Data) != string(last.Data) {
				last = f
				publish(news)
			}
			if !writes {
				continue
			}
		}
		if !waiting {
			waiting = true
			settled.Reset(diskSettle)
		}
	}
}

// relist finds what there is to follow.
func (d *diskFollower) relist() {
	d.shown = slices.DeleteFunc(d.list(), func(o outputs.Listed) bool { return o.Meta.Disk == nil })
	d.shown = d.shown[max(0, len(d.shown)-mostFollowed):]
	var names []string
	for _, o := range d.shown {
		names = append(names, o.Meta.Disk.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	// it may be watched now
	if !slices.Equal(names, d.names) || slices.ContainsFunc(names, d.reports.Blind) {
		old := d.reports
		d.reports, d.names = d.watch.Follow(names), names // first: what was watched already goes on
		old.Close()
	}
}

// look compares each file once. What the agent writes at the moment has not changed yet; writes
// reports whether there is such a file.
func (d *diskFollower) look() (news diskNews, writes bool) {
	for _, o := range d.shown {
		if d.reports.Blind(o.Meta.Disk.Name) {
			news.Polled = append(news.Polled, o.ID)
		}
		switch state, at := o.Meta.Disk.Since(); state {
		case outputs.Changed:
			wrote, writesNow := d.wrote(o.Meta.Disk.Name, at)
			if writesNow {
				writes = true
				continue
			}
			news.Changed = append(news.Changed, o.ID)
			if wrote {
				news.Agent = append(news.Agent, o.ID)
			}
		case outputs.Gone:
			news.Gone = append(news.Gone, o.ID)
		}
	}
	return news, writes
}
