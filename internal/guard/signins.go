package guard

import (
	"net/http"
	"slices"
	"time"
)

const (
	idleLife  = 12 * time.Hour
	wholeLife = 7 * 24 * time.Hour
	// touchEvery is by how much a sign-in may end early: it is not written for each request.
	touchEvery = 10 * time.Minute
	maxSignins = 1000 // the oldest go first, of the user who has most
)

// signin is one browser that signed in. Nothing of it that is kept signs anyone in. A document of
// them that cannot be understood signs everybody out, which is safe.
type signin struct {
	Cookie  sum       `json:"cookie"`
	User    string    `json:"user,omitempty"` // whose browser; empty: of who runs the server
	Key     []byte    `json:"key,omitempty"`  // public; see [Guard.Renew]
	Place   string    `json:"place"`          // where it holds
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"` // touchEvery ago or later
}

func (s signin) alive(now time.Time) bool {
	return now.Sub(s.Used) < idleLife && now.Sub(s.Created) < wholeLife
}

// changeSignins changes who is signed in, of whom the living are kept. What cannot be saved holds
// as long as the server.
func (g *Guard) changeSignins(now time.Time, change func([]signin) []signin) error {
	return g.signins.Hold(func(all []signin) []signin {
		all = slices.DeleteFunc(change(slices.Clone(all)), func(x signin) bool { return !x.alive(now) })
		for len(all) > maxSignins {
			all = withoutOne(all, func(x signin) string { return x.User })
		}
		return all
	})
}

// noUse is in the context of a request that is looked at again while it is answered.
type noUse struct{}

// find returns the living sign-in that matches where a request came, and counts that as use, unless
// it is but looked at again. All are compared, so the time does not reveal which.
func (g *Guard) find(r *http.Request, match func(signin) bool) (found signin, ok bool) {
	place, now := g.place(r), g.config.Now()
	for _, all := range []func() []signin{g.signins.Get, g.signins.Latest} {
		for _, x := range all() {
			if match(x) && x.Place == place && x.alive(now) {
				found, ok = x, true
			}
		}
		if ok {
			break
		}
	}
	if ok && now.Sub(found.Used) >= touchEvery && r.Context().Value(noUse{}) == nil {
		err := g.changeSignins(now, func(all []signin) []signin {
			for i := range all {
				if all[i].Cookie == found.Cookie {
					all[i].Used = now.UTC()
				}
			}
			return all
		})
		if err != nil {
			g.config.Logger.Warn("sign-ins may end early", "error", err)
		}
	}
	return found, ok
}

// drop revokes those that match and returns how many of them lived.
func (g *Guard) drop(match func(signin) bool) (dropped int, err error) {
	now := g.config.Now()
	err = g.changeSignins(now, func(all []signin) []signin {
		all = slices.DeleteFunc(all, func(x signin) bool { return !x.alive(now) })
		rest := slices.DeleteFunc(slices.Clone(all), match)
		dropped = len(all) - len(rest)
		return rest
	})
	return dropped, err
}
