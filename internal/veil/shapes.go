package veil

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is what a credential looks like, or where one stands. Its only group is the secret.
type shape struct {
	expr    string
	anchors []string // a line that has none of them does not match
	also    string   // nor does one without this
	// is says of a match, and the secret in it, whether that is one; nil: it is.
	is func(match, secret []byte) bool
	re func() *regexp.Regexp
}

// shapes are recognised by what services put in front of credentials, so that leaks can be found,
// and by where passwords stand.
//
// They are our own and few. Collections such as that of gitleaks have hundreds of rules, most of
// which look for a name and an equals sign in source code; [Name] judges names.
var shapes = made(
	// a URL with a password
	shape{
		expr:    `[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:]*:([^\s/@]+)@`,
		anchors: []string{"://"},
		also:    "@",
	},
	// or a token instead of a user
	shape{
		expr:    `[a-zA-Z][a-zA-Z0-9+.-]*://([A-Za-z0-9_.~%-]{20,})@`,
		anchors: []string{"://"},
		also:    "@",
	},
	shape{expr: `(?i:\b(?:hooks\.slack\.com/(?:services/)?|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/|api\.telegram\.org/bot))([^\s"'<>]*)`,
		anchors: []string{"hooks.slack.com", "/api/webhooks/", "webhook.office.com", "api.telegram.org"}},
	// an Authorization header
	shape{expr: `(?i:(?:^|[:=]\s*["']?)(?:bearer|basic)\s+([A-Za-z0-9+/._~-]{12,}=*))`,
		anchors: []string{"earer ", "asic ", "EARER ", "ASIC "}},
	shape{expr: `AGE-SECRET-KEY-1([A-Z0-9]*)`, anchors: []string{"AGE-SECRET-KEY-1"}},
	// JSON Web Token
	shape{
		expr:    `\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`,
		anchors: []string{"eyJ"},
	},
	shape{expr: `\b((?:gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,5}t-|xox[a-z]-|xapp-|npm_|pypi-|hf_|dop_v1_|shpat_|dckr_pat_|whsec_|hvs\.|lin_api_|ntn_|figd_)[A-Za-z0-9_-]{10,})`,
		anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glcbt-",
			"glptt-", "glimt-", "glsoat-", "glagent-", "xox", "xapp-", "npm_", "pypi-", "hf_", "dop_v1_",
			"shpat_",
			"dckr_pat_", "whsec_", "hvs.", "lin_api_", "ntn_", "figd_"}},
	// OpenAI, Anthropic, Stripe and others
	shape{expr: `\b((?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*)`,
		anchors: []string{"sk-", "sk_", "pk-", "pk_", "rk-", "rk_"}},
	shape{expr: `\b((?:AKIA|ASIA)[A-Z0-9]{16})\b`, anchors: []string{"AKIA", "ASIA"}},
	shape{expr: `\b(AIza[A-Za-z0-9_-]{35})`, anchors: []string{"AIza"}},
	shape{expr: `\b(ya29\.[A-Za-z0-9_-]{10,})`, anchors: []string{"ya29."}},
	// of curl
	shape{expr: `(?:^|[\s"'])(?:-u|-U|--user|--proxy-user|--auth)[ =]?["']?[^\s:"'/=@]+:([^\s"'@]+)`,
		is: isUsers, anchors: []string{" -u", " -U", "-user", "--auth"}, also: ":"},
	shape{expr: `\b(?:sshpass\s+-p|redis-cli\s(?:.*\s)?-a|docker\s+login\s(?:.*\s)?-p)\s*["']?([^\s"']+)`,
		is: isGiven, anchors: []string{"sshpass", "redis-cli", "docker login"}},
	shape{expr: `\bmysql(?:dump|admin)?\s(?:.*\s)?-p([^\s"']+)`, is: isJoined,
		anchors: []string{"mysql"}, also: " -p"},
	shape{expr: `-pass(?:in|out)\s+["']?pass:([^\s"'<]+)`, is: isGiven, // of openssl
		anchors: []string{"-passin", "-passout"}},
	shape{expr: `(?:\bmachine\s+\S+\s+(?:port\s+\S+\s+)?|\bdefault\s+|^\s*)login\s+\S+\s+` + // .netrc
		`(?:(?:account|port)\s+\S+\s+)?password\s+"?([^\s"]+)`,
		is: isGiven, anchors: []string{"login "}, also: "password"},
	// .pgpass
	shape{expr: `^[^\s:]+:(?:\d{2,5}|\*):[^\s:]+:[^\s:]+:(\S+)$`, anchors: []string{":5432:", ":*:"}},
	shape{expr: `"auth"\s*:\s*"([A-Za-z0-9+/]{8,}={0,2})"`, is: isBasic, // of Docker
		anchors: []string{`"auth"`}},
	shape{expr: `(?i:identified\s+(?:with\s+\S+\s+)?by|\bpassword)\s+'([^'\s]+)'`, is: isGiven, // SQL
		anchors: []string{"DENTIFIED ", "dentified ", "PASSWORD '", "password '"}},
	// Hashes of passwords: of crypt(3), of libraries, of LDAP, of Windows.
	shape{expr: `(\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}` +
		`|[56]\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}` +
		`|g?y\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{43}` +
		`|(?:argon2(?:id|i|d)|scrypt|s0)\$[A-Za-z0-9+/=,$-]{20,}))`,
		anchors: []string{"$2a$", "$2b$", "$2x$", "$2y$", "$apr1$", "$1$", "$5$", "$6$", "$y$", "$gy$",
			"$argon2", "$scrypt$", "$s0$"}},
	shape{expr: `\b((?:pbkdf2[_:]sha\d+|bcrypt_sha256|scrypt:\d+:\d+:\d+)[$:]{1,2}[A-Za-z0-9+/=.$:_-]{20,})`,
		anchors: []string{"pbkdf2", "bcrypt_", "scrypt:"}},
	shape{expr: `\{(?:SSHA|SHA|SMD5|PBKDF2|CRYPT|ARGON2)[0-9-]*\}([A-Za-z0-9+/=$.,-]{16,})`,
		anchors: []string{"{SSHA", "{SHA", "{SMD5}", "{PBKDF2", "{CRYPT}", "{ARGON2"}},
	shape{
		expr:    `\baad3b435b51404eeaad3b435b51404ee:([0-9a-f]{32})`,
		anchors: []string{"aad3b435b51404ee"},
	},
	// Azure: addresses with a signature, keys by the letters that it puts into them, secrets of apps.
	shape{expr: `[?&]sig=([A-Za-z0-9%+/=_-]{20,})`, anchors: []string{"sig="}},
	shape{expr: `(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{33,80}(?:\+ASt|AzFu|AzSe|AzCa|ACDb|\+AEh|AIoT|\+ARm)` +
		`[A-Za-z0-9+/]{4,8}={1,2})`,
		anchors: []string{"+ASt", "AzFu", "AzSe", "AzCa", "ACDb", "+AEh", "AIoT", "+ARm"}},
	shape{expr: `\b([A-Za-z0-9]{40,}JQQJ99[A-Za-z0-9]{20,})`, anchors: []string{"JQQJ99"}},
	shape{expr: `\b([A-Za-z0-9]{70,}AZDO[A-Za-z0-9]{4})\b`, anchors: []string{"AZDO"}},
	shape{expr: `([A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})`, anchors: []string{"7Q~", "8Q~"}},
	shape{expr: `\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})`, anchors: []string{"SG."}},
)

