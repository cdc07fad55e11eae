package cage

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// Ran is a confined command that has ended, with what it printed.
type Ran struct {
	Dir     string // where it began
	Command string // of a shell; it may be unknown
	Exit    int
	Text    string
}

// moves is how a command line goes to another folder first, as agents write it.
var moves = regexp.MustCompile(`^\s*cd\s+(?:--\s+)?(?:"([^"$` + "`" + `\\]+)"|'([^']+)'|([^\s'"$` +
	"`" + `\\;&|<>()*?~\[-][^\s'"$` + "`" + `\\;&|<>()*?\[]*))` +
	`\s*(?:[12]?>\s*/dev/null\s*)?(?:&&|;|\n)`)

// dir is where a command's relative names begin.
func (r Ran) dir() string {
	m := moves.FindStringSubmatch(r.Command)
	if m == nil {
		return r.Dir
	}
	to := filepath.Clean(m[1] + m[2] + m[3])
	if !filepath.IsAbs(to) {
		to = filepath.Join(r.Dir, to)
	}
	if !isFolder(to) {
		return r.Dir
	}
	return to
}

// mostRefused bounds what is found in one text.
const mostRefused = 50

// Refused returns what a text says that its command was refused, if the tree did not give it: each
// thing once, without the id of a call. What is written of other failures is none of it.
func (g *Given) Refused(r Ran) []event.SandboxRefused { return g.refused(r, false) }

// refused is [Given.Refused]; of a tree in which more than that command runs, the hosts that the
// text names.
func (g *Given) refused(r Ran, shared bool) []event.SandboxRefused {
	found := refusals{spec: g.spec, ran: r, open: g.cage.isOpen}
	for _, at := range g.door.takeRefused() {
		host, _, err := net.SplitHostPort(at)
		if named := err == nil && strings.Contains(strings.ToLower(r.Text), host); !named &&
			(shared || r.Exit == 0) {
			continue
		}
		refusal := event.SandboxRefused{
			Kind:   event.RefusedHost,
			What:   at,
			Offers: []event.Offer{event.OfferOutside},
		}
		if opens, err := g.cage.HostOf(at); err == nil {
			refusal.What, refusal.Offers = opens, []event.Offer{event.OfferHost, event.OfferOutside}
		}
		found.add(refusal)
	}
	found.ran.Dir = r.dir()
	for line := range strings.Lines(escapes.ReplaceAllString(r.Text, "")) {
		if len(found.all) < mostRefused && len(line) < 4096 {
			found.read(strings.TrimSpace(line))
		}
	}
	return found.all
}

// Given is what a tree has of the files outside of it.
type Given struct {
	spec *spec
	cage *Cage
	door *door
}

// Refused is [Given.Refused] of the trees of agents that run in the workspace: what none of them
// gives.
func (c *Cage) Refused(r Ran) (all []event.SandboxRefused) {
	first := true
	for _, t := range c.running() {
		if !t.agent {
			continue
		}
		found := (&Given{t.spec, c, t.door}).refused(r, true)
		if first {
			all, first = found, false
			continue
		}
		all = slices.DeleteFunc(all, func(a event.SandboxRefused) bool {
			return !slices.ContainsFunc(found, func(b event.SandboxRefused) bool { return a.What == b.What })
		})
	}
	return all
}

// mostHosts bounds what a door remembers.
const mostHosts = 100

// noteRefused remembers what was not reached.
func (d *door) noteRefused(host, port string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := net.JoinHostPort(host, port); len(d.refused) < mostHosts &&
		!slices.Contains(d.refused, at) {
		d.refused = append(d.refused, at)
	}
}

// takeRefused is what was not reached since the last time.
func (d *door) takeRefused() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.refused
	d.refused = nil
	return all
}

// failure is an error as programs print it.
type failure int

const (
	readOnly failure = iota
	denied
	busy
	missing
)

// failures are what programs write of errors, in lower case.
var failures = []struct {
	text string
	failure
}{
	{"read-only file system", readOnly}, {"permission denied", denied},
	{"device or resource busy", busy}, {"resource busy or locked", busy},
	{"no such file or directory", missing}, {"directory nonexistent", missing},
	{"cannot connect to the docker daemon", missing},
	{"does not appear to be a git repository", missing}, {"fatal: repository", missing},
}

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)
	quoted  = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|`([^`']+)[`']")
	rooted  = regexp.MustCompile(`(?:^|[\s(=:])(?:unix://)?((?:~|\$HOME)?/[^\s'"‘’(),;]+)`)
	writes  = regexp.MustCompile(
		`(?i)\b(?:creat|writ|touch|mkdir|remov|unlink|renam|mov|append|lock|delet|tee:)|install:`)
	// unresolved is how programs say that they found no address for a name: nothing inside does.
	unresolved = regexp.MustCompile(
		`(?i)could not resolve host(?:name)?:? "?([a-z0-9][\w.-]*)|getaddrinfo (?:enotfound|eai_again) ([a-z0-9][\w.-]*)|dial tcp: lookup ([a-z0-9][\w.-]*)`)
)

