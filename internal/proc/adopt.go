package proc

import "errors"

// Server makes this process one that serves: on Linux it becomes the parent of
// what a dead helper leaves, to end it, and closes its memory, environment and
// files to the other programs of its user. Only a program in which nothing but
// this package starts processes may call it, right after [Main].
//
// On the other systems it does nothing: there, what had left the command's session
// survives the death of its helper, and programs of the same user can read this
// process's environment.
func Server() error { return errors.Join(adopt(), conceal()) }
