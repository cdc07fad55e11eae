package veil

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The values are made up, in two parts where they would be taken for a leak.
const long = "AbCdEf0123456789AbCdEf0123456789AbCdEf"

// What stands between « and » is found, and nothing else.
func TestSpans(t *testing.T) {
	for _, want := range []string{
		// Files of variables.
		"API_TOKEN=«hunter2»", "export DB_PASSWORD='«abc»" /* not closed */, "PASSWORD=«correct»", "export SECRET_KEY=\"«a b c»\"", "STRIPE_KEY=«rk_1a2b3c»",
		"DATABASE_URL=«postgres://app:hunter2@db/app»", "+API_TOKEN=«hunter2»", "A=1\nMY_SECRET=«x1»\nB=2", "  - SOME_TOKEN=«abc»", "PGPASSWORD=«abc» psql",
		// Data and programs.
		`{"api_key": "«abcd1234»", "n": 1}`, `password: "«hunter22»"`, "password: «hunter2»", `  client_secret: '«s3cr3t»'`, `token := "«abcdefgh»"`, `apiKey: "«0123abcd»",`,
		`key = "«` + long + `»"`, "//registry.example/:_authToken=«" + long + "»", "https://a.example/c?sv=1&token=«abc123def»&x=1", "Server=db;User Id=sa;Password=«hunter2»;",
		`{"log":"{\"password\":\"«hunter2»\",\"n\":1}"}`, `'password' => '«hunter22»',`, "<p>API_TOKEN=«hunter2»</p>", "HOME=/\x00API_TOKEN=«hunter»\x00PATH=/bin\x00",
		"MY_TOKEN=«hunter2»\x00\x01\x02", "**Password**: «hunter2»", "**Password:** «hunter2»", "<password>«hunter22»</password>", "`api_key`: `«hunter2»`",
		// Shapes.
		"Authorization: Bearer «" + long + "»", `-H "Authorization: Basic «` + "dXNlcjpodW50ZXIy" + `»"`, "use «ghp" + "_" + long + "» here", "«AKIA" + "IOSFODNN7EXAMPLE»",
		"https://«" + long + "»@github.com/a/b", "clone https://me:«pw»@h/x and ftp://a:«b»@c", "«sk" + "-proj-" + long + "»", "«ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.abc-_»",
		"https://hooks.slack.com/services/«T0/B0/x»",
		// Keys.
		"-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXk»\n«AAAA==»\n-----END OPENSSH PRIVATE KEY-----\nplain",
		"  key: |\n    -----BEGIN PRIVATE KEY-----\n    «MIIEvQ»\n    -----END PRIVATE KEY-----\nMIIEvQ",
		`"private_key": "-----BEGIN PRIVATE KEY-----«\nMIIEvQIBADANBgkqhkiG9w0\n»-----END PRIVATE KEY-----\n"`,
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n«lQPG»\n-----END PGP PRIVATE KEY BLOCK-----",
		"Private-Lines: 1\n«AAAA»\nPrivate-MAC: x",
		// Colours within.
		"API_TOKEN=«hun\x1b[31mter2»\x1b[0m", "\x1b[32m«ghp" + "_AbCdEf\x1b[1m0123456789»\x1b[m", "\x1b]0;title\aMY_TOKEN=«abc»",
		// None of these.
		"case token => next2", "<token>hunter2", "a.token>hunter22</b>", "<token>word</token>", `"password" => $1`, "token = a < b / c1",
		"", "password: string", "for key := range keys {", "token := next()", "TOKEN=$(cat file)", "TOKEN=${TOKEN}", "max_tokens: 4096", "MAX_TOKENS=4096", `"key": "name"`, "tokens = 12",
		"type Token struct", "PASSWORD=", "key: value", "Keyboard: qwertz123456789", "if password == other", "PATH=/usr/bin", "PWD=/home/me", `"password": "Password"`,
		"password: ********", "Token:    token,", "a::b", "see https://example.com/a:b@c", "git@github.com:a/b.git", `const begin = "-----BEGIN RSA PRIVATE KEY-----"` + "\nnext line", "sha256: " + strings.Repeat("0a", 32),
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(want)
		var b strings.Builder
		at := 0
		for _, s := range Spans([]byte(text)) {
			b.WriteString(text[at:s.From] + "«" + text[s.From:s.To] + "»")
			at = s.To
		}
		if got := b.String() + text[at:]; got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// What a name needs to be looked at is found wherever it stands, and in whatever case.
func TestEachNameIsFound(t *testing.T) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(secretWords)), []string{"X_CONNECTION_STRING", "A_CONN_STR2", "XTOKEN", "XACCESSKEY", "MY_AUTH", "DATABASE_URL", "X_DB_URI"}) {
		for _, name := range []string{name, strings.ToLower(name), name[:1] + strings.ToLower(name[1:])} {
			for pad := range 4 {
				text := strings.Repeat(" ", pad) + "app_" + name + ": \"" + long + "\""
				if spans := Spans([]byte(text)); len(spans) != 1 {
					t.Errorf("%d in %s", len(spans), text)
				}
			}
		}
	}
}

