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
		"API_TOKEN=«hunter2»", "export DB_PASSWORD='«abc»" /* not closed */, "PASSWORD=«correct»",
		"export SECRET_KEY=\"«a b c»\"", "STRIPE_KEY=«rk_1a2b3c»",
		"DATABASE_URL=«postgres://app:hunter2@db/app»", "+API_TOKEN=«hunter2»",
		"A=1\nMY_SECRET=«x1»\nB=2", "  - SOME_TOKEN=«abc»", "PGPASSWORD=«abc» psql",
		// Data and programs.
		`{"api_key": "«abcd1234»", "n": 1}`, `password: "«hunter22»"`, "password: «hunter2»",
		`  client_secret: '«s3cr3t»'`, `token := "«abcdefgh»"`, `apiKey: "«0123abcd»",`,
		`key = "«` + long + `»"`, "//registry.example/:_authToken=«" + long + "»",
		"https://a.example/c?sv=1&token=«abc123def»&x=1", "Server=db;User Id=sa;Password=«hunter2»;",
		`{"log":"{\"password\":\"«hunter2»\",\"n\":1}"}`, `'password' => '«hunter22»',`,
		"<p>API_TOKEN=«hunter2»</p>", "HOME=/\x00API_TOKEN=«hunter»\x00PATH=/bin\x00",
		"MY_TOKEN=«hunter2»\x00\x01\x02", "**Password**: «hunter2»", "**Password:** «hunter2»",
		"<password>«hunter22»</password>", "`api_key`: `«hunter2»`",
		// Options of commands.
		"deploy --password «hunter2» --host db", "deploy --password «hunter» --host db",
		"x -token «abc123»", `x --api-key "«abcd»"`, "x --client-secret='«abcd»'",
		"x --db-password=«hunter2»",
		"curl -u me:«hunter2» https://h", `curl --user "me:«hun!ter»" https://h`,
		"wget --proxy-user me:«pw» x", "sshpass -p «hunter» ssh h", "mysql -u root -p«hunter» db",
		"docker login -u me -p «hunter» ghcr.io", "redis-cli -h x -a «hunter»",
		"openssl rsa -passin pass:«hunter»", "CREATE USER a IDENTIFIED BY '«hunter»'",
		"ALTER ROLE a WITH PASSWORD '«hunter»';",
		// Files of programs that sign in.
		"machine h login me password «hunter»", "machine h\n  login me\n  password «hunter»\n",
		"default login me password «hunter»", "machine h port 993 login me password «hunter2»",
		"db.example:5432:app:me:«hunter»", `"auth": "«bWU6aHVudGVy»"`,
		// Lists and blocks.
		"password: |\n  «hunter»\nnext: x", "a:\n  api_key: >-\n    «hunter22»\n  b: x",
		"tokens:\n  - «abc123»\n  - \"«abcd1234»\"\nnext: abc123",
		"passwords:\n- «hunter2»\n# none\n- «hunter3»",
		"tokens: [«abc123», \"«abcd1234»\", word]", `"tokens": ["«abcd1234»", "«efgh1234»"]`,
		"\"api_keys\": [\n  \"«abcd1234»\",\n  \"«efgh1234»\"\n], \"x\": \"abcd\"",
		"| API key | «sk1234» |",
		"- name: DB_PASSWORD\n  value: «hunter»\n- name: MODE\n  value: hunter2",
		`{"name": "API_KEY", "value": "«abcd»"}`, `<add key="ApiKey" value="«abcd1234»"/>`,
		`<property name="db.password" value="«hunter2»"/>`,
		// Tables.
		"| Setting | Value |\n|---|---|\n| password | «hunter2» |\n| user | me1234 |",
		"| user | `password` |\n| --- | :---: |\n| me | `«hunter2»` |\n\nhunter2 | x",
		" user | password\n------+----------\n me   | «hunter»\n you  | «x»\n(2 rows)",
		"+----+--------+\n| id | token  |\n+----+--------+\n|  1 | «abcdef» |\n+----+--------+",
		"password | «hunter2»",
		// Hashes of passwords.
		"me:«$6$abcdefgh$" + strings.Repeat("aB3./", 17) + "a»:19000", "hash = «$2b$12$" +
			strings.Repeat("aB3./", 10) + "abc»", "me:«$apr1$abcdefgh$" + strings.Repeat("aB3./", 4) + "ab»",
		"«$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo»",
		"«pbkdf2_sha256$260000$abcdefgh$aGFzaGhhc2hoYXNo=»", "userPassword: {SSHA}«aGFzaGhhc2hoYXNo1234»",
		// Azure.
		"AccountName=x;AccountKey=«" + strings.Repeat("aB3/", 21) + "ab==»;EndpointSuffix=core",
		"https://x.blob.core.windows.net/c?sv=2024&sig=«" + strings.Repeat("aB3", 10) + "%3D»&se=2",
		"use «" + strings.Repeat("aB3/", 19) + "+ASt" + "AbCdE==» here", "«abc8" + "Q~" +
			strings.Repeat("aB3", 11) + "»", "SharedAccessKeyName=x;SharedAccessKey=«" +
			strings.Repeat("aB3/", 10) + "abc=»",
		// Shapes.
		"Authorization: Bearer «" + long + "»", `-H "Authorization: Basic «` + "dXNlcjpodW50ZXIy" + `»"`,
		"use «ghp" + "_" + long + "» here", "«AKIA" + "IOSFODNN7EXAMPLE»",
		"https://«" + long + "»@github.com/a/b", "clone https://me:«pw»@h/x and ftp://a:«b»@c", "«sk" +
			"-proj-" + long + "»", "«ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.abc-_»",
		"https://hooks.slack.com/services/«T0/B0/x»",
		// Keys.
		"-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXk»\n«AAAA==»\n-----END OPENSSH PRIVATE " +
			"KEY-----\nplain",
		"  key: |\n    -----BEGIN PRIVATE KEY-----\n    «MIIEvQ»\n    -----END PRIVATE KEY-----\nMIIEvQ",
		`"private_key": "-----BEGIN PRIVATE KEY-----«\nMIIEvQIBADANBgkqhkiG9w0\n»-----END PRIVATE KEY-----\n"`,
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n«lQPG»\n-----END PGP PRIVATE KEY " +
			"BLOCK-----",
		"Private-Lines: 1\n«AAAA»\nPrivate-MAC: x",
		// Colours within.
		"API_TOKEN=«hun\x1b[31mter2»\x1b[0m", "\x1b[32m«ghp" + "_AbCdEf\x1b[1m0123456789»\x1b[m",
		"\x1b]0;title\aMY_TOKEN=«abc»",
		// None of these.
		"case token => next2", "<token>hunter2", "a.token>hunter22</b>", "<token>word</token>",
		`"password" => $1`, "token = a < b / c1",
		// Nor of these.
		"use --password to set the password", "the --token flag, and --secret too",
		"docker login --password-stdin ghcr.io", "docker build --secret id=npm2,src=x .",
		"x --token $TOKEN --key $KEY", "x --token <token> y",
		"x --api-key YOUR_API_KEY y", "x --password-file /run/x1 y", "x --token ./token1 y",
		"docker run -u 1000:1000 img", "docker run --user node:node img", "rsync -u host:/path/x1 .",
		"git push -u origin HEAD:main",
		"find . -name mysql -print0", "log in with login and password authentication", "password reset",
		"secrets:\n  - db_password\n  - api_key\n", "secrets: [db_password, api_key]",
		"token: |\n  The token of the user 1 here\n",
		"tokens:\n  count: 12abc34\n", "- name: MODE\n  value: abc123\n",
		"- name: DB_PASSWORD\n  valueFrom:\n    x: abc123\n",
		"| Option | Meaning |\n|---|---|\n| `--token` | the token2 of it |\n| token | base64 |",
		"| Token | Meaning |\n|---|---|\n| `+` | plus |\n| if | word |", "cat token | base64 -d1",
		"$1 and $2, $1$2$3", "sed 's/a/$1$x/'", "a {SHA} b", "?sig=short", `"auth": "required1"`,
		`["password", "confirm1"]`, "tokens=[{'a': b1, 'rules1': c}]", "token = ['comment1a'.x(1), css]",
		"gpg --recv-keys " + strings.Repeat("0A", 20), "\"tokens\": [\n  \"access_token\"\n]",
		"| key | RSASSA-PKCS1-v1_5-x |",
		"\tlogin string\n\tpassword string\n", "tokens: []token{0x1234ab, 0x12}",
		"- name: A_TOKEN_FILE\n  value: /run/a1/token\n", `setDefault("SECRET_KEY", "word")`,
		"key, value = pair1", "--- a/x\n+++ b/token1\n", "db:5432", "-----+-----\nx | abc123",
		"", "password: string", "for key := range keys {", "token := next()", "TOKEN=$(cat file)",
		"TOKEN=${TOKEN}", "max_tokens: 4096", "MAX_TOKENS=4096", `"key": "name"`, "tokens = 12",
		"type Token struct", "PASSWORD=", "key: value", "Keyboard: qwertz123456789",
		"if password == other", "PATH=/usr/bin", "PWD=/home/me", `"password": "Password"`,
		"password: ********", "Token:    token,", "a::b", "see https://example.com/a:b@c",
		"git@github.com:a/b.git", `const begin = "-----BEGIN RSA PRIVATE KEY-----"` + "\nnext line",
		"sha256: " + strings.Repeat("0a", 32),
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
// Versions of packages with such names are none.
func TestVersionsAreNoSecrets(t *testing.T) {
	for _, text := range []string{`"jsonwebtoken": "^9.0.2",`, `"js-tokens": "^4.0.0 || 5.x"`,
		`"@octokit/auth-token": "~4.0.0-beta.1"`, `token: 1.2.3`} {
		if got := Spans([]byte(text)); len(got) > 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestEachNameIsFound(t *testing.T) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(secretWords)),
		[]string{"X_CONNECTION_STRING", "A_CONN_STR2", "XTOKEN", "XACCESSKEY", "MY_AUTH", "DATABASE_URL",
			"X_DB_URI"}) {
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
	if !After([]byte(head)).key || After([]byte(head+"-----END RSA PRIVATE KEY-----\n")).key ||
		After([]byte("-----BEGIN CERTIFICATE-----\nMIIE\n")).key {
		t.Error("where a key is open is not known")
	}
	if got := After([]byte(head)).Spans(
		[]byte("AAAA\nBBBB\n-----END RSA PRIVATE KEY-----\nCCCC\n")); !slices.Equal(got,
		[]Span{{0, 4}, {5, 9}}) {
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
	for _, name := range []string{"veil.go", "names.go", "assigned.go", "../guard/token.go",
		"../guard/signins.go", "../guard/key.go", "../tokens/tokens.go", "../policy/sensitive.go"} {
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
		for _, s := range (Before{key: open}).Spans(text) {
			if s.From < last || s.To <= s.From || s.To > len(text) ||
				slices.Contains(text[s.From:s.To], '\n') {
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
		fmt.Fprintf(&b,
			`2026-11-26T10:%02d:%02d.%03dZ INFO worker=%d request="GET /api/items/%d?page=2" status=200 took=%dms key=item-%d`,
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
	for _, part := range []string{"sk-", "a://b@", "eyJ", "token=\"", "password:",
		"-----BEGIN PRIVATE KEY-----", "Bearer ", "\x1b[", "\x1b]", "a=", ":",
		"token=[a,", "token: [", "password:\n", "tokens:\n- a1b2c3\n", "token: |\n a1b2c3\n", "| token ",
		"token|", " -u a:b", "---|\n", "| token |\n---|\n|a1b2c3|\n", "|token|\n-+-\n", "--token a ",
		"--token a1",
		"name: A_TOKEN\n", "name: A_TOKEN\nvalue: a\n", "mysql -p ", "login a password ",
		"login a\npassword b\n", "docker login ", "sig=", "\"auth\": \"", "$6$a$", "AZDO", "Q~7Q~"} {
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

// Cells below a column that is named like a credential are covered, whatever they look like, and no
// others.
func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"id,password,note\n1,hunter,password\n2,\"a,b\"\"c\",x\n" +
			"3,,y\n": "hunter|a,b\"\"c",
		"user;API_Key;n\r\n" +
			"a;$2b$10$abcdefgh;1\r\n": "$2b$10$abcdefgh",
		"id,note,secret\n1,\"two\nlines, here\",one\n2,\"three,\n\",\"on\ntwo\"\n" +
			"3,x,last": "one|on|two|last",
		"id,note,secret\n1,\"never closed,one\n2,a,two\n": "two",
		"model,input_tokens,key\nm,1200,home.title\n":     "",
		"a,has_password\n1,true\n":                        "",
		"\ufeff\"db token\"\tx\nshort\ty\n":               "short",
		"\ufeff\"db_token\"\tx\nshort\ty\n":               "short",
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
