package acp

// Entry is a server as an agent's configuration has it.
var Entry = entry