// refusals are those that are found in the text of a command.
type refusals struct {
	spec *spec
	ran  Ran
	open func(path string, write bool) bool // since the tree started
	all  []event.SandboxRefused
}

// isOpen reports whether a path was opened.
func (c *Cage) isOpen(path string, write bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.opened {
		if o.held != nil && isIn(path, o.held.Name()) && (!write || o.as == proc.Writable) {
			return true
		}
	}
	return false
}

func (f *refusals) read(line string) {
	if m := unresolved.FindStringSubmatch(line); m != nil && f.ran.Exit != 0 {
		host := strings.ToLower(strings.TrimRight(m[1]+m[2]+m[3], "."))
		if !isLocal(host) {
			f.add(event.SandboxRefused{
				Kind:   event.RefusedHost,
				What:   host,
				Offers: []event.Offer{event.OfferOutside},
			})
		}
		return
	}
	low := strings.ToLower(line)
	for _, kind := range failures {
		at := strings.Index(low, kind.text)
		if at < 0 || len(low) != len(line) {
			continue
		}
		for _, named := range names(withoutProgram(line[:at]), line[at+len(kind.text):]) {
			if refusal, ok := f.judge(named, kind.failure, writes.MatchString(line)); ok {
				f.add(refusal)
			}
		}
		return
	}
}

func (f *refusals) add(refusal event.SandboxRefused) {
	known := func(x event.SandboxRefused) bool { // or more of a line than its path
		return x.What == refusal.What || refusal.Probably && strings.HasPrefix(refusal.What, x.What+" ")
	}
	if !slices.ContainsFunc(f.all, known) {
		f.all = append(f.all, refusal)
	}
}

// withoutProgram is what stands behind the path of the program that writes a line.
func withoutProgram(before string) string {
	at, rest, _ := strings.Cut(before, ": ")
	if !filepath.IsAbs(at) || strings.Trim(rest, " :") == "" {
		return before
	}
	if st, err := os.Stat(at); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return before
	}
	return rest
}

// names are what may be paths in a line, of which an error's text stands between two parts.
func names(before, after string) (all []string) {
	for _, part := range []string{before, after} {
		for _, m := range quoted.FindAllStringSubmatch(part, -1) {
			all = append(all, strings.Join(m[1:], ""))
		}
		for _, m := range rooted.FindAllStringSubmatch(part, -1) {
			all = append(all, strings.TrimRight(m[1], ".:"))
		}
	}
	last := strings.TrimRight(before, " :,;-(")
	if i := strings.LastIndex(last, ": "); i >= 0 {
		last = last[i+2:]
	}
	// it may have spaces in it
	if i := strings.IndexByte(last, '/'); i >= 0 && (i == 0 || last[i-1] == ' ') {
		all = append(all, last[i:])
	}
	return append(all, last, last[strings.LastIndexByte(last, ' ')+1:])
}

