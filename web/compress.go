package web

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressMin is the size below which a reply is one packet anyway, in bytes.
const compressMin = 1400

// Encodings returns the content codings, of zstd and gzip, that a request takes, the most wanted
// first and zstd before gzip (RFC 9110 §12.5.3).
func Encodings(r *http.Request) []string {
	zstd, gzip, rest := -1.0, -1.0, 0.0 // how much each is wanted; below 0: it is not named
	for _, value := range r.Header["Accept-Encoding"] {
		for part := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, parameter, _ := strings.Cut(part, ";")
			weight := 1.0
			if q, given := strings.CutPrefix(strings.TrimSpace(parameter), "q="); given {
				if weight, _ = strconv.ParseFloat(q, 64); !(weight <= 1) { // 0 if it is not a number
					weight = 0
				}
			}
			switch strings.TrimSpace(name) {
			case "zstd":
				zstd = weight
			case "gzip":
				gzip = weight
			case "*":
				rest = weight
			}
		}
	}
	if zstd < 0 {
		zstd = rest
	}
	if gzip < 0 {
		gzip = rest
	}
	switch {
	case zstd <= 0 && gzip <= 0:
		return nil
	case zstd <= 0:
		return []string{"gzip"}
	case gzip <= 0:
		return []string{"zstd"}
	case gzip > zstd:
		return []string{"gzip", "zstd"}
	}
	return []string{"zstd", "gzip"}
}

// Encoding returns the most wanted of [Encodings]; empty means none.
func Encoding(r *http.Request) string {
	for _, name := range Encodings(r) {
		return name
	}
	return ""
}

// An effort is what is spent on a reply.
type effort struct {
	gzip int
	zstd func() *zstd.Encoder // one for all replies: making one allocates up to 50 MB
}

var (
	little = effort{gzip.BestSpeed, encoder(zstd.SpeedFastest)}
	much   = effort{gzip.BestCompression, encoder(zstd.SpeedBetterCompression)}
)

// encoder makes one when it is wanted first. Its window holds any file here.
func encoder(level zstd.EncoderLevel) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(1<<17))
		if err != nil {
			panic(err) // of the options
		}
		return w
	})
}

// Compress returns b in an encoding, made in little time; nil if it is not worth it.
func Compress(encoding string, b []byte) []byte { return compress(encoding, b, little) }

func compress(encoding string, b []byte, e effort) []byte {
	if len(b) < compressMin {
		return nil
	}
	var out []byte
	switch encoding {
	case "gzip":
		var buf bytes.Buffer
		w, err := gzip.NewWriterLevel(&buf, e.gzip)
		if err != nil {
			return nil
		}
		if _, err = w.Write(b); err != nil || w.Close() != nil {
			return nil
		}
		out = buf.Bytes()
	case "zstd":
		out = e.zstd().EncodeAll(b, nil)
	}
	if len(out) == 0 || len(out) >= len(b) {
		return nil
	}
	return out
}

// stored is what was compressed once, by the name of the file and the encoding.
var stored sync.Map

// packed returns a file in an encoding. The first reader makes it, and it is kept.
func packed(name, encoding string, b []byte) []byte {
	make := sync.OnceValue(func() []byte { return compress(encoding, b, much) })
	once, _ := stored.LoadOrStore(name+" "+encoding, make)
	return once.(func() []byte)()
}
