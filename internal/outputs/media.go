package outputs

import (
	"net/http"
	"time"

	"webchat/internal/kind"
)

// ServeMedia serves audio or video for the elements of a page that play it, in parts as they ask
// for them. The type is one of [kind.Media], by the first bytes alone. Opened by itself it is saved
// as [Handler.ServeOutput] has it, and no copy of it is kept.
func (h *Handler) ServeMedia(w http.ResponseWriter, r *http.Request, id ID) {
	o, err := h.store.Get(id)
	if err != nil {
		reply(w, r, http.StatusNotFound, expired)
		return
	}
	c := o.snapshot()
	played := kind.Media(c.begin())
	if m := c.meta; m.Type != File || !m.Binary || m.Truncated || m.Gap != nil || !c.complete || played == "" {
		refuse(w, r, http.StatusBadRequest, "no_media", "This is neither audio nor video that browsers play: ask for the output itself.")
		return
	}
	head := w.Header()
	safeHeaders(head, []string{played}, valSandbox, valNoStore)
	head["Content-Disposition"] = []string{disposition(&c.meta)}
	r, _ = conditional(r)
	p := &paced{ResponseWriter: w, always: true}
	http.ServeContent(&judged{paced: p, request: r}, r, "", time.Time{}, c.reader())
	p.done()
}
