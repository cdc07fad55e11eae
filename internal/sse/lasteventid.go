package sse

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ParseLastEventID reads after which id a client wants to go on: the header Last-Event-ID, which a
// reconnecting browser sets, else ?after= of the query. present says that it asked at all; ok, that
// it asked for a decimal number of at most 20 digits which fits. With present and not ok, or an id
// that is not in the log, answer with a full resynchronisation, never with an error status: that
// would end a browser's EventSource for good.
func ParseLastEventID(r *http.Request) (after int64, ok, present bool) {
	if ids := r.Header.Values("Last-Event-ID"); len(ids) > 1 || len(ids) == 1 && ids[0] != "" {
		if len(ids) > 1 {
			return 0, false, true
		}
		after, ok = parseID(ids[0])
		return after, ok, true
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil && !query.Has("after") && strings.Contains(r.URL.RawQuery, "after=") {
		return 0, false, true // it was there, and its escapes were broken
	}
	switch ids := query["after"]; {
	case len(ids) == 0, len(ids) == 1 && ids[0] == "":
		return 0, true, false
	case len(ids) > 1:
		return 0, false, true
	default:
		after, ok = parseID(ids[0])
		return after, ok, true
	}
}

func parseID(s string) (int64, bool) {
	if len(s) == 0 || len(s) > 20 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' { // ParseInt would take signs
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, false // not the greatest number, which ParseInt returns beside it
	}
	return n, true
}
