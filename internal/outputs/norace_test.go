//go:build !race

package outputs

const raceEnabled = false
