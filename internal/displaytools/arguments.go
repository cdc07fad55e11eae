package displaytools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/strictjson"
)

// arguments are a call's, by their exact names. A null counts as left out.
type arguments map[string]json.RawMessage

// parse reads an object with only these keys, each at most once.
func parse(tool string, raw json.RawMessage, keys ...string) (arguments, error) {
	if err := strictjson.Object(raw); err != nil {
		return nil, errors.New(strictjson.Say("the arguments of "+tool, err))
	}
	args := arguments{}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fmt.Errorf("the arguments of %s are not JSON: %w", tool, err)
	}
	if final := args["final"]; final != nil && !slices.Contains([]string{"true", "false", "null"}, string(final)) {
		return nil, errors.New("final must be true or false")
	}
	delete(args, "final") // it is for the agent's backend, which ends the turn
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("%s does not take %q; it takes %s", tool, key, strings.Join(keys, ", "))
		}
	}
	return args, nil
}

func (a arguments) has(key string) bool {
	v, ok := a[key]
	return ok && string(v) != "null"
}

// text returns a string argument, empty if it was left out.
func (a arguments) text(key string) (string, error) {
	var s string
	if a.has(key) && (a[key][0] != '"' || json.Unmarshal(a[key], &s) != nil) {
		return "", fmt.Errorf("%s must be a string", key)
	}
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%s must not hold a NUL character", key)
	}
	return s, nil
}

// needed returns a string argument that must not be blank.
func (a arguments) needed(key string) (string, error) {
	s, err := a.text(key)
	if err == nil && strings.TrimSpace(s) == "" {
		err = fmt.Errorf("%s is missing: give it as a string that is not empty", key)
	}
	return s, err
}

// line returns a line number, 0 if it was left out.
func (a arguments) line(key string) (int, error) {
	if !a.has(key) {
		return 0, nil
	}
	f, err := strconv.ParseFloat(string(a[key]), 64)
	if err != nil || f < 1 || f > math.MaxInt32 || f != math.Trunc(f) {
		return 0, fmt.Errorf("%s must be a number from 1", key)
	}
	return int(f), nil
}
