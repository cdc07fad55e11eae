// Command plain is the other side of tests as a program of its own: see [standin].
package main

import (
	"os"

	"webchat/internal/e2e/standin"
)

func main() {
	standin.Main()
	os.Exit(2) // it was started as nothing of this
}
