package proc

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Main()
	_ = os.Unsetenv("WEBCHAT_STANDIN") // helpers are what is watched here
	if role := roles[os.Args[0]]; role != nil {
		role()
		os.Exit(0)
	}
	if os.Getenv("CONCEALED") != "" {
		_ = conceal() // as a server is; the tests then see whether it works
	}
	goleak.VerifyTestMain(m)
}
