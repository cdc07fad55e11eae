package strictjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"webchat/internal/strictjson"
)

func TestWhole(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":3.0,"b":[1e2,-4.00,2.5,0.0,-0.0]}`: `{"a":3,"b":[100,-4,2.5,0,0]}`,
		`{"3.0":"4.0 \" 5.0"}`:                   `{"3.0":"4.0 \" 5.0"}`,
		`12345678901234567890`:                   `12345678901234567890`,
		`12345678901234567890.5e3`:               `1.2345678901234568e+22`,
		`{"a":1.50,"a":{"e":1e400}`:              `{"a":1.50,"a":{"e":1e400}`,
		`{"e":true}`:                             `{"e":true}`,
	} {
		if got := string(strictjson.Whole([]byte(in))); got != want {
			t.Errorf("%s is %s, not %s", in, got, want)
		}
	}
}

// What it returns is the same value to a reader of floats.
func FuzzWhole(f *testing.F) {
	for _, s := range []string{`{"a":3.0,"b":"1.0\\","c":[1e400,0.1,-2E+1]}`, `"\"`, `3.`,
		`{"a":1.50}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var a, b any
		if json.Unmarshal(in, &a) != nil {
			strictjson.Whole(in)
			return
		}
		if out := strictjson.Whole(in); json.Unmarshal(out, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s became %s", in, out)
		}
	})
}
