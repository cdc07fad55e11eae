package cli

import (
	"runtime"
	"slices"
	"strings"
)

// inherited is what the CLI may know of this program's environment: where things are, in which
// language and time, and how to reach the network. What it prints of its own ("copilot help
// environment") is not among it, keys of others neither; COPILOT_ALLOW_ALL would approve every
// tool.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
	"LC_MESSAGES", "TZ", "TERM", "TMPDIR",
	"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", // the keychain
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA",
	"PROGRAMFILES", "TEMP", "TMP", "HOMEDRIVE", "HOMEPATH", // Windows
}

// login is how a user without a keychain signs in; not given when a provider is configured.
var login = []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST",
	"COPILOT_GH_HOST"}

// environment is the whole environment of the CLI, with its state in a folder.
func (p *Program) environment(home string) []string {
	allowed := inherited
	if p.cfg.ProviderURL == "" {
		allowed = slices.Concat(inherited, login)
	}
	var env []string
	for _, kv := range p.cfg.Env {
		k, _, ok := strings.Cut(kv, "=")
		if ok && slices.ContainsFunc(allowed, func(name string) bool {
			return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k)
		}) {
			env = append(env, kv)
		}
	}
	// Without the last, commands of the agent get what the user's login shell exports, keys among
	// it (1.0.102).
	env = append(env, "COPILOT_HOME="+home, "COPILOT_AUTO_UPDATE=false",
		"COPILOT_DISABLE_LOGIN_SHELL_ENV=true")
	if p.cfg.ProviderURL != "" {
		// Offline needs an address at the start; sessions bring their own.
		env = append(env, "COPILOT_OFFLINE=true", "COPILOT_DISABLE_KEYTAR=1",
			"COPILOT_PROVIDER_BASE_URL="+p.cfg.ProviderURL, "COPILOT_MODEL="+p.cfg.ProviderModel)
	}
	return env
}

func getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && (k == name || runtime.GOOS == "windows" &&
			strings.EqualFold(k, name)) {
			return v
		}
	}
	return ""
}
