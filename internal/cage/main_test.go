package cage

import (
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	beAnother()
	goleak.VerifyTestMain(m)
}