// otherwise are shapes of variables' values that [Spans] finds by other means.
// connection strings
const otherwise = `(?i:\b(?:password|passwd|pwd|(?:account|access|api|shared ?access)[_-]?key|client_?secret|sig|secret|(?:access_|auth)?token)\s*=\s*[^\s;&"',]{3})` +
	`|-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File`

func made(list ...shape) []shape {
	for i := range list {
		list[i].re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(list[i].expr) })
	}
	return list
}

var values = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(otherwise) })

// Value reports whether the value of a variable holds what looks like a credential.
func Value(value string) bool { return values().MatchString(value) || Shaped([]byte(value)) }

// Shaped reports whether a text holds what looks like a credential whatever it is set to: a token
// by what services put in front of it, a private key, a hash. In source code, names say less.
func Shaped(text []byte) bool {
	return len(keyBlocks(text, false)) > 0 || len(recognised(nil, text, nil)) > 0
}

// mostLooked is how many bytes of a line are compared with shapes.
const mostLooked = 256 << 10

// start is what a credential, or the name of one, is recognised by.
type start struct {
	shape  int    // whose anchor it is; below 0: it is a part of names
	anchor string // of names, in capital letters
	at     int    // where in it the pair stands
}

// starts are the anchors and the parts of names by two neighbouring pairs of bytes of each: those
// of a pair, if pairs has a number for it.
var pairs, starts = func() (pairs [1 << 16]uint16, starts [][]start) {
	starts = [][]start{nil} // no pair has the number 0
	add := func(a, b byte, st start) {
		p := &pairs[pair(a, b)]
		if *p == 0 {
			*p = uint16(len(starts))
			starts = append(starts, nil)
		}
		if !slices.Contains(starts[*p], st) { // an underscore has one case
			starts[*p] = append(starts[*p], st)
		}
	}
	for i, s := range shapes {
		for _, anchor := range s.anchors {
			for _, at := range rarest(anchor) {
				add(anchor[at], anchor[at+1], start{i, anchor, at})
			}
		}
	}
	for _, part := range nameParts {
		small := strings.ToLower(part)
		for _, at := range rarest(part) {
			for _, a := range []byte{part[at], small[at]} {
				for _, b := range []byte{part[at+1], small[at+1]} {
					add(a, b, start{-1, part, at})
				}
			}
		}
	}
	return pairs, starts
}()

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// rarest are the places of two neighbouring pairs of a text, of the three letters in a row that
// texts have the fewest of.
func rarest(text string) [2]int {
	text = strings.ToUpper(text)
	rare := func(i int) (n int) {
		for _, c := range []byte(text[i : i+3]) {
			n += strings.IndexByte("ETAOINSRHLDCUMFPGWYBV_KXJQZ", c)
		}
		return n
	}
	at := 0
	for i := 1; i+2 < len(text); i++ {
		if rare(i) > rare(at) {
			at = i
		}
	}
	return [2]int{at, at + 1}
}

