package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/wording"
	"webchat/internal/worktree"
)

// refusal is what a kind of error means to a client. An empty sentence says that the error's own
// text is for the client.
type refusal struct {
	status         int
	code, sentence string
	retry          string // seconds
}

// refusals is the one table from errors to answers; the first that matches counts.
var refusals = []struct {
	err error
	refusal
}{
	{session.ErrEmpty, refusal{400, "empty_prompt", "", ""}},
	{session.ErrTooLong, refusal{413, "prompt_too_long", "", ""}},
	{consent.ErrAnswered, refusal{409, "already_answered", "", ""}},
	{consent.ErrGone, refusal{410, "gone", "", ""}},
	{session.ErrBusy, refusal{429, "queue_full", "", "5"}},
	{session.ErrWorking, refusal{409, "turn_running", "", ""}},
	{session.ErrSensitive, refusal{400, "sensitive", "", ""}},
	{eventlog.ErrInvalid, refusal{400, "invalid", "", ""}},
	{eventlog.ErrNotFound, refusal{404, "not_found", "", ""}},
	{outputs.ErrExpired, refusal{404, "not_found",
		"The session has no such output, or it was deleted. GET …/outputs lists those that can be read.",
		""}},
	{outputs.ErrPins, refusal{409, "pins_full",
		"Pins together may hold a quarter of the memory for outputs. Unpin another first.", ""}},
	{page.ErrNoOutput, refusal{404, "not_found", "This session never showed such an output.", ""}},
	{files.ErrChanged, refusal{409, "changed", "", ""}},
	{files.ErrNoSnapshot, refusal{409, "no_snapshot", "", ""}},
	{files.ErrNoTurn, refusal{404, "not_found", "", ""}},
	{files.ErrUnwritten, refusal{503, "unwritten", "", "5"}},
	{worktree.ErrNone, refusal{404, "no_worktree", "", ""}},
	{worktree.ErrUnfit, refusal{409, "worktree_unfit", "", ""}},
	{files.ErrMissing, refusal{409, "folder_missing", "", ""}},
	{files.ErrFolder, refusal{400, "not_a_folder", "", ""}},
	{files.ErrUnconfined, refusal{409, "not_confined", "", ""}},
	{files.ErrUnknown, refusal{404, "not_open", "", ""}},
	{files.ErrLast, refusal{409, "last_workspace", "", ""}},
	{sessions.ErrWorking, refusal{409, "workspace_busy", "", ""}},
	{eventlog.ErrClosed, refusal{503, "closing",
		"The server or the session is closing; try again in a moment.", "2"}},
	{eventlog.ErrLog, refusal{503, "log_unavailable",
		"The log cannot be written, so nothing was changed. Free or repair the disk of the data " +
			"folder, then try again.", "5"}},
	{consent.ErrKeep, refusal{503, "grants_unavailable",
		"What you allow for the workspace cannot be saved; look at the disk of the data folder.", "5"}},
	{agent.ErrUnsupported, refusal{409, "unsupported", "", ""}},
	{agent.ErrUnavailable, refusal{503, "backend_unavailable", "", "5"}},
	{guard.ErrLaunch, refusal{401, "link_void", "", ""}},
	{guard.ErrProof, refusal{401, "signed_out", "", ""}},
	{guard.ErrIdentity, refusal{403, "identity_refused", "", ""}},
	{guard.ErrEnded, refusal{401, "sign_in_ended", "", ""}},
	{guard.ErrProvider, refusal{503, "provider_away", "", "5"}},
	{guard.ErrKey, refusal{400, "bad_key", "", ""}},
	{guard.ErrStreams, refusal{503, "too_many_streams",
		"Too many event streams are open; close one or try again later.", "5"}},
	{sse.ErrClosed, refusal{503, "closing", "The server is closing; try again in a moment.", "2"}},
	{errSearching, refusal{503, "searching",
		"Other searches are still running; try again when they have ended.", "5"}},
	{errCut, refusal{502, "replica_cut", "", ""}},
	{os.ErrDeadlineExceeded, refusal{408, "too_slow",
		"The body did not arrive in time; send it again.", ""}},
}

