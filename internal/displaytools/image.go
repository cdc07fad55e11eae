package displaytools

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"
	"io"
	"path/filepath"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/tokens"
)

const (
	maxPicture = 20 << 20 // bytes
	maxPixels  = 200e6
)

// imageTool is display_image.
type imageTool struct{ set *Set }

// imageCall is a planned call.
type imageCall struct {
	set   *Set
	place place
}

// Spec implements [agent.Tool].
func (imageTool) Spec() agent.ToolSpec { return imageSpec }

// Plan implements [agent.Tool]. A picture is not asked about, whatever its name,
// unless a rule says so: what is no picture is not shown.
func (t imageTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	args, err := parse(DisplayImage, raw, "path")
	if err != nil {
		return agent.Action{}, err
	}
	c := &imageCall{set: t.set}
	path, err := args.needed("path")
	if err != nil {
		return agent.Action{}, err
	}
	if c.place, err = t.set.work.check(ctx, path); err != nil {
		return agent.Action{}, err
	}
	if c.place.found.IsDir() {
		return agent.Action{}, agent.Errorf(event.KindNotImage, "%s is a folder. Name a picture in it.", called(path))
	}
	d := digest(DisplayImage, t.set.work.real, c.place.rel, path)
	return agent.Action{Digest: d, Run: c.run, About: t.set.reads(ctx, DisplayImage, "show a picture", c.place, d)}, nil
}

func (c *imageCall) run(ctx context.Context, _ agent.Progress) (agent.Result, error) {
	f, st, err := c.set.work.reopen(ctx, c.place)
	if err != nil {
		return agent.FailedBy(err, event.KindInternal), nil
	}
	defer f.Close()
	name := called(c.place.rel)
	if st.Size() > maxPicture {
		return tooBig(name, st.Size()), nil
	}
	var data bytes.Buffer
	data.Grow(int(st.Size()) + bytes.MinRead)
	if n, err := io.Copy(&data, io.LimitReader(f, maxPicture+1)); err != nil {
		return agent.Failure(event.KindInternal, "%s could not be read: %v", name, err), nil
	} else if n > maxPicture {
		return tooBig(name, n), nil
	}
	p, err := look(data.Bytes())
	switch {
	case err != nil:
		return agent.Failure(event.KindNotImage, "%s is a damaged picture: %v. Nothing was shown.", name, err), nil
	case p.mime == "":
		return agent.Failure(event.KindNotImage, "%s holds %s, not a picture. Show it as a file instead.", name, kindOf(data.Bytes())), nil
	case p.pixels() > maxPixels:
		return overLimit(event.LimitImagePixels, "%s has %d × %d pixels, over the limit of 200 megapixels for pictures. Nothing was shown.", name, p.width, p.height), nil
	case ctx.Err() != nil:
		return agent.Failure(event.KindAborted, "Stopped while %s was read.", name), nil
	}
	meta := c.set.meta(outputs.Image, agent.CallFrom(ctx))
	meta.Path, meta.MimeType, meta.Width, meta.Height = filepath.ToSlash(c.place.rel), p.mime, p.width, p.height
	id, err := c.set.out.Put(meta, data.Bytes())
	if err != nil {
		return agent.Failure(event.KindInternal, "%s was not shown: %v", name, err), nil
	}
	text := confirm("Displayed image %s", c.place.asked)
	sent, _ := tokens.Count(text)
	return agent.Result{Type: agent.Success, TextForModel: text, Telemetry: &agent.Telemetry{OutputID: string(id), OutputType: string(outputs.Image),
		Bytes: int64(data.Len()), TokensShown: p.tokens(), TokensEstimated: true, TokensSent: int64(sent),
		Fingerprint: &agent.Fingerprint{Sum: crc32.ChecksumIEEE(data.Bytes())}}}, nil
}

func tooBig(name string, n int64) agent.Result {
	return overLimit(event.LimitImageBytes, "%s has %s, and pictures are shown up to %s. Make it smaller.", name, size(n), sized(maxPicture, 0))
}

func overLimit(l event.Limit, format string, args ...any) agent.Result {
	r := agent.Failure(event.KindTooLarge, format, args...)
	r.Limit = l
	return r
}

// kindOf names what is no picture, by its first bytes.
func kindOf(b []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"%PDF-", "PDF"}, {"\x7fELF", "an ELF program"}, {"MZ", "a Windows program"}, {"PK\x03\x04", "a ZIP archive"}, {"\x1f\x8b", "gzip data"},
		{"BM", "a BMP bitmap, which browsers may not show"}, {"II*\x00", "a TIFF image, which browsers do not show"}, {"MM\x00*", "a TIFF image, which browsers do not show"},
		{"8BPS", "a Photoshop file"}, {"SQLite format 3\x00", "an SQLite database"},
	} {
		if bytes.HasPrefix(b, []byte(k.magic)) {
			return k.name
		}
	}
	head := bytes.ToLower(bytes.TrimSpace(b[:min(len(b), 512)]))
	switch {
	case len(b) == 0:
		return "nothing"
	case bytes.HasPrefix(head, []byte("<!doctype html")), bytes.HasPrefix(head, []byte("<html")):
		return "HTML"
	case bytes.HasPrefix(head, []byte("<?xml")):
		return "XML"
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return "a Git LFS pointer (git lfs pull brings the picture)"
	case bytes.IndexByte(b[:min(len(b), binaryHead)], 0) >= 0:
		return "unknown bytes"
	}
	return "text"
}
