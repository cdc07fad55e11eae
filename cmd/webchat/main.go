// Command webchat is a chat with coding agents whose display tools show files,
// commands and pictures to the user instead of sending them through the model.
//
// This folder is the door: flags, environment and the configuration file become
// the rooms' Configs, and the rooms are wired. Only here are they read. Run
// "webchat -h" for the flags.
package main

import (
	"context"
	"fmt"
	"os"

	"webchat/internal/proc"
)

func main() {
	proc.Main()         // this process may be the helper of another one
	hooked(os.Args[1:]) // or a hook of an agent
	if err := proc.Server(); err != nil {
		fmt.Fprintln(os.Stderr, "webchat:", err) // it works, with fewer guarantees
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
