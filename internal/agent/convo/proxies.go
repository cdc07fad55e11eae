package convo

import (
	"cmp"
	"slices"
	"strings"
)

// near are the hosts on which webchat lends the session's tools.
const near = "localhost,127.0.0.1,::1"

// AroundProxies is an environment in which proxies are not asked for this machine: the session's
// tools are there, and most agents would look for them at the proxy.
func AroundProxies(env []string) []string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	proxy := ""
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		proxy += values[name] + values[strings.ToLower(name)]
	}
	if proxy == "" {
		return env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "NO_PROXY=") })
	one, other := values["NO_PROXY"], values["no_proxy"]
	return append(env, "NO_PROXY="+strings.TrimPrefix(cmp.Or(one, other)+","+near, ","), "no_proxy="+strings.TrimPrefix(cmp.Or(other, one)+","+near, ","))
}
