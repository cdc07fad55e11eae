package acp

// Entry is a server as an agent is told of it.
var Entry = entry
