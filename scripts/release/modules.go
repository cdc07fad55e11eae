package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// inventoryName is the list of modules, as CycloneDX has it.
const inventoryName = "webchat.cdx.json"

// module is a part of the programs that others made.
type module struct {
	path, version string
	folder        string // of its source
}

// standard is the path of the standard library in the list.
const standard = "std"

func readModules(file string) (map[string]module, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := map[string]module{}
	for line := range strings.Lines(string(b)) {
		part := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(part) == 3 {
			known[part[0]] = module{part[0], part[1], part[2]}
		}
	}
	return known, nil
}

// embedded begins the paths of JavaScript packages that the programs hold.
const embedded = "npm:"

// linked are the modules that are in any of the programs, by their paths, and what is embedded.
func linked(programs []string, known map[string]module) ([]module, error) {
	used := map[string]module{standard: known[standard]}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("read what %s was built from: %w", program, err)
		}
		for _, d := range info.Deps {
			if used[d.Path] = known[d.Path]; d.Replace != nil || used[d.Path].version != d.Version {
				return nil, fmt.Errorf("%s has %s %s, and the list of modules %q", program, d.Path, d.Version,
					used[d.Path].version)
			}
		}
	}
	for path, m := range known {
		if strings.HasPrefix(path, embedded) {
			used[path] = m
		}
	}
	var list []module
	for _, m := range used {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return list, nil
}

// writeInventory writes the list of modules twice: for programs, and for people with
// the texts of the licences, most of which have to come with the program.
func writeInventory(used []module, dir string, date time.Time) error {
	var texts strings.Builder
	var parts []cyclonedx.Component
	for _, m := range used {
		text, err := licenceText(m.folder)
		if err != nil {
			return err
		}
		found := licences(text)
		if len(found) == 0 {
			return fmt.Errorf(
				"the licence of %s is none that is known here; read it and add it to scripts/release", m.path)
		}
		expression := strings.Join(found, " AND ")
		purl := "pkg:golang/" + m.path + "@" + m.version
		if name, ok := strings.CutPrefix(m.path, embedded); ok {
			purl = "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + m.version
		}
		parts = append(parts, cyclonedx.Component{
			BOMRef:     purl,
			Type:       cyclonedx.ComponentTypeLibrary,
			Name:       strings.TrimPrefix(m.path, embedded),
			Version:    m.version,
			PackageURL: purl,
			Licenses:   &cyclonedx.Licenses{{Expression: expression}},
		})
		fmt.Fprintf(&texts, "%s %s\n%s\n\n%s\n\n%s\n\n", m.path, m.version, expression,
			strings.TrimSpace(text), strings.Repeat("-", 80))
	}
	list := cyclonedx.NewBOM()
	list.Metadata = &cyclonedx.Metadata{
		Timestamp: date.Format(time.RFC3339),
		Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, Name: "webchat"},
	}
	list.Components = &parts
	var b bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&b,
		cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(list); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, inventoryName), b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "LICENCES.txt"), []byte(texts.String()), 0o644)
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice)([.-].*)?$`)

// licenceText is what a module says of its licence, all files of it.
func licenceText(folder string) (string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return "", fmt.Errorf("look for a licence: %w", err)
	}
	var texts []string
	for _, f := range files { // sorted
		if !f.Type().IsRegular() || !licenceFile.MatchString(f.Name()) ||
			strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return "", err
		}
		texts = append(texts, strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	return strings.Join(texts, "\n"), nil
}

// known are licences by what only they say; the names are those of the SPDX list.
var known = []struct {
	id   string
	says *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`apache license,? version 2\.0`)},
	{"BSD-2-Clause", regexp.MustCompile(`redistribution and use in source and binary forms`)},
	{"BSD-3-Clause",
		regexp.MustCompile(
			`redistribution and use in source and binary forms.*(neither the name|names? of .{0,80}may not be used to endorse)`)},
	{"ISC", regexp.MustCompile(
		`permission to use, copy, modify, and(/or)? distribute this software for any purpose`)},
	{"MIT", regexp.MustCompile(
		`permission is hereby granted, free of charge, to any person obtaining a copy`)},
	{"MPL-2.0", regexp.MustCompile(`mozilla public license,? version 2\.0`)},
	{"Unlicense",
		regexp.MustCompile(`this is free and unencumbered software released into the public domain`)},
}

// licences are those in a text.
func licences(text string) (found []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range known {
		if l.says.MatchString(text) {
			found = append(found, l.id)
		}
	}
	if slices.Contains(found, "BSD-3-Clause") { // which holds the text of the other
		found = slices.DeleteFunc(found, func(id string) bool { return id == "BSD-2-Clause" })
	}
	return found
}
