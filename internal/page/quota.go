package page

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"webchat/internal/wording"
)

// quota is the part of [event.AssistantUsage].QuotaSnapshots that is shown: what the
// user's plan allows and what of it is left, as the Copilot CLI reports it.
type quota struct {
	IsUnlimitedEntitlement bool
	EntitlementRequests    int64
	UsedRequests           int64
	RemainingPercentage    float64
}

// left is what is left of a quota, in the units of the plan if it has a number.
func (q quota) left() string {
	if q.EntitlementRequests > 0 {
		return wording.Count(max(0, q.EntitlementRequests-q.UsedRequests)) + " of " + wording.Count(q.EntitlementRequests)
	}
	return strconv.FormatFloat(q.RemainingPercentage, 'f', -1, 64) + "%"
}

// quotaChanged shows the quota of which the smallest part is left.
func (f *State) quotaChanged(snapshots json.RawMessage) {
	var all map[string]quota
	if json.Unmarshal(snapshots, &all) != nil {
		return // none, or no quotas of this shape
	}
	least, left := 101.0, ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if q := all[name]; !q.IsUnlimitedEntitlement && q.RemainingPercentage < least {
			least, left = q.RemainingPercentage, q.left()
		}
	}
	if left != f.ledger.quota {
		f.ledger.quota = left
		f.ledgerChanged()
	}
}

// Quota is what is left of the user's plan; empty where no agent reported it.
func (r *Rail) Quota() string { return r.f.ledger.quota }