// A window that begins within a key is known to.
func TestSpansFromWithinAKey(t *testing.T) {
	head := "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
	if !Open([]byte(head)) || Open([]byte(head+"-----END RSA PRIVATE KEY-----\n")) || Open([]byte("-----BEGIN CERTIFICATE-----\nMIIE\n")) {
		t.Error("where a key is open is not known")
	}
	if got := SpansFrom([]byte("AAAA\nBBBB\n-----END RSA PRIVATE KEY-----\nCCCC\n"), true); !slices.Equal(got, []Span{{0, 4}, {5, 9}}) {
		t.Errorf("found %v", got)
	}
}

func TestHide(t *testing.T) {
	if got := Hide("a\nTOKEN=hunter2\nb"); got != "a\nTOKEN="+Dots+"\nb" {
		t.Errorf("%q", got)
	}
	if got := Hide(Hide("TOKEN=hunter2")); got != "TOKEN="+Dots {
		t.Errorf("hidden twice: %q", got)
	}
}

// Our own sources hold few: what they have is names, types and calls.
func TestSpansOfSources(t *testing.T) {
	for _, name := range []string{"veil.go", "names.go", "assigned.go", "../guard/token.go", "../guard/signins.go", "../guard/key.go", "../tokens/tokens.go", "../policy/sensitive.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range Spans(b) {
			t.Errorf("%s: %q", name, b[s.From:s.To])
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add([]byte("TOKEN=\x1b[31mhunter2\x1b[0m\n-----BEGIN PRIVATE KEY-----\nAAAA\n"), true)
	f.Add([]byte("\x1b"), false)
	f.Add([]byte("000000\x1b\n0"), true)
	f.Add([]byte("a:b://c:d@e=\"\\"), false)
	f.Fuzz(func(t *testing.T, text []byte, open bool) {
		last := 0
		for _, s := range SpansFrom(text, open) {
			if s.From < last || s.To <= s.From || s.To > len(text) || slices.Contains(text[s.From:s.To], '\n') {
				t.Fatalf("%v of %q", s, text)
			}
			last = s.To
		}
	})
}

// sample is a log of so many lines, of which one in a thousand holds a secret.
func sample(lines int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, `2026-11-26T10:%02d:%02d.%03dZ INFO worker=%d request="GET /api/items/%d?page=2" status=200 took=%dms key=item-%d`,
			i/60%60, i%60, i%1000, r.IntN(9), r.IntN(1e6), r.IntN(999), i)
		if i%1000 == 7 {
			b.WriteString(" token=ghp" + "_" + long)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// The work grows with the length, also where a line is full of what secrets begin with.
func TestSpansAreBounded(t *testing.T) {
	for _, part := range []string{"sk-", "a://b@", "eyJ", "token=\"", "password:", "-----BEGIN PRIVATE KEY-----", "Bearer ", "\x1b[", "\x1b]", "a=", ":"} {
		text := []byte(strings.Repeat(part, 1<<20/len(part)))
		begun := time.Now()
		Spans(text)
		t.Logf("%-30q %s", part, time.Since(begun).Round(time.Millisecond))
	}
}

func BenchmarkSpans(b *testing.B) {
	for name, text := range map[string][]byte{"window": sample(500), "log": sample(100_000)} {
		b.Run(fmt.Sprintf("%s-%dkB", name, len(text)/1000), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Spans(text)
			}
		})
	}
}

// Cells below a column that is named like a credential are covered, whatever they look like, and no others.
func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"id,password,note\n1,hunter,password\n2,\"a,b\"\"c\",x\n3,,y\n":                    "hunter|a,b\"\"c",
		"user;API_Key;n\r\na;$2b$10$abcdefgh;1\r\n":                                        "$2b$10$abcdefgh",
		"id,note,secret\n1,\"two\nlines, here\",one\n2,\"three,\n\",\"on\ntwo\"\n3,x,last": "one|on|two|last",
		"id,note,secret\n1,\"never closed,one\n2,a,two\n":                                  "two",
		"model,input_tokens,key\nm,1200,home.title\n":                                      "",
		"a,has_password\n1,true\n":                                                         "",
		"\ufeff\"db token\"\tx\nshort\ty\n":                                                "short",
		"\ufeff\"db_token\"\tx\nshort\ty\n":                                                "short",
	} {
		name := "a.csv"
		var got []string
		for _, s := range FileSpans(name, []byte(text)) {
			got = append(got, text[s.From:s.To])
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%q: %q, want %q", text, g, want)
		}
	}
	if spans := FileSpans("a.txt", []byte("id,password\n1,hunter\n")); spans != nil {
		t.Error(spans)
	}
}
