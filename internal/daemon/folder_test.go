package daemon

import (
	"encoding/json"
	"testing"
)

func TestServerInfoIsOneLineOfJSON(t *testing.T) {
	b, err := json.Marshal(Info{URL: "http://localhost:1", PID: 2})
	if err != nil || string(b) != `{"url":"http://localhost:1","pid":2}` {
		t.Errorf("%s, %v", b, err)
	}
}
