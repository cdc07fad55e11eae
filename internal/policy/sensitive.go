package policy

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// The rules below are our own. The kept rule sets that could be had (gitleaks,
// detect-secrets, secretlint) judge what a file contains: of gitleaks' 235 rules
// one judges a name alone. The lists that judge names (gitrob, shhgit) are not
// longer kept and name every .log file. github/gitignore names what is built.

// sensitiveNames are names of files that hold keys or passwords, as patterns of
// [path.Match] on the lower-case name. Templates such as .env.example are among
// them on purpose: a template that was filled in by mistake is how keys leak.
var sensitiveNames = []string{
	// Variables and settings of deployments.
	".env*", "*.env", ".dev.vars*", "secret*.y*ml", "secrets.*", "*.tfstate*", "*.tfvars",
	// Keys, certificates that may contain one, and stores of them.
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks", "*.keystore", "*.kdbx",
	"*.ovpn",
	// What programs sign in with.
	"credentials", "credentials.json", ".credentials.json", "credentials.tfrc.json",
	"client_secret*.json",
	"service?account*.json", "serviceaccount*.json", "*firebase-adminsdk*.json",
	"application_default_credentials.json",
	".git-credentials", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd",
	".dockercfg",
	".vault-token", ".s3cfg", ".boto", "kubeconfig", "*.kubeconfig", "kubeconfig*.y*ml",
	"oauth_creds.json", "auth.json", "token.json", "tokens.json",
	// What was typed, passwords among it.
	".*_history",
}

// sensitivePaths are ends of paths of such files, as patterns of [path.Match].
var sensitivePaths = []string{
	".docker/config.json", "containers/auth.json", ".kube/config*", ".config/gh/hosts.y*ml",
	".cargo/credentials*",
	".gem/credentials", ".m2/settings*.xml", ".composer/auth.json", ".codex/auth.json",
	"rclone/rclone.conf",
	".config/gcloud/*", "legacy_credentials/*/*",
}

// sensitiveFolders are folders of which every file is taken for one.
var sensitiveFolders = []string{".ssh", ".gnupg", ".aws", ".azure"}

// pictures are endings of names that are not taken for those of secrets.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"}

// sources are endings of names that are not taken for those of SSH keys, which
// begin with "id_": id_token.go is source code, and id_rsa.pub is public.
var sources = []string{
	".pub", ".go", ".py", ".js", ".jsx", ".mjs", ".ts", ".tsx", ".rs", ".c", ".cc", ".cpp", ".h",
	".hpp", ".cs", ".java", ".kt", ".swift",
	".rb", ".php", ".pl", ".ex", ".exs", ".erl", ".hs", ".ml", ".scala", ".lua", ".r", ".vue", ".html",
	".css", ".scss", ".md", ".rst",
}

// backup matches what programs and people add to the name of a copy.
var backup = regexp.MustCompile(
	`(?:~|\.(?:bak|bkp|backup|old|orig|original|save|saved|copy|sw[a-p]|\d{1,14})|[-_. ]copy|[-_]backup|[-_]old)$`)

// backupLength is how many bytes of a name's end [backup] may match.
const backupLength = len(".12345678901234")

// Sensitive reports whether a file may hold keys or passwords by its path, of which
// the last elements suffice. Links have to be followed by the caller, who judges
// both names. See [SensitiveFile] for files whose content has to be looked at.
func Sensitive(p string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(p)), "/")
	last := len(parts) - 1
	if slices.ContainsFunc(parts[:last], func(dir string) bool {
		return slices.Contains(sensitiveFolders, dir)
	}) {
		return true
	}
	dir := strings.Join(parts[:last], "/")
	for _, name := range originals(parts[last]) {
		if sensitiveName(dir, name) {
			return true
		}
	}
	return false
}

// SensitiveNames caches the results of [Sensitive] for up to 250,000 paths, since judging one takes
// as long as searching 10 kB. It may be used concurrently.
type SensitiveNames struct {
	known sync.Map // path → bool
	size  atomic.Int64
}

// Sensitive is [Sensitive].
func (n *SensitiveNames) Sensitive(p string) bool {
	if is, ok := n.known.Load(p); ok {
		return is.(bool)
	}
	if n.size.Add(1) > 250_000 {
		n.known.Clear()
		n.size.Store(0)
	}
	is := Sensitive(p)
	n.known.Store(p, is)
	return is
}

