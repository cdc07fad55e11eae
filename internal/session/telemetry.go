package session

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxNumbers is how many numbers of a foreign tool's telemetry are kept.
const maxNumbers = 64

// numberName is what a number may be called: a name cannot hold what was read.
var numberName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// ownNames are what only our own tools may say, in any case of letters.
var ownNames = []string{"outputid", "outputtype", "tokensshown", "tokenssent", "tokensestimated"}

// foreignTelemetry returns the numbers and truth values of what an agent's own tool
// says beside its result, also those one object deep; all else may hold what the tool
// read. It reports whether an output was named.
func foreignTelemetry(raw json.RawMessage) (clean json.RawMessage, namedOutput bool) {
	left := maxNumbers
	kept, namedOutput := numbers(raw, 2, &left)
	if len(kept) == 0 {
		return nil, namedOutput
	}
	clean, err := json.Marshal(kept)
	if err != nil {
		return nil, namedOutput
	}
	return clean, namedOutput
}

// numbers are those of an object and of the objects in it, down to a depth, as many as
// are left.
func numbers(raw json.RawMessage, depth int, left *int) (kept map[string]json.RawMessage, namedOutput bool) {
	var fields map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	kept = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		switch low := strings.ToLower(name); {
		case slices.Contains(ownNames, low):
			namedOutput = namedOutput || low == "outputid"
		case !numberName.MatchString(name) || *left == 0:
		case value[0] == '{':
			inner, named := numbers(value, depth-1, left)
			if namedOutput = namedOutput || named; len(inner) > 0 {
				kept[name], _ = json.Marshal(inner)
			}
		case value[0] != '"' && value[0] != '[' && value[0] != 'n':
			kept[name] = value
			*left--
		}
	}
	return kept, namedOutput
}

// keptTelemetry adds to clean telemetry which output the session keeps of the call.
func keptTelemetry(clean json.RawMessage, outputID string) json.RawMessage {
	all := map[string]any{}
	if len(clean) > 0 && json.Unmarshal(clean, &all) != nil {
		return clean
	}
	all["outputId"], all["outputType"] = outputID, "terminal"
	b, err := json.Marshal(all)
	if err != nil {
		return clean
	}
	return b
}
