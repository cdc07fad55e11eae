package consent

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever a command prints: a yes is an object with "allow": true in it, and a
// reason has nothing that hides.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{``, `{"allow":true}`, `{"allow":false,"reason":"x"}`,
		`{"allow":true,"arguments":{"a":1},"prompt":"p"}`, `{"allow":true}{`,
		"{\"allow\":true,\"allow\":false}", "\x1b[1m\u202e"} {
		f.Add(0, s)
		f.Add(2, s)
		f.Add(1, s)
	}
	f.Fuzz(func(t *testing.T, code int, text string) {
		v := readVerdict(code, []byte(text), []byte(text))
		if !v.Allow {
			if v.Reason == "" || strings.ContainsAny(v.Reason, "\x1b\u202e\x00") ||
				len(v.Reason) > MaxReason {
				t.Errorf("reason %q", v.Reason)
			}
			return
		}
		var m map[string]any
		if code != 0 || strings.TrimSpace(text) != "" &&
			(json.Unmarshal([]byte(text), &m) != nil || m["allow"] != true) {
			t.Errorf("%d %q allows", code, text)
		}
	})
}
