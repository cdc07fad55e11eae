package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	mit = "Permission is hereby granted, free of charge,\nto any person obtaining a copy"
	bsd = "Redistribution and use in source and\nbinary forms\nNeither the name of Relay nor the names"
)

// staged is what was built: this test as the programs, whose modules are all under one
// licence.
func staged(t *testing.T, licence string) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf("std go1.26 %s\n", filepath.Join(dir, "source"))
	list += fmt.Sprintf("npm:@a/script 1.0.0 %s\n", filepath.Join(dir, "source"))
	for _, d := range info.Deps {
		list += fmt.Sprintf("%s %s %s\n", d.Path, d.Version, filepath.Join(dir, "source"))
	}
	for name, b := range map[string][]byte{"bin/linux-amd64/webchat": program,
		"bin/windows-arm64/webchat.exe": program, "common/completions/_webchat": []byte("complete"),
		"common/README.md": []byte("read me"), "modules": []byte(list),
		"source/LICENSE.md": []byte(licence), "source/license.go": []byte("package p")} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700),
			os.WriteFile(name, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReleasesAreTheSameByteForByte(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for i, out := range []string{first, second} {
		stage := staged(t, mit)
		if err := os.Chtimes(filepath.Join(stage, "common", "README.md"), time.Unix(int64(i), 0),
			time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
		if err := release(stage, out, "1700000000"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"SHA256SUMS", inventoryName, "webchat-linux-amd64.tar.gz",
		"webchat-windows-arm64.zip"} {
		a, err := os.ReadFile(filepath.Join(first, name))
		b, err2 := os.ReadFile(filepath.Join(second, name))
		if err := errors.Join(err, err2); err != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s: %v, %d and %d bytes", name, err, len(a), len(b))
		}
	}
	checkArchives(t, first)
	var list struct {
		BOMFormat  string
		Components []struct {
			Name     string
			Licenses []struct{ Expression string }
		}
	}
	b, err := os.ReadFile(filepath.Join(first, inventoryName))
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil || list.BOMFormat != "CycloneDX" || len(list.Components) < 2 ||
		list.Components[0].Licenses[0].Expression != "MIT" {
		t.Errorf("%v, %.200s", err, b)
	}
}

// checkArchives looks into the archives in a folder.
func checkArchives(t *testing.T, out string) {
	t.Helper()
	const files = "webchat, LICENCES.txt, README.md, completions/_webchat, webchat.cdx.json"
	f, err := os.Open(filepath.Join(out, "webchat-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(h.Name, "webchat-linux-amd64/")
		names = append(names, name)
		if executable := h.Mode&0o111 != 0; executable != (name == "webchat") ||
			!h.ModTime.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%+v", h)
		}
	}
	if got := strings.Join(names, ", "); got != files {
		t.Errorf("the archive holds %s", got)
	}
	r, err := zip.OpenReader(filepath.Join(out, "webchat-windows-arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.File[0].Name != "webchat-windows-arm64/webchat.exe" || len(r.File) != 5 {
		t.Errorf("%d files, the first is %s", len(r.File), r.File[0].Name)
	}
}

func TestUnknownLicencesEndTheRelease(t *testing.T) {
	if err := release(staged(t, "You may do what we say."), t.TempDir(), "1"); err == nil ||
		!strings.Contains(err.Error(), "is none that is known here") {
		t.Error(err)
	}
	for text, want := range map[string]string{mit: "MIT", bsd: "BSD-3-Clause",
		bsd[:50]: "BSD-2-Clause", mit + "\nApache License\n  Version 2.0, January": "Apache-2.0 MIT"} {
		if got := strings.Join(licences(text), " "); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
