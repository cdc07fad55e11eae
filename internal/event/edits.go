package event

import "slices"

// withEdits returns d with what its diff says as data. Both doors of a log come here, [New] and
// [Unmarshal], so no other code parses the text, which is written as it came.
func withEdits(d Data) Data {
	switch d := d.(type) {
	case ToolExecutionComplete:
		if d.Result == nil || d.Result.Edits != nil || !looksLikeDiff(d.Result.DetailedContent) {
			return d
		}
		r := *d.Result
		r.Edits = slices.DeleteFunc(ParseDiff(r.DetailedContent), func(e Edit) bool {
			return e.New == "" && len(e.Hunks) == 0
		})
		d.Result = &r
		return d
	case PermissionRequested:
		if d.Diff != "" && d.Edits == nil {
			d.Edits = ParseDiff(d.Diff)
		}
		return d
	}
	return d
}
