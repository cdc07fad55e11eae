package strictjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Whole returns JSON in which each number that is whole is written as one: 3.0 and 3e0 become 3. To
// JSON they are the same value; a decoder of integers takes one of them only. Integers stay as they
// are, and so does what is not JSON.
func Whole(b []byte) []byte {
	if !bytes.ContainsAny(b, ".eE") {
		return b
	}
	v := jsontext.Value(bytes.Clone(b))
	if v.Format(jsontext.CanonicalizeRawFloats(true), jsontext.PreserveRawStrings(true),
		jsontext.AllowDuplicateNames(true)) != nil {
		return b
	}
	return v
}
