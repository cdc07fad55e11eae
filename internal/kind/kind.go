// Package kind says what bytes are, by the bytes alone: what a file, a client or a
// model calls them decides nothing.
//
// It knows files by the signatures of gabriel-vasile/mimetype, and by rules of its own
// what that library takes too loosely or not at all: an SVG is XML whose first element
// is svg, and an AVIF may name its brand after another one. Everything reads the
// beginning only and may be called from anywhere.
package kind

import (
	"bytes"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// The types of bytes that need no name of their own.
const (
	SVG     = "image/svg+xml"
	Unknown = "application/octet-stream"
)

// head is how far a NUL byte makes bytes binary, as git has it.
const head = 8000

// Binary reports whether b begins like something that is not text.
func Binary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), head)], 0) >= 0 }

// Picture is the media type of a picture that browsers show, one of six, or empty.
func Picture(b []byte) string {
	switch {
	case isAVIF(b):
		return "image/avif"
	case isSVG(b):
		return SVG
	}
	for m := mimetype.Detect(b); m != nil; m = m.Parent() { // such as image/apng, below image/png
		switch t := m.String(); t {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			return t
		}
	}
	return ""
}

// names are kinds as people call them.
var names = map[string]string{
	"application/x-elf": "ELF", "application/vnd.microsoft.portable-executable": "PE", "application/x-mach-binary": "Mach-O", "application/wasm": "WebAssembly",
	"application/x-archive": "an ar archive", "application/zip": "ZIP", "application/gzip": "gzip", "application/x-bzip2": "bzip2", "application/x-xz": "xz",
	"application/zstd": "Zstandard", "application/x-tar": "tar", "application/x-7z-compressed": "7z", "application/pdf": "PDF", "application/vnd.sqlite3": "SQLite",
	"application/x-java-applet": "Java class", "font/woff2": "WOFF2", "font/ttf": "TrueType", "video/mp4": "MP4", "audio/mpeg": "MP3",
	"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "image/avif": "AVIF", SVG: "SVG", "image/bmp": "BMP", "image/tiff": "TIFF",
	"image/vnd.adobe.photoshop": "Photoshop", "image/heic": "HEIC", "image/jxl": "JPEG XL", "image/x-icon": "ICO",
	"text/html": "HTML", "text/xml": "XML", "text/plain": "text",
}

// Of returns the media type of b and what people call it, such as "ELF". Of bytes
// that are not known the type is [Unknown] and the name empty.
func Of(b []byte) (mediaType, name string) {
	if t := Picture(b); t != "" {
		return t, names[t]
	}
	for m := mimetype.Detect(b); m != nil; m = m.Parent() { // such as a program, below ELF
		t, _, _ := strings.Cut(m.String(), ";")
		if name, ok := names[t]; ok {
			return t, name
		}
	}
	return Unknown, ""
}
