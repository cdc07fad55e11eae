package displaytools

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/tokens"
	"webchat/internal/wording"
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
func (imageTool) Spec() agent.ToolSpec { return specOf(DisplayImage) }

// Plan implements [agent.Tool]. A picture is not asked about, whatever its name,
// unless a rule says so: what is not a picture is not shown. As a part of a text, one that may
// hold secrets by its name is refused.
func (t imageTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Path  string `json:"path"`
		Final bool   `json:"final"` // for the agent's backend, which ends the turn
	}
	err := decode(DisplayImage, raw, &args)
	if err == nil {
		err = needed("path", args.Path)
	}
	if err != nil {
		return agent.Action{}, err
	}
	c := &imageCall{set: t.set}
	if c.place, err = t.set.work.check(ctx, args.Path); err != nil {
		return agent.Action{}, err
	}
	if c.place.found.IsDir() {
		return agent.Action{}, agent.Errorf(event.KindNotImage, "%s is a folder. Name a picture in it.",
			called(args.Path))
	}
	if c.place.ask != "" && agent.CallFrom(ctx).Part {
		return agent.Action{}, agent.Errorf(event.KindDenied,
			"%s may hold secrets, so it is not shown inside of a text. Open it by its name.",
			called(args.Path))
	}
	d := digest(DisplayImage, t.set.work.Path, c.place.rel, args.Path)
	return agent.Action{Digest: d, Run: c.run, About: t.set.reads(ctx, DisplayImage, "show a picture",
		c.place, d)}, nil
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
	case p.mime == "":
		return notShown(name, data.Bytes()), nil
	case err != nil:
		return agent.Failure(event.KindNotImage, "%s is a damaged picture. Nothing was shown.", name), nil
	case p.pixels() > maxPixels:
		return overLimit(event.LimitImagePixels,
			"%s has %d × %d pixels, over the limit of 200 megapixels for pictures. Nothing was shown.", name,
			p.width, p.height), nil
	case ctx.Err() != nil:
		return agent.Failure(event.KindAborted, "Stopped while %s was read.", name), nil
	}
	meta := c.set.meta(outputs.Image, agent.CallFrom(ctx))
	meta.Disk = c.set.work.disk(c.place, st)
	meta.Path, meta.MimeType, meta.Width, meta.Height = filepath.ToSlash(c.place.rel), p.mime, p.width,
		p.height
	id, err := c.set.out.Put(meta, data.Bytes())
	if err != nil {
		return agent.Failure(event.KindInternal, "%s was not shown: %v", name, err), nil
	}
	text := confirm("Displayed image %s", c.place.asked)
	sent, _ := tokens.Count(text)
	return agent.Result{
		Type:         agent.Success,
		TextForModel: text,
		Telemetry: &agent.Telemetry{
			OutputID:        string(id),
			OutputType:      string(outputs.Image),
			Bytes:           int64(data.Len()),
			TokensShown:     int64(tokens.Picture(p.width, p.height)),
			TokensEstimated: true,
			TokensSent:      int64(sent),
			Fingerprint:     &agent.Fingerprint{Sum: crc32.ChecksumIEEE(data.Bytes())},
		},
	}, nil
}

func tooBig(name string, n int64) agent.Result {
	return overLimit(event.LimitImageBytes,
		"%s has %s, and pictures are shown up to %s. Make it smaller.", name, wording.Size(n),
		wording.Limit(maxPicture))
}

func overLimit(l event.Limit, format string, args ...any) agent.Result {
	r := agent.Failure(event.KindTooLarge, format, args...)
	r.Limit = l
	return r
}

// notShown is the failure for bytes that are not a picture browsers show.
func notShown(name string, b []byte) agent.Result {
	mediaType, what := kind.Of(b)
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return agent.Failure(event.KindNotImage,
			"%s is a %s picture, which browsers may not show. Convert it to PNG first.", name, what)
	case len(b) == 0:
		what = "nothing"
	case bytes.HasPrefix(b, []byte("version https://git-lfs")):
		what = "a Git LFS pointer (git lfs pull brings the picture)"
	case what == "":
		what = "unknown bytes"
	}
	return agent.Failure(event.KindNotImage, "%s holds %s, not a picture. Show it as a file instead.",
		name, what)
}

// picture is what the header of a picture says. Nothing here decodes one.
type picture struct {
	mime          string // empty: no picture
	width, height int    // pixels
}

// look reads the header of b. A b that is not a picture is not an error.
func look(b []byte) (p picture, err error) {
	if p.mime = kind.Picture(b); p.mime != "" {
		p.width, p.height, err = kind.Size(b)
	}
	return p, err
}

func (p picture) pixels() float64 { return float64(p.width) * float64(p.height) }
