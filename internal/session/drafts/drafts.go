// Package drafts keeps what is being said on a disk, so that a kill loses little of it.
//
//	drafts.Keep(quit, session.drafts, session.saveDrafts)
package drafts

import (
	"time"

	"webchat/internal/eventlog"
)

// pause is between two looks at what is being said.
const pause = 250 * time.Millisecond

// Keep saves what look returns whenever its version is another, until quit is closed.
// Then what was saved is removed.
func Keep(quit <-chan struct{}, look func() (all []eventlog.Draft, version int), save func([]eventlog.Draft)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	saved, kept := 0, false
	for {
		select {
		case <-quit:
			if kept {
				save(nil)
			}
			return
		case <-tick.C:
		}
		all, version := look()
		if version == saved {
			continue
		}
		saved, kept = version, len(all) > 0
		save(all)
	}
}
