// Command release packs what scripts/release.sh built: an archive for each system, the
// list of modules with their versions and licences, and the archives' checksums. What it
// writes depends on its input alone, not on the time, the machine or the user.
//
//	SOURCE_DATE_EPOCH=1700000000 go run ./scripts/release STAGE OUT
//
// STAGE holds bin/OS-ARCH/webchat, common/ with what every archive gets, and modules,
// with a line "PATH VERSION FOLDER" for each module that may be in the programs, and
// "npm:NAME VERSION FOLDER" for each package of JavaScript that is in all of them.
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: release STAGE OUT")
		os.Exit(2)
	}
	if err := release(os.Args[1], os.Args[2], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release packs stage into out, every file dated epoch, in seconds since 1970.
func release(stage, out, epoch string) error {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", epoch)
	}
	date := time.Unix(seconds, 0).UTC()
	systems, err := filepath.Glob(filepath.Join(stage, "bin", "*", "*"))
	if err != nil || len(systems) == 0 {
		return errors.Join(err, fmt.Errorf("there is no program in %s", stage))
	}
	known, err := readModules(filepath.Join(stage, "modules"))
	if err != nil {
		return err
	}
	used, err := linked(systems, known)
	if err != nil {
		return err
	}
	common := filepath.Join(stage, "common")
	if err := writeInventory(used, common, date); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	inventory, err := os.ReadFile(filepath.Join(common, inventoryName))
	if err == nil {
		err = os.WriteFile(filepath.Join(out, inventoryName), inventory, 0o644)
	}
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, program := range systems { // sorted
		name := "webchat-" + filepath.Base(filepath.Dir(program))
		packed, err := pack(name, program, common, out, date)
		if err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
		b, err := os.ReadFile(packed)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b), filepath.Base(packed))
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
