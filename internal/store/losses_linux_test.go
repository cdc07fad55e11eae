package store

import "testing"

func TestPowerLoss(t *testing.T) { powerLosses(t, 20) }

func TestDiskErrors(t *testing.T) { diskErrors(t, 10) }
