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
		after, ok = parseID(ids)
		return after, ok, true
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil && !query.Has("after") && strings.Contains(r.URL.RawQuery, "after=") {
		return 0, false, true // it was there, and its escapes were broken
	}
	if ids := query["after"]; len(ids) > 1 || len(ids) == 1 && ids[0] != "" {
		after, ok = parseID(ids)
		return after, ok, true
	}
	return 0, true, false
}

func parseID(ids []string) (int64, bool) {
	n, err := strconv.ParseUint(ids[0], 10, 63) // it takes no signs
	if err != nil || len(ids) > 1 || len(ids[0]) > 20 {
		return 0, false // not the greatest number, which ParseUint returns beside an error
	}
	return int64(n), true
}
