package cage

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"webchat/internal/proc"
)

// Support is what this system can confine.
type Support struct {
	Why    string // why it confines nothing, as a sentence without its end; empty: it does
	Remedy string // what the user can do about that; empty: nothing
	Lacks  string // what is not held although trees are confined; empty: all is
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
		return Support{Lacks: "a command can end other processes of yours, because the kernel is older than Linux 6.12"}
	case runtime.GOOS != "linux":
		return Support{Why: "only Linux can confine commands, and this is " + runtime.GOOS}
	}
	s := Support{Why: "this system does not let webchat confine commands: " + err.Error(), Remedy: kernelRemedy}
	switch {
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		s.Why = "AppArmor does not let webchat make user namespaces"
		s.Remedy = fmt.Sprintf(profile, self)
	case setting("kernel/unprivileged_userns_clone") == "0":
		s.Why = "the setting kernel.unprivileged_userns_clone is 0"
		s.Remedy = "sudo sysctl -w kernel.unprivileged_userns_clone=1 (to keep it, write it to a file in /etc/sysctl.d)"
	case setting("user/max_user_namespaces") == "0":
		s.Why = "the setting user.max_user_namespaces is 0"
		s.Remedy = "sudo sysctl -w user.max_user_namespaces=15000 (to keep it, write it to a file in /etc/sysctl.d)"
	case isContainer():
		s.Why = "this container does not let webchat make user namespaces and mounts; the container is the wall"
		s.Remedy = "start the container with --security-opt seccomp=deploy/seccomp.json --security-opt apparmor=unconfined, as docs/CONTAINER.md says"
	}
	return s
}

const (
	kernelRemedy = "it takes Linux 5.12 or later, with user namespaces for every user"

	profile = `write this to /etc/apparmor.d/webchat and run "sudo apparmor_parser -r /etc/apparmor.d/webchat":
  abi <abi/4.0>,
  profile webchat %s flags=(unconfined) {
    userns,
  }`
)

// setting is a setting of the kernel; empty: there is none of that name.
func setting(name string) string {
	b, _ := os.ReadFile("/proc/sys/" + name) // most systems have not all of them
	return strings.TrimSpace(string(b))
}

func isContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}
