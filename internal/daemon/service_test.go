package daemon

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// odd are a program and a variable with everything that a definition has to escape.
var odd = ServiceConfig{Program: []string{"/opt/my apps/webchat", "serve",
	`--workspace=/home/me/50% "off" \ $HOME <&>`}, Set: []string{"PATH=/usr/bin:/home/me/100%/bin"}}

func TestUnitIsWhatSystemdReads(t *testing.T) {
	c := odd
	c.System, c.ConfigHome = "linux", t.TempDir()
	text := unitText(NewService(c))
	for _, want := range []string{
		`ExecStart="/opt/my apps/webchat" "serve" "--workspace=/home/me/50%% \"off\" \\ $$HOME <&>"` +
			"\n",
		`Environment="PATH=/usr/bin:/home/me/100%%/bin"` + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd to read it")
	}
	name := filepath.Join(t.TempDir(), "webchat.service")
	c.Program = append([]string{"/bin/true"}, c.Program[1:]...) // which has to exist
	if err := os.WriteFile(name, []byte(unitText(NewService(c))), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", name).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("webchat.service")) {
		t.Errorf("%v %s", err, out)
	}
}

func TestAgentIsAPropertyList(t *testing.T) {
	c := odd
	c.System, c.Home = "darwin", "/Users/me"
	text := plistText(NewService(c))
	var strs []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "string" {
			var s string
			if err := d.DecodeElement(&s, &start); err != nil {
				t.Fatal(err)
			}
			strs = append(strs, s)
		}
	}
	want := append(append([]string{serviceName}, c.Program...), "/usr/bin:/home/me/100%/bin",
		"/Users/me/Library/Logs/webchat.log")
	if strings.Join(strs, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", strs, want)
	}
}

func TestOtherSystemsAreToldWhatToDo(t *testing.T) {
	for system, want := range map[string]string{"windows": "schtasks /Create /SC ONLOGON",
		"openbsd": `"/opt/webchat" "serve"`} {
		var out bytes.Buffer
		s := NewService(ServiceConfig{
			System:  system,
			Program: []string{"/opt/webchat", "serve"},
			Out:     &out,
		})
		for _, do := range []func(context.Context) error{s.Install, s.Remove, s.Status} {
			out.Reset()
			if err := do(t.Context()); err != nil || !strings.Contains(out.String(), want) ||
				!strings.Contains(out.String(), "Nothing was changed") {
				t.Errorf("%s: %v, %s", system, err, out.String())
			}
		}
	}
}