// judge says of a name in an error's text whether the tree refused it.
func (f *refusals) judge(name string, why failure,
	writes bool) (refusal event.SandboxRefused, refused bool) {
	cfg := f.spec.cfg
	for _, home := range []string{"~/", "$HOME/"} {
		if rest, ok := strings.CutPrefix(name, home); ok {
			name = filepath.Join(cfg.Home, rest)
		}
	}
	relative := !filepath.IsAbs(name)
	if relative {
		name = filepath.Join(f.ran.Dir, name)
	}
	name = filepath.Clean(name)
	if len(name) > 4096 || name == "/" {
		return refusal, false
	}
	access, at, given := f.spec.access(name)
	if real, ok := settled(name); ok {
		name = real // what is opened is reached by no link
	}
	refusal = event.SandboxRefused{Kind: event.RefusedPath, What: name,
		Write: writes || why == readOnly || why == busy}
	if why != busy && f.open(name, refusal.Write) {
		return refusal, false
	}
	st, err := os.Stat(name)
	there := err == nil
	switch {
	case !given:
		switch {
		case why == busy, isIn(name, "/proc"), isIn(name, "/dev"), isIn(name, ownFolder):
			return refusal, false
		case why == missing && there:
			refused = may(name, refusal.Write)
		case why == missing: // it may have been looked for, and is not there outside either
			refusal.Probably = true
			refused = writes && mayMake(name)
		case there:
			refused = may(name, refusal.Write)
		default:
			refused = why == readOnly && mayMake(name)
		}
		refused = refused && f.ran.Exit != 0
	case access == proc.Covered:
		refusal.Inside, refused = true, why != missing && f.ran.Exit != 0
	case access == proc.Frozen, access == proc.Pinned:
		// What git could not replace it goes on without.
		refusal.Inside, refused = true, why == busy || why == readOnly
	case access == proc.Readable:
		refusal.Inside, refused = true, (why == readOnly || why == denied && refusal.Write) &&
			f.ran.Exit != 0 &&
			(there && may(name, true) || !there && mayMake(name))
	}
	refusal.Probably = refusal.Probably || relative && !refusal.Inside
	refusal.Offers, refusal.Folder = f.offers(name, at, access, given, st)
	if why == busy && refusal.Offers != nil { // what is opened is written, and replaced by nothing
		refusal.Offers, refusal.Folder = []event.Offer{event.OfferOutside}, ""
	}
	return refusal, refused
}

// offers are what the user may do about a path.
func (f *refusals) offers(name, at string, access proc.Access, given bool,
	st os.FileInfo) (all []event.Offer, folder string) {
	cfg := f.spec.cfg
	if cfg.Policy.Hidden(name) {
		return nil, ""
	}
	there := st != nil && (st.IsDir() || st.Mode().IsRegular())
	held := given && access > proc.Layered
	switch {
	case access == proc.Pinned && held:
	case held && at != name && there:
		folder = at
	case !there && st != nil: // a socket, a device
	case !there, !st.IsDir():
		if there && (held || !policy.Sensitive(name)) {
			all = append(all, event.OfferFile)
		}
		if !held {
			folder = filepath.Dir(name)
		}
	default:
		folder = name
	}
	if folder != "" && (!isFolder(folder) || !held &&
		(isIn(cfg.Home, folder) || isIn(cfg.Workspace, folder) || holdsSecret(folder))) {
		folder = ""
	}
	if folder != "" {
		all = append(all, event.OfferFolder)
	}
	return append(all, event.OfferOutside), folder
}

// isFolder reports whether a folder is there.
func isFolder(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && st.IsDir()
}

// holdsSecret reports whether a folder is one of keys or passwords, or holds a file of them.
func holdsSecret(dir string) bool {
	list, err := os.ReadDir(dir)
	if err != nil || policy.Sensitive(filepath.Join(dir, "x")) {
		return true
	}
	return slices.ContainsFunc(list, func(d os.DirEntry) bool {
		p := filepath.Join(dir, d.Name())
		return policy.Sensitive(p) || d.IsDir() && policy.Sensitive(filepath.Join(p, "x"))
	})
}

// mayMake reports whether the user could make a file or folder, and those on the way to it.
func mayMake(name string) bool {
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == "/" {
			return may(dir, true)
		}
	}
}

// access is what a tree may do with a path, by the place that it is in; given is false where there
// is none.
func (s *spec) access(name string) (a proc.Access, at string, given bool) {
	real, ok := settled(name)
	leads := !ok // to what is given
	for _, p := range slices.Compact([]string{name, real}) {
		if p == "" || !ok && p == real {
			continue
		}
		for _, place := range slices.Concat(own, s.all()) {
			leads = leads || p == real && isIn(p, place.Path)
			if isIn(p, place.Path) && (len(place.Path) > len(at) || len(place.Path) == len(at) &&
				place.Access > a) {
				a, at, given = place.Access, place.Path, true
			}
		}
	}
	given = given && leads
	if at == "/tmp" { // of another one than the one outside
		_, err := os.Lstat(real)
		given = err != nil
	}
	return a, at, given
}

// own are places that each tree has of its own.
var own = []proc.Place{{Path: "/tmp", Access: proc.Writable}}

// settled is where a path leads whose last elements need not be there.
func settled(name string) (string, bool) {
	for above, rest := name, ""; ; above, rest = filepath.Dir(above),
		filepath.Join(filepath.Base(above), rest) {
		real, err := filepath.EvalSymlinks(above)
		if err == nil {
			return filepath.Join(real, rest), true
		}
		if above == "/" {
			return "", false
		}
	}
}
