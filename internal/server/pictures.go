package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/views"
)

// Bounds of pictures of other sites.
const (
	farSize    = 10 << 20
	farTime    = 15 * time.Second
	farHops    = 5 // redirects
	farAtATime = 4
)

// farPictures fetches pictures of other sites that a Markdown text which is shown names, once the
// user asks for them: the page itself loads nothing from elsewhere. A request names a picture by
// what the text was drawn with, never by its address.
type farPictures struct {
	outputs *outputs.Store
	views   *views.Views
	client  *http.Client
	slots   chan struct{} // a place for each picture under way
}

// newFarPictures reaches other sites by what refuses all that are not public; nil: it reaches none.
func newFarPictures(o *outputs.Store, v *views.Views, public http.RoundTripper) *farPictures {
	f := &farPictures{outputs: o, views: v, slots: make(chan struct{}, farAtATime)}
	if public == nil {
		return f
	}
	f.client = &http.Client{
		Transport: public,
		Timeout:   farTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			r.Header.Del("Referer")
			if r.URL.Scheme != "https" || len(via) > farHops {
				return errors.New("it leads on to an address that is not https, or too often")
			}
			return nil
		},
	}
	return f
}

// serve answers with one of them.
func (f *farPictures) serve(w http.ResponseWriter, r *http.Request, id outputs.ID) error {
	o, err := f.outputs.Get(id)
	if err != nil {
		return err
	}
	address, ok := f.views.Picture(o, chi.URLParam(r, "picture"))
	if !ok {
		return outputs.ErrExpired
	}
	data, err := f.fetch(r.Context(), address)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", kind.Picture(data))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
	// as long as what names it is there
	if life := int(time.Until(o.ExpiresAt()).Seconds()); life > 0 {
		h.Set("Cache-Control", "private, max-age="+strconv.Itoa(life))
	}
	_, err = w.Write(data)
	return err
}

// fetch reads a picture. Its error is for the user.
func (f *farPictures) fetch(ctx context.Context, address string) ([]byte, error) {
	if f.client == nil {
		return nil, invalid("no_pictures", "This server fetches nothing from other sites.")
	}
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, invalid("no_picture", "The address of the picture cannot be read.")
	}
	r.Header.Set("Accept", "image/avif,image/webp,image/*")
	r.Header.Set("User-Agent", "webchat")
	res, err := f.client.Do(r)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok { // the address stands in the text
			err = inner.Err
		}
		return nil, unfetched(r.URL.Hostname(), err.Error())
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, unfetched(r.URL.Hostname(), "it answers "+res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, farSize+1))
	switch {
	case err != nil:
		return nil, unfetched(r.URL.Hostname(), err.Error())
	case len(data) > farSize:
		return nil, unfetched(r.URL.Hostname(), "the picture is larger than 10 MB")
	case kind.Picture(data) == "":
		return nil, unfetched(r.URL.Hostname(), "what it sent is not a picture")
	}
	return data, nil
}

func unfetched(host, why string) error {
	return invalid("no_picture", "%s", fmt.Sprintf("Not loaded from %s: %s.", host, why))
}
