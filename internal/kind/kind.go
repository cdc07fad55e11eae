// Package kind says what bytes are, by the bytes alone: what a file, a client or a
// model calls them decides nothing.
//
// It recognises files by the signatures of gabriel-vasile/mimetype, and by rules of its own what
// that library accepts too loosely or not at all: an SVG is XML whose first element is svg, and an
// AVIF may name its brand after another one. Everything reads the beginning only and may be called
// concurrently.
package kind

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	_ "image/gif" // the formats whose sizes are read
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
	_ "golang.org/x/image/webp"
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

// media are the types of audio and video that browsers play, by what they are recognised as.
var media = map[string]string{
	"audio/mpeg": "audio/mpeg", "audio/wav": "audio/wav", "audio/flac": "audio/flac",
	"audio/aac": "audio/aac", "audio/ogg": "audio/ogg",
	"audio/mp4": "audio/mp4", "audio/x-m4a": "audio/mp4",
	"video/mp4": "video/mp4", "video/x-m4v": "video/mp4", "video/webm": "video/webm",
	"video/ogg": "video/ogg",
}

// Media is the media type of audio or video that browsers play, one of nine, or empty.
func Media(b []byte) string { return media[mimetype.Detect(b).String()] }

// isAVIF looks for the brand avif or avis in the first box (ISO/IEC 14496-12, 4.3).
func isAVIF(b []byte) bool {
	if len(b) < 12 || string(b[4:8]) != "ftyp" {
		return false
	}
	end := min(len(b), int(b[2])<<8|int(b[3]), 256)
	for i := 8; i+4 <= end; i += 4 {
		if brand := string(b[i : i+4]); i != 12 && (brand == "avif" || brand == "avis") {
			return true
		}
	}
	return false
}

// svgHead is how far the root element of an SVG is looked for, in bytes.
const svgHead = 64 << 10

// isSVG reports whether the first element of b is svg. Only the tokens before it are read;
// entities are not resolved.
func isSVG(b []byte) bool {
	b = bytes.TrimPrefix(b[:min(len(b), svgHead)], []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("<")) {
		return false
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		t, err := dec.RawToken()
		if err != nil {
			return false
		}
		switch t := t.(type) {
		case xml.StartElement:
			declared := xml.Attr{
				Name:  xml.Name{Space: "xmlns", Local: t.Name.Space},
				Value: "http://www.w3.org/2000/svg",
			}
			return t.Name.Local == "svg" && (t.Name.Space == "" || slices.Contains(t.Attr, declared))
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return false
			}
		case xml.EndElement:
			return false
		}
	}
}

// Size reads how many pixels a picture has from its header: nothing is decoded, since a file of
// 33 bytes can claim to be 13 GB of pixels. It is 0 × 0 for an AVIF and an SVG, whose sizes only
// browsers work out. The error says that b is damaged or no picture that browsers show; what it
// says is not for people.
func Size(b []byte) (width, height int, err error) {
	switch Picture(b) {
	case "":
		return 0, 0, errors.New("no picture")
	case "image/avif", SVG:
		return 0, 0, nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err == nil && (c.Width <= 0 || c.Height <= 0) {
		err = errors.New("it has no pixels")
	}
	return c.Width, c.Height, err
}

// names are kinds as people call them.
var names = map[string]string{
	"application/x-elf": "ELF", "application/vnd.microsoft.portable-executable": "PE",
	"application/x-mach-binary": "Mach-O", "application/wasm": "WebAssembly",
	"application/x-archive": "an ar archive", "application/zip": "ZIP", "application/gzip": "gzip",
	"application/x-bzip2": "bzip2", "application/x-xz": "xz",
	"application/zstd": "Zstandard", "application/x-tar": "tar", "application/x-7z-compressed": "7z",
	"application/pdf": "PDF", "application/vnd.sqlite3": "SQLite",
	"application/x-java-applet": "Java class", "font/woff2": "WOFF2", "font/ttf": "TrueType",
	"video/mp4": "MP4", "audio/mpeg": "MP3", "audio/wav": "WAV", "audio/flac": "FLAC",
	"audio/aac": "AAC", "audio/ogg": "Ogg", "video/ogg": "Ogg", "video/webm": "WebM",
	"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP",
	"image/avif": "AVIF", SVG: "SVG", "image/bmp": "BMP", "image/tiff": "TIFF",
	"image/vnd.adobe.photoshop": "Photoshop", "image/heic": "HEIC", "image/jxl": "JPEG XL",
	"image/x-icon": "ICO",
	"text/html":    "HTML", "text/xml": "XML", "text/plain": "text",
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
