package convo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/proc"
)

// Version is the version of an agent's program. Its zero value is ready; it may be used
// concurrently.
type Version struct {
	mu   sync.Mutex // held while the version is looked for; guards what follows
	path string
	file os.FileInfo
	text string
	err  error
}

// Of returns the version of the program at path, which find looks for once for each file.
func (v *Version) Of(path string, find func() (string, error)) (string, error) {
	file, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.path != path || v.file.Size() != file.Size() || !v.file.ModTime().Equal(file.ModTime()) {
		v.path, v.file = path, file
		v.text, v.err = find()
	}
	return v.text, v.err
}

// versionPatience is how long a program may take to print its version.
const versionPatience = 10 * time.Second

// Printed returns what a command prints that is to print a version, also if it fails then.
func Printed(c proc.Command) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience)
	defer cancel()
	var out bytes.Buffer
	c.Output = &out
	exit, err := proc.Run(ctx, c)
	switch text := strings.TrimSpace(out.String()); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it does not respond within %v", versionPatience)
	case err == nil && (exit.Code != 0 || text == ""):
		return text, fmt.Errorf("it ends with status %d", exit.Code)
	default:
		return text, err
	}
}

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
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(strings.ToUpper(v), "NO_PROXY=")
	})
	upper, lower := values["NO_PROXY"], values["no_proxy"]
	return append(env, "NO_PROXY="+strings.TrimPrefix(cmp.Or(upper, lower)+","+near, ","), "no_proxy="+
		strings.TrimPrefix(cmp.Or(lower, upper)+","+near, ","))
}
