package looking

import (
	"encoding/json"
	"strconv"

	"webchat/internal/wording"
)

// mostTokens is more than any call takes: what a file says beyond it is not believed.
const mostTokens = 1 << 30

// amount is a number of tokens as a file says it.
func amount(n int64) int64 { return min(max(0, n), mostTokens) }

func number(n int) string { return strconv.Itoa(n) }

// cutPlain is a word of a file as it can be shown.
func cutPlain(s string) string { return wording.Plain(wording.Cut(s, 40)) }

// arguments are the strings in the arguments of a call, and the file that they name.
func arguments(b json.RawMessage) (path string, all []string) {
	var v any
	if len(b) == 0 || json.Unmarshal(b, &v) != nil {
		return "", nil
	}
	if o, ok := v.(map[string]any); ok {
		for _, name := range []string{"file_path", "path", "notebook_path"} {
			if s, ok := o[name].(string); ok && path == "" {
				path = s
			}
		}
	}
	return path, stringsIn(nil, v)
}

// mostStrings bounds what is compared of one call.
const mostStrings = 1000

func stringsIn(all []string, v any) []string {
	if len(all) >= mostStrings {
		return all
	}
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, v := range v {
			all = stringsIn(all, v)
		}
	case map[string]any:
		for _, v := range v {
			all = stringsIn(all, v)
		}
	}
	return all
}
