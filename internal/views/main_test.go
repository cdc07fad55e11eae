package views

import (
	"testing"

	"go.uber.org/goleak"
)

// The clock of the highlighter's expressions ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}
