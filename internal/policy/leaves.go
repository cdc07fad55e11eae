package policy

import "slices"

// leaving are the beginnings of commands whose effects are outside of the folder, so that no file
// that is brought back undoes them.
var leaving = []string{
	"git push", "git send-email", "gh pr create", "gh pr merge", "gh pr comment", "gh issue create",
	"gh issue comment", "gh release create", "glab mr create", "npm publish", "pnpm publish",
	"yarn publish", "yarn npm publish", "cargo publish", "gem push", "twine upload", "uv publish",
	"poetry publish", "mvn deploy", "docker push", "podman push", "helm push", "helm install",
	"helm upgrade", "kubectl apply", "kubectl delete", "terraform apply", "terraform destroy",
	"ssh", "scp", "sftp", "rsync", "mail", "sendmail", "npm install -g", "apt install",
	"apt-get install",
	"brew install", "systemctl", "crontab", "kill", "pkill", "killall",
}

// Leaves reports whether a command is known to have effects that no file of its folder shows. It
// serves to say so, and to decide nothing.
func Leaves(command string) bool {
	return len(command) <= maxCommand && slices.ContainsFunc(leaving, func(begin string) bool {
		return contains(command, begin)
	})
}
