package server

import (
	"net/http"
	"time"

	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/session"
)

// How files that somebody looks at are followed.
const (
	mostFollowed = 100                    // files of one request
	diskAnswer   = 20 * time.Second       // an answer comes after this, whatever happens
	diskPoll     = 2 * time.Second        // between two looks at files, whatever the system reports
	diskSettle   = 100 * time.Millisecond // from a report until the look; who writes may have begun only
)

// diskReply is which outputs are no longer as their files are.
type diskReply struct {
	Changed []outputs.ID `json:"changed"`
	Agent   []outputs.ID `json:"agent"` // of these, changed last by an edit of the session's agent
	Gone    []outputs.ID `json:"gone"`
	Polled  []outputs.ID `json:"polled"` // looked at every 2 seconds, since they cannot be watched
	Seen    string       `json:"seen"`   // stands for all of this, but for polled
}

// onDisk compares outputs with the files they were read from. What is not known has not changed. A
// request that has seen the answer waits for another one; for as long, the files are watched.
func (s *Server) onDisk(r *http.Request, one *session.Session, _ empty) (out diskReply, err error) {
	q := r.URL.Query()
	asked := q["output"]
	if len(asked) > mostFollowed {
		return out, invalid("invalid", "Ask for at most %d outputs at once.", mostFollowed)
	}
	files := make([]*outputs.Output, len(asked)) // nil: not known
	var names []string
	for i, id := range asked {
		o, err := s.Outputs.Get(outputs.ID(id))
		if err == nil && o.Meta().SessionID == string(one.ID()) && o.Meta().Disk != nil {
			files[i], names = o, append(names, o.Meta().Disk.Name)
		}
	}
	reports := s.watch.Follow(names)
	defer reports.Close()
	soon := time.NewTimer(diskPoll)
	defer soon.Stop()
	soon.Stop()
	compare := func() (err error) {
		var written bool
		if out, written, err = s.compareWithDisk(r, one, files); written {
			soon.Reset(diskSettle)
		}
		out.Polled = []outputs.ID{}
		for _, o := range files {
			if o != nil && reports.Blind(o.Meta().Disk.Name) {
				out.Polled = append(out.Polled, o.ID())
			}
		}
		return err
	}
	if err := compare(); err != nil || !q.Has("seen") || out.Seen != q.Get("seen") {
		return out, err
	}
	if err := guard.Streaming(r); err != nil {
		return out, err
	}
	end, tick := time.NewTimer(diskAnswer), time.NewTicker(diskPoll)
	defer end.Stop()
	defer tick.Stop()
	settled := time.NewTimer(diskSettle)
	defer settled.Stop()
	settled.Stop()
	for waiting := false; ; {
		select {
		case <-r.Context().Done():
			return out, r.Context().Err()
		case <-s.forward.ended:
			return out, nil
		case <-end.C:
			return out, nil
		case <-reports.C:
			if !waiting {
				settled.Reset(diskSettle)
			}
			waiting = true
			continue
		case <-soon.C:
		case <-settled.C:
			waiting = false
		case <-tick.C:
		}
		if err := compare(); err != nil || out.Seen != q.Get("seen") {
			return out, err
		}
	}
}

// compareWithDisk looks at the file of each output once. What the agent writes now has not changed yet.
func (s *Server) compareWithDisk(r *http.Request, one *session.Session, list []*outputs.Output) (out diskReply, written bool, err error) {
	out = diskReply{Changed: []outputs.ID{}, Agent: []outputs.ID{}, Gone: []outputs.ID{}}
	seen := make([]byte, len(list))
	for i, o := range list {
		seen[i] = '0'
		if o == nil {
			continue
		}
		disk := o.Meta().Disk
		switch state, at := disk.Since(); state {
		case outputs.Changed:
			wrote, writes, err := s.wrote(r, one, disk.Name, at)
			if err != nil {
				return out, false, err
			}
			if writes {
				written = true
				continue
			}
			seen[i] = '1'
			out.Changed = append(out.Changed, o.ID())
			if wrote {
				seen[i] = '2'
				out.Agent = append(out.Agent, o.ID())
			}
		case outputs.Gone:
			seen[i] = '3'
			out.Gone = append(out.Gone, o.ID())
		}
	}
	out.Seen = string(seen)
	return out, written, nil
}

// wrote reports whether a session's agent had an edit of a file at work when that was written, and
// whether it still has.
func (s *Server) wrote(r *http.Request, one *session.Session, name string, at time.Time) (wrote, writes bool, err error) {
	if s.Pages == nil {
		return false, false, nil
	}
	_, src, release, err := s.projected(r.Context(), one)
	if err != nil {
		return false, false, err
	}
	defer release()
	wrote, writes = src.projector.Wrote(name, at)
	return wrote, writes, nil
}
