package page

import (
	"webchat/internal/event"
	"webchat/internal/wording"
)

// shelf is the row of the call's output in the right column.
func (c *Call) shelf() outputRow {
	row := outputRow{Call: c, Output: c.Output, Name: wording.Plain(c.Name()), State: "running"}
	row.Icon = kindIcon(c.Kind, row.Name)
	_, row.Base = splitPath(row.Name)
	if c.Kind == "terminal" {
		row.Base = row.Name
	}
	o, ok := c.In.Outputs.Output(c.Output)
	switch {
	case !c.Done():
	case ok && c.DeletedAt.IsZero():
		row.Pinned = o.Pinned
		if o.Folder {
			row.Icon, row.Base = "folder", c.folderBase(row.Base)
		}
		row.At = o.CreatedAt.In(c.In.Location).Format("15:04")
		row.State, row.Life = "done", lifeOf(o.ExpiresAt.Sub(c.In.Now()), c.In.OutputTTL)
		row.Expires = event.Time(o.ExpiresAt).String()
		if o.ExitCode != nil && *o.ExitCode != 0 {
			row.Exit = "exit " + itoa(int64(*o.ExitCode))
		}
	default:
		row.State, row.Icon, row.Deleted = "gone", "gone", c.deletedAt()
	}
	return row
}

// outputRow is one output on the shelf.
type outputRow struct {
	*Call
	Output, Name, Base, Icon, State string
	At                              string // when it was shown, as a clock shows it, while it can be read
	Expires                         string
	Exit                            string // how a command ended, unless well
	Deleted                         string // when it was, as a clock shows it; empty: unknown
	Pinned                          bool
	Life                            *life
}

// TTL is how long outputs live, in milliseconds.
func (r outputRow) TTL() int64 { return r.In.OutputTTL.Milliseconds() }
