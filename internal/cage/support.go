package cage

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"

	"webchat/internal/proc"
)

// Support is what this system can confine.
type Support struct {
	Why    string // why it confines nothing, as a sentence without its end; empty: it does
	Remedy string // what the user can do about that, as sentences; empty: nothing, or Command
	// Command is what the user runs in a terminal before webchat is started again; empty: nothing
	// helps that fits into a line.
	Command string
	Lacks   string // what is not held although trees are confined; empty: all is
}

// Confines reports whether trees are confined here.
func (s Support) Confines() bool { return s.Why == "" }

// Probe finds out what this system can confine, by confining a process that does nothing,
// which takes some 25 ms. self is this program's path, for the remedy.
func Probe(self string) Support {
	err := proc.Confines()
	switch {
	case err == nil && proc.HoldsSignals():
		return Support{}
	case err == nil:
		return Support{Lacks: "a command can end other processes of yours, because the kernel is older " +
			"than Linux 6.12"}
	case runtime.GOOS != "linux":
		return Support{Why: cmp.Or(map[string]string{"darwin": "Not yet on macOS",
			"windows": "Not on Windows"}[runtime.GOOS], "Not on "+runtime.GOOS)}
	}
	s := Support{
		Why:    "This system does not let webchat confine commands: " + err.Error(),
		Remedy: kernelRemedy,
	}
	switch {
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		s.Why = "AppArmor does not let webchat make user namespaces"
		s.Remedy, s.Command = "", fmt.Sprintf(profile, self)
	case setting("kernel/unprivileged_userns_clone") == "0":
		s.Why = "The setting kernel.unprivileged_userns_clone is 0"
		s.Remedy, s.Command = kept, "sudo sysctl -w kernel.unprivileged_userns_clone=1"
	case setting("user/max_user_namespaces") == "0":
		s.Why = "The setting user.max_user_namespaces is 0"
		s.Remedy, s.Command = kept, "sudo sysctl -w user.max_user_namespaces=15000"
	case isContainer():
		s.Why = "This container forbids it: the container is the wall"
		s.Remedy =
			"Start it with --security-opt seccomp=deploy/seccomp.json --security-opt apparmor=unconfined, " +
				"as docs/CONTAINER.md says."
	}
	return s
}

const (
	kernelRemedy = "It takes Linux 5.12 or later, with user namespaces for every user."
	kept         = "To keep it, write it to a file in /etc/sysctl.d."

	profile = `printf 'abi <abi/4.0>,\nprofile webchat "%s" flags=(unconfined) {\n  userns,\n}\n' | sudo tee /etc/apparmor.d/webchat && sudo apparmor_parser -r /etc/apparmor.d/webchat`
)

// setting is a setting of the kernel; empty: there is none of that name.
func setting(name string) string {
	b, _ := os.ReadFile("/proc/sys/" + name) // most systems have not all of them
	return strings.TrimSpace(string(b))
}

func isContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv",
		"/var/run/secrets/kubernetes.io"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}
