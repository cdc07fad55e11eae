package policy

import (
	"slices"
	"strings"
	"testing"
)

// What looks like a credential is held back from agents' commands by its name.
func TestThreat84NamesOfCredentials(t *testing.T) {
	for _, name := range strings.Fields(
		`GITHUB_TOKEN AWS_SECRET_ACCESS_KEY npm_config__authToken MYSQL_PWD PGPASSWORD githubtoken MY-KEY x.passphrase SESSION_COOKIE
		DATABASE_URL TEST_DATABASE_URL DB_URL SQLALCHEMY_DATABASE_URI SENTRY_DSN DSN SLACK_WEBHOOK_URL WEBHOOK DISCORD_WEBHOOKS
		AZURE_STORAGE_CONNECTION_STRING CONNECTION_STRING REDIS_CONN_STR NPM_AUTH`) {
		if kept, withheld := Inherit([]string{name + "=x"}, nil, nil); len(kept) > 0 ||
			!slices.Equal(withheld, []string{name}) {
			t.Errorf("%s: kept %q, withheld %q", name, kept, withheld)
		}
	}
	for _, name := range strings.Fields(
		`PATH HOME PWD OLDPWD SSH_AUTH_SOCK MONKEY TOKENIZERS_PARALLELISM KEYBOARD_LAYOUT XDG_SESSION_ID EDITOR LS_COLORS GOFLAGS REDIS_URL AUTHOR COMPASS PASSENGERS`) {
		if kept, _ := Inherit([]string{name + "=x"}, nil, nil); len(kept) != 1 {
			t.Errorf("%s is held back", name)
		}
	}
}

// And by its value, whatever its name is. The values are made up in two parts so
// that this file is not taken for a leak.
func TestThreat84ValuesOfCredentials(t *testing.T) {
	const long = "AbCdEf0123456789AbCdEf0123456789AbCdEf"
	for _, value := range []string{
		"postgres://app:" + "hunter2@db.example:5432/app", "redis://:" + "hunter2@localhost",
		"http://me:" + "pw@proxy:3128", "amqps://a:" + "b@h/v",
		"https://" + long + "@o1.ingest.example/42", "https://x-access:" + long + "@github.com/a/b",
		"Server=db;User Id=sa;Password=" + "hunter2;", "host=db user=app password=" + "hunter2",
		"postgres://app@db/app?password=" + "hunter2&sslmode=on",
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + long + "==",
		"https://a.blob.example/c?sv=1&sig=" + long,
		"https://hooks.slack.com/" + "services/T0/B0/x", "https://discord.com/" + "api/webhooks/1/x",
		"Bearer " + long, "Basic " + "dXNlcjpodW50ZXIy",
		"-----BEGIN OPENSSH " + "PRIVATE KEY-----\nx", "ey" + "JhbGciOiJIUzI1NiJ9.ey" +
			"JzdWIiOiIxMjM0NTY3ODkwIn0.x",
		"ghp" + "_" + long, "github" + "_pat_" + long, "glpat" + "-" + long, "xoxb" + "-123456789012-abc",
		"sk" + "-" + long, "sk" + "-proj-" + long, "sk" + "-ant-api03-" + long,
		"sk" + "_live_" + long, "AKIA" + "IOSFODNN7EXAMPLE", "AIza" + long[:35], "hf" + "_" + long,
		"npm" + "_" + long, "SG" + "." + long + "." + long,
		"--token=" + long,
	} {
		if kept, withheld := Inherit([]string{"HARMLESS=" + value}, nil, nil); len(kept) > 0 ||
			len(withheld) != 1 {
			t.Errorf("inherited: %s", value)
		}
	}
	for _, value := range []string{
		"", "/usr/local/bin:/usr/bin:/bin", "unix:path=/run/user/1000/bus", "ssh://git@github.com/a/b",
		"git@github.com:a/b.git", "https://modules.example.com,direct",
		"redis://localhost:6379/0", "postgres://app@localhost/app", "http://localhost:3128",
		"en_US.UTF-8", "rs=0:di=01;34:ln=01;36:*.key=00;33", "-O2 -g", "sk-learn", "task-runner-name",
		"/home/me/basic training/files", "tcp://127.0.0.1:2375", "user@example.com",
		"https://example.com/a:b@c", "2001:db8::1", "no_token", "tokenizer=fast",
		"risk_assessment_of_a_long_name",
		"/nix/store/0c0bn9sq3nq9q3q0v3gkq4n2v3v1v9kz-desk-tools-1.0", "xterm-256color",
		"desk_0123456789abcdef0123",
	} {
		if kept, _ := Inherit([]string{"HARMLESS=" + value}, nil, nil); len(kept) != 1 {
			t.Errorf("held back: %s", value)
		}
	}
}

func TestInherit(t *testing.T) {
	env := []string{"PATH=/opt/sk-AbCdEf0123456789AbCdEf:/bin",
		"WEBCHAT_PROVIDER_KEY=provider-key-0123", "webchat_x=1", "ACME=acme-secret-0123",
		"HOME=/home/acme-secret-0123", "COPY=acme-secret-0123", "PART=x;acme-secret-0123",
		"ALSO=provider-key-0123",
		"DATABASE_URL=postgres://x", "MY_KEY=mine", "broken"}
	keys := []string{"ACME"}
	kept, withheld := Inherit(env, []string{"MY_KEY", "ACME", "COPY", "WEBCHAT_PROVIDER_KEY"}, keys)
	if want := []string{env[0], env[4], "MY_KEY=mine"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	if want := []string{"ACME", "ALSO", "COPY", "DATABASE_URL", "PART"}; !slices.Equal(withheld,
		want) {
		t.Errorf("withheld %q, want %q", withheld, want)
	}
	if got, want := InheritWhole(env, keys), []string{env[0], env[4], "DATABASE_URL=postgres://x",
		"MY_KEY=mine"}; !slices.Equal(got, want) {
		t.Errorf("the user's own get %q, want %q", got, want)
	}
}