// originals returns a name and the names it may be a backup copy of.
func originals(name string) []string {
	name = strings.TrimRight(name, ". ") // Windows opens "a.key" by "a.key. "
	names := []string{name}
	for range 3 { // server.key.old.1~
		end := max(0, len(name)-backupLength)
		at := backup.FindStringIndex(name[end:])
		if at == nil {
			break
		}
		name = name[:end+at[0]]
		names = append(names, name, strings.TrimPrefix(name, ".")) // an editor's .server.key.swp
	}
	if in, ok := strings.CutPrefix(name, "#"); ok {
		names = append(names, strings.TrimSuffix(in, "#")) // #server.key#
	}
	return names
}

func sensitiveName(dir, name string) bool {
	end := path.Ext(name)
	if slices.Contains(pictures, end) {
		return false
	}
	if strings.HasPrefix(name, "id_") && !slices.Contains(sources, end) {
		return true
	}
	if path.Base(dir) == "secrets" && !slices.Contains(sources, end) {
		return true
	}
	whole := dir + "/" + name
	return slices.ContainsFunc(sensitiveEndings, func(p ending) bool { return p.matchesEnd(whole) })
}

// ending is a pattern of [path.Match] for the ends of paths. Comparing how it begins and ends first
// rules most paths out, some ten times as fast.
type ending struct {
	text          string
	elements      int
	before, after string // its special letters
}

var sensitiveEndings = endings(slices.Concat(sensitiveNames, sensitivePaths))

func endings(texts []string) (all []ending) {
	const special = `*?[\`
	for _, text := range texts {
		p := ending{text: text, elements: strings.Count(text, "/") + 1, before: text, after: text}
		if i := strings.IndexAny(text, special); i >= 0 {
			p.before, p.after = text[:i], text[strings.LastIndexAny(text, special+"]")+1:]
		}
		all = append(all, p)
	}
	return all
}

func (p ending) matchesEnd(name string) bool {
	if !strings.HasSuffix(name, p.after) {
		return false
	}
	end := lastOf(name, p.elements)
	if !strings.HasPrefix(end, p.before) {
		return false
	}
	ok, _ := path.Match(p.text, end)
	return ok
}

// lastOf returns the last n elements of a path.
func lastOf(p string, n int) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			if n--; n == 0 {
				return p[i+1:]
			}
		}
	}
	return p
}

// keyNames are the sensitive names of files that hold one private key.
var keyNames = []string{"*.pem", "*.key", "*.p8", "*.ppk", "id_*"}

// looks says what a sensitive file looks like, by its name.
func looks(name string) string {
	for _, n := range originals(strings.ToLower(path.Base(filepath.ToSlash(name)))) {
		if slices.ContainsFunc(keyNames, func(k string) bool { ok, _ := path.Match(k, n); return ok }) {
			return "looks like a private key"
		}
	}
	return "may hold keys or passwords"
}

// SensitiveFile reports whether the file with this absolute path may hold keys or
// passwords: by its path, or, for git's settings, by a credential within the first
// 64 KiB. A file that is missing or cannot be read is judged by its path only.
func SensitiveFile(name string) bool {
	return Sensitive(name) || isGitConfig(filepath.ToSlash(name)) && headHolds(name)
}

// gitSettings matches the paths of git's settings: of a repository, its worktrees
// and submodules, a bare repository, and a user.
var gitSettings = regexp.MustCompile(
	`(?i)(?:\.git/(?:.*/)?config(?:\.worktree)?|/\.gitconfig|/git/config)$`)

func isGitConfig(p string) bool {
	for _, name := range originals(path.Base(p)) {
		if gitSettings.MatchString(path.Dir(p) + "/" + name) {
			return true
		}
	}
	return false
}

// credential matches what git's settings hold one in: an address with a password,
// or with a user so long that it is a token; a header; a setting named like one.
var credential = regexp.MustCompile(
	`(?im)://[^/\s@:]*:[^/\s@]+@|https?://[^/\s@]{20,}@|^\s*(?:\[[^\]]*\]\s*)?(?:extraheader\s*=.*authorization|\w*(?:pass|passwd|password|token)\s*=)`)

func headHolds(name string) bool {
	b, err := head(name, contentHead)
	return err == nil && HoldsSecret(name, b)
}
