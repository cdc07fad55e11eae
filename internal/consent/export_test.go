package consent

// ErrTimeout is the cause with which a hook's limit ends it.
var ErrTimeout = errTimeout
