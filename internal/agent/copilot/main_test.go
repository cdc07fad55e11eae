package copilot_test

import (
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/e2e/standin"
)

func TestMain(m *testing.M) {
	standin.Main()
	goleak.VerifyTestMain(tests{m})
}

// tests are all of the package.
type tests struct{ *testing.M }

// Run implements [goleak.TestingM].
func (t tests) Run() int {
	defer endCommon()
	return t.M.Run()
}