// recognised adds what looks like a shape, and what names of credentials are set to, unless a is
// nil. It passes over every other byte of the text once, as one of two neighbouring pairs begins
// there, and looks closer only where two bytes are of a start.
func recognised(spans []Span, text []byte, a *assignments) []Span {
	done := make([]int, len(shapes)) // where the line ends that a shape was compared with last
	for i := 0; i+1 < len(text); i += 2 {
		n := pairs[pair(text[i], text[i+1])]
		if n == 0 {
			continue
		}
		for _, st := range starts[n] {
			from := i - st.at
			switch {
			case from < 0:
			case st.shape < 0:
				if a != nil && from >= a.passed && hasUpper(text[from:], st.anchor) {
					a.behind(from)
				}
			case i >= done[st.shape] && bytes.HasPrefix(text[from:], []byte(st.anchor)):
				spans, done[st.shape] = shapes[st.shape].match(spans, text, i)
			}
		}
	}
	if a != nil {
		spans = append(spans, a.spans...)
	}
	return spans
}

// hasUpper reports whether a text begins with a word of capital letters, whatever its case.
func hasUpper(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if text[i]&^0x20 != word[i] {
			return false
		}
	}
	return true
}

// match compares a shape with the line around i, and returns where that ends.
func (s *shape) match(spans []Span, text []byte, i int) ([]Span, int) {
	from, to := lineAround(text, i)
	line := text[from:min(to, from+mostLooked)]
	if !bytes.Contains(line, []byte(s.also)) {
		return spans, to
	}
	for _, m := range s.re().FindAllSubmatchIndex(line, -1) {
		if m[3] > m[2] && (s.is == nil || s.is(line[m[0]:m[1]], line[m[2]:m[3]])) {
			spans = append(spans, Span{from + m[2], from + m[3]})
		}
	}
	return spans, to
}

func lineAround(text []byte, i int) (from, to int) {
	from = bytes.LastIndexByte(text[:i], '\n') + 1
	if to = bytes.IndexByte(text[i:], '\n'); to < 0 {
		return from, len(text)
	}
	return from, i + to
}
