package policy

const nonblock = 0 // no file of a folder blocks when opened
