package session

import (
	"time"

	"webchat/internal/eventlog"
)

// draftPause is between two looks at what is being said.
const draftPause = 250 * time.Millisecond

// keepDrafts saves what look returns whenever its version is another, until quit is closed.
// Then what was saved is removed.
func keepDrafts(quit <-chan struct{}, look func() (all []eventlog.Draft, version int), save func([]eventlog.Draft)) {
	tick := time.NewTicker(draftPause)
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
