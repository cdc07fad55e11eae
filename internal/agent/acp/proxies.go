package acp

import (
	"slices"
	"strings"
)

// near are the hosts on which webchat lends the session's tools.
const near = "localhost,127.0.0.1,::1"

// aroundProxies is an environment in which proxies are not asked for this machine: the session's
// tools are there, and most agents would look for them at the proxy.
func aroundProxies(env []string) []string {
	except := map[string]string{} // by the names that programs know
	proxy := false
	for _, v := range env {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "NO_PROXY", "no_proxy":
			except[name] = value
		case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy":
			proxy = proxy || value != ""
		}
	}
	if !proxy {
		return env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "NO_PROXY=") })
	for name, other := range map[string]string{"NO_PROXY": "no_proxy", "no_proxy": "NO_PROXY"} {
		value := except[name]
		if value == "" {
			value = except[other]
		}
		env = append(env, name+"="+strings.TrimPrefix(value+","+near, ","))
	}
	return env
}
