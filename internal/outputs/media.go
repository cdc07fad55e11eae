package outputs

import (
	"net/http"

	"webchat/internal/kind"
)

// media serves audio or video for the elements of a page that play it, in parts as they ask for
// them. The type is one of [kind.Media], by the first bytes alone. Opened by itself it is saved,
// and no copy of it is kept.
func (h *Handler) media(w http.ResponseWriter, r *http.Request, o *Output, _ query) {
	c := o.content()
	played := kind.Media(c.begin())
	if m := c.meta; m.Type != File || !m.Binary || m.Truncated || m.Gap != nil || !c.complete ||
		played == "" {
		refuse(w, r, http.StatusBadRequest, "no_media",
			"This is neither audio nor video that browsers play: ask for the output itself.")
		return
	}
	safeHeaders(w.Header(), []string{played}, valSandbox, valNoStore)
	w.Header()["Content-Disposition"] = c.head["Content-Disposition"]
	h.parts(w, r, c.reader())
}
