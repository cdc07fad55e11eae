package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThreat46SensitiveNames(t *testing.T) {
	for _, name := range strings.Fields(
		`.env .env.local .env.example .ENV app/.env prod.env config/prod.env.bak .envrc
		server.pem server.pem.old server.key server.key~ tls/server.key.1 .server.key.swp #server.key# server.key.old.1~ cert.p12 a.pfx AuthKey.p8
		id_rsa id_rsa.bak id_ed25519.old ID_ED25519 id_work id_rsa.txt ID_RSA. keys/id_rsa-copy
		secret.yml secrets.yaml secret-prod.yaml secrets.yml.bak secrets.toml k8s/secret_db.yml
		service-account.json service_account-prod.json serviceaccount.json x-firebase-adminsdk-1.json client_secret_1.apps.json
		terraform.tfstate terraform.tfstate.backup prod.tfstate.d.json prod.tfvars
		.docker/config.json home/.docker/config.json .kube/config .kube/config.bak .config/gh/hosts.yml .config/gcloud/credentials.db
		.azure/x/y.json .ssh/config .ssh/photo.png .aws/config .gnupg/pubring.kbx .vault-token .npmrc .netrc .netrc~ .pgpass .git-credentials
		.dev.vars .dev.vars.production kubeconfig.yaml oauth_creds.json auth.json token.json secrets/prod.yaml k8s/secrets/token credentials .aws/credentials .cargo/credentials.toml .m2/settings.xml kubeconfig prod.kubeconfig .bash_history`) {
		if !Sensitive(name) {
			t.Errorf("%s is not sensitive", name)
		}
		if p := "/srv/" + name; !Sensitive(p) {
			t.Errorf("%s is not sensitive", p)
		}
	}
	for _, name := range strings.Fields(
		`main.go environment.md key.go grid_x id_photo.png id_token.go id_gen.py id_rsa.pub idea.txt identity.key.md
		docker/config.json config.json kube/config config hosts.yml gh/hosts.yml secret.go secretary.txt service-account.md accounts.json
		azure/x.json .azure settings.xml tfstate.go credentials.go credentials/README.md settings.json environment package.json old bak.go
		secrets/store.go author.json history.go a.pub gcloud/main.tf server.key.png`) {
		if Sensitive(name) || Sensitive("/srv/"+name) {
			t.Errorf("%s is sensitive", name)
		}
	}
}

// Git's settings are judged by what they hold.
func TestThreat46GitSettings(t *testing.T) {
	const remote = "[remote \"origin\"]\n\turl = "
	for text, want := range map[string]bool{
		remote + "https://me:hunter2@example.com/x.git":                                  true,
		remote + "https://x-access-token:abc@example.com/x.git":                          true,
		remote + "https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@example.com/x.git":    true,
		"[http \"https://example.com/\"]\n\textraheader = AUTHORIZATION: basic eDpnaHM=": true,
		"[sendemail]\n\tsmtpPass = hunter2":                                              true,
		"[github] token = abc":                                                           true,
		remote + "https://example.com/x.git":                                             false,
		remote + "https://me@example.com/x.git":                                          false,
		remote + "ssh://git@example.com:22/x.git":                                        false,
		remote + "git@example.com:me/x.git":                                              false,
		"[core]\n\tbare = false":                                                         false,
		// the head decides
		strings.Repeat("# filling\n", contentHead/10+1) + remote + "https://me:x@y/z": false,
	} {
		dir := t.TempDir()
		for _, name := range []string{".git/config", ".git/modules/lib/config", "bare.git/config",
			".gitconfig", ".git/config.worktree", ".git/config.bak"} {
			full := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := SensitiveFile(full); got != want {
				t.Errorf("%s with %.60q: %v", name, text, got)
			}
		}
	}
	other := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(other, []byte(remote+"https://me:hunter2@example.com/x.git"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if SensitiveFile(other) || SensitiveFile(filepath.Join(t.TempDir(), ".git", "config")) {
		t.Error("a file that is not git's, or is not there, is sensitive")
	}
}
