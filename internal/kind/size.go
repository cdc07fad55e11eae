package kind

import (
	"bytes"
	"errors"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"
)

// Size reads how many pixels a picture has from its header: nothing is decoded, since
// a file of 33 bytes can claim to be 13 GB of pixels. The error says that b is damaged
// or no picture that browsers show; what it says is not for people.
func Size(b []byte) (width, height int, err error) {
	r := bytes.NewReader(b)
	switch Picture(b) {
	case "image/png":
		c, err := png.DecodeConfig(r)
		return positive(c.Width, c.Height, err)
	case "image/jpeg":
		c, err := jpeg.DecodeConfig(r)
		return positive(c.Width, c.Height, err)
	case "image/gif":
		c, err := gif.DecodeConfig(r)
		return positive(c.Width, c.Height, err)
	case "image/webp":
		c, err := webp.DecodeConfig(r)
		return positive(c.Width, c.Height, err)
	case "image/avif":
		return positive(avifSize(b))
	case SVG:
		return positive(svgSize(b))
	}
	return 0, 0, errors.New("no picture")
}

func positive(width, height int, err error) (int, int, error) {
	if err == nil && (width <= 0 || height <= 0) {
		err = errors.New("it says it has no pixels")
	}
	return width, height, err
}
