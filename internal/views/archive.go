package views

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	types "webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/wording"
)

// Bounds of the list of an archive. Nothing of what is packed is kept, only names.
const (
	maxMembers   = 10_000   // names in the list
	maxName      = 1 << 10  // bytes of a name that are shown
	maxDirectory = 8 << 20  // bytes of a ZIP's own list of names
	maxInflated  = 1 << 30  // bytes unpacked to find the names in a compressed tar
	maxWindow    = 64 << 20 // bytes of memory that unpacking Zstandard may ask for
	// of deflate at its densest, and a little: what claims more is a bomb
	maxRatio = 1100
	listTime = 2 * time.Second  // to list an archive
	bombSize = int64(100 << 20) // bytes; below it nothing is called a bomb
)

var (
	errBomb    = errors.New("bomb")
	errTooLong = errors.New("its list of names is too long")
)

// members lists an archive: names, sizes and times. Whatever goes wrong is a sentence in the note;
// then nothing is listed.
func (k *kind) members(ctx context.Context, o *outputs.Output, mediaType string) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	name, err := "ZIP", error(nil)
	if mediaType == zipType {
		k.entries, err = zipMembers(o)
	} else {
		name = "tar"
		k.entries, err = tarMembers(ctx, o, mediaType)
	}
	switch {
	case errors.Is(err, errNoTar):
	case errors.Is(err, errBomb):
		k.note = "This archive unpacks to far more than its size, as bombs do, so its bytes are shown."
	case errors.Is(err, errTooLong):
		k.note = "This archive has more names than a list takes, so its bytes are shown."
	case ctx.Err() != nil && len(k.entries) == 0:
		k.note = "Listing this archive takes too long, so its bytes are shown."
	case err != nil:
		k.note = "This " + name + " file is damaged, so its bytes are shown."
	default:
		for i := range k.entries {
			k.entries[i].line = i + 1
		}
		k.views = []string{List, Hex}
	}
}

// zipMembers reads the list of names at the end of a ZIP. Nothing is unpacked.
func zipMembers(o *outputs.Output) (list []inFolder, err error) {
	r, err := zip.NewReader(&metered{of: o, left: maxDirectory}, o.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	packed, unpacked := 0.0, 0.0
	for _, f := range r.File {
		packed += float64(f.CompressedSize64)
		unpacked += float64(f.UncompressedSize64)
		if len(list) == maxMembers {
			continue
		}
		list = append(list, member(f.Name, "", clamp(f.UncompressedSize64), f.Modified))
	}
	size := float64(o.Size())
	// files that share their bytes
	if packed > size || unpacked > float64(bombSize) && unpacked > maxRatio*size {
		return nil, errBomb
	}
	if more := len(r.File) - len(list); more > 0 {
		list = append(list, remark(fmt.Sprintf("The first %s names are listed. There are %s more.",
			wording.Count(maxMembers), wording.Count(more))))
	}
	return list, nil
}

// errNoTar is for compressed bytes that are something else.
var errNoTar = errors.New("no tar")

// tarMembers goes through a tar, unpacking what is compressed up to a limit and forgetting it. A
// list that ends early says so in its last row.
func tarMembers(ctx context.Context, o *outputs.Output,
	mediaType string) (list []inFolder, err error) {
	packed := io.NewSectionReader(o, 0, o.Size())
	var plain io.Reader = packed // which is skipped through without reading it
	var counted *inflated
	switch mediaType {
	case gzipType:
		z, err := gzip.NewReader(bufio.NewReader(packed))
		if err != nil {
			return nil, err
		}
		counted = &inflated{ctx: ctx, from: z}
	case zstdType:
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		counted = &inflated{ctx: ctx, from: z}
	}
	if counted != nil {
		head := bufio.NewReaderSize(counted, 64<<10)
		b, err := head.Peek(512)
		if t, _ := types.Of(b); t != tarType {
			if err != nil && err != io.EOF {
				return nil, err
			}
			return nil, errNoTar
		}
		plain = head
	}
	t := tar.NewReader(plain)
	for len(list) < maxMembers && ctx.Err() == nil {
		h, err := t.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return endedEarly(list, err, counted, o.Size())
		}
		target := ""
		if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink {
			target = h.Linkname
		}
		list = append(list, member(h.Name, target, max(0, h.Size), h.ModTime))
	}
	if ctx.Err() != nil {
		return endedEarly(list, ctx.Err(), counted, o.Size())
	}
	return append(list, remark(fmt.Sprintf("The first %s names are listed. There may be more.",
		wording.Count(maxMembers)))), nil
}

// endedEarly is a list that could not be read to its end.
func endedEarly(list []inFolder, err error, counted *inflated, size int64) ([]inFolder, error) {
	late := errors.Is(err, context.DeadlineExceeded)
	if counted != nil && (late || counted.n > bombSize) && counted.n/max(1, size) > 200 {
		return nil, errBomb
	}
	why := "The archive is damaged from here on."
	switch {
	case len(list) == 0:
		return nil, err
	case late, errors.Is(err, errInflated):
		why = "There may be more: listing stopped after " + wording.Size(counted.read()) +
			" of unpacked content."
	}
	return append(list, remark(why)), nil
}

func member(name, target string, size int64, at time.Time) inFolder {
	name = cutName(name)
	if target != "" {
		name += " → " + cutName(target)
	}
	return inFolder{
		Entry:  outputs.Entry{Size: size, Modified: at},
		name:   name,
		link:   target != "",
		member: true,
	}
}

func cutName(s string) string {
	if len(s) > maxName {
		return strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	return s
}

func remark(text string) inFolder { return inFolder{name: text, remark: true} }

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// metered reads up to a number of bytes of an output, wherever they are.
type metered struct {
	of   *outputs.Output
	left int64
}

// ReadAt implements [io.ReaderAt].
func (m *metered) ReadAt(p []byte, off int64) (int, error) {
	if m.left -= int64(len(p)); m.left < 0 {
		return 0, errTooLong
	}
	return m.of.ReadAt(p, off)
}

var errInflated = errors.New("too much is packed")

// inflated counts what comes of compressed bytes, and ends it.
type inflated struct {
	ctx  context.Context
	from io.Reader
	n    int64
}

// Read implements [io.Reader].
func (c *inflated) Read(p []byte) (int, error) {
	if c.n > maxInflated {
		return 0, errInflated
	}
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// read is how much came; of a tar that is not compressed it is not counted.
func (c *inflated) read() int64 {
	if c == nil {
		return 0
	}
	return c.n
}