// status finds what err means; known is false for an unexpected error.
func status(err error) (_ refusal, known bool) {
	if b, ok := errors.AsType[*badRequest](err); ok {
		return refusal{status: http.StatusBadRequest, code: b.code, sentence: b.text}, true
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refusal{
			status:   http.StatusRequestEntityTooLarge,
			code:     "too_large",
			sentence: guard.TooLarge(tooLarge.Limit),
		}, true
	}
	if elsewhere, ok := errors.AsType[*sessions.ElsewhereError](err); ok {
		err = &awayError{until: elsewhere.Until}
	}
	if away, ok := errors.AsType[*awayError](err); ok {
		return refusal{
			status:   http.StatusServiceUnavailable,
			code:     "replica_away",
			sentence: away.Error(),
			retry:    "2",
		}, true
	}
	if failed, ok := errors.AsType[*files.NotRestored](err); ok {
		return refusal{
			status:   http.StatusConflict,
			code:     "unwritten",
			sentence: wording.Sentence(failed.Error() + "; every file is as it was"),
		}, true
	}
	for _, x := range refusals {
		if errors.Is(err, x.err) {
			if disk, ok := errors.AsType[sessions.Refusal](err); ok && x.err == eventlog.ErrLog {
				x.sentence = fmt.Sprintf(
					"The log cannot be written, so nothing was changed: %v. %s, then try again.", disk,
					disk.Advice())
			}
			if x.sentence == "" {
				x.refusal.sentence = messageOf(err)
			}
			return x.refusal, true
		}
	}
	if disk, ok := errors.AsType[sessions.Refusal](err); ok { // of what was to be read
		return refusal{503, "log_unavailable", wording.Sentence(fmt.Sprintf("%v. %s, then try again",
			disk, disk.Advice())), "5"}, true
	}
	return refusal{}, false
}

// messageOf is an error's own text as one says it to a person. That it is invalid the status says.
func messageOf(err error) string {
	return wording.Sentence(strings.ReplaceAll(err.Error(), eventlog.ErrInvalid.Error()+": ", ""))
}

// answers turns what handlers return as errors into answers.
type answers struct {
	logger *slog.Logger
	pages  *Pages // nil: no request is answered by a page
}

// refusalOf decides what a client reads of err, and logs an unexpected one. What was written
// already cannot be taken back: then the connection is cut, so that a part is not taken for the
// whole.
func (a *answers) refusalOf(w http.ResponseWriter, r *http.Request, err error) refusal {
	defer func() {
		if o, ok := w.(*observed); ok && o.status != 0 {
			panic(http.ErrAbortHandler)
		}
	}()
	if x, known := status(err); known {
		return x
	}
	id := rand.Text()[:12]
	if r.Context().Err() == nil || !errors.Is(err, context.Canceled) {
		a.logger.Error("request failed", "request", id, "route", routeOf(r), "error", err)
	}
	return refusal{status: http.StatusInternalServerError, code: "internal",
		sentence: "Something went wrong; the server's log says what, under " + id + "."}
}

// fail answers a program.
func (a *answers) fail(w http.ResponseWriter, r *http.Request, err error) {
	x := a.refusalOf(w, r, err)
	if x.retry != "" {
		w.Header().Set("Retry-After", x.retry)
	}
	_ = reply(w, x.status, refusalBody{x.sentence, x.code})
}

type refusalBody struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// reply writes v as JSON; encoding/json escapes what HTML could take for markup.
func reply(w http.ResponseWriter, status int, v any) error {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	if made, ok := v.(interface{ location() string }); ok && status == http.StatusCreated {
		w.Header().Set("Location", made.location())
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(escaped(b), '\n')) // a client that has gone needs no answer
	return nil
}

// escaped is JSON that says the same without a character that hides, or that a terminal obeys: they
// can stand in strings only.
func escaped(b []byte) []byte {
	if bytes.IndexFunc(b, wording.Hides) < 0 {
		return b
	}
	var out []byte
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if wording.Hides(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
		} else {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	return out
}
