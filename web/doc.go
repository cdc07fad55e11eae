// Package web holds everything the browser gets that is not made per request:
// templates, style sheets and scripts, in one file system compiled into the
// program. It is the place where server and scripts agree, so the agreement is
// written here. It imports nothing of ours; [FS] is read-only and safe to share.
//
// # Who makes what
//
// The server makes all HTML. internal/page turns a session's log into it, the
// same for a reload and for the stream.
// Scripts move finished HTML, switch attributes, set text and clone <template>
// elements; they build no HTML from strings. With scripts off the page still
// shows the transcript.
//
// # Frames
//
// GET /sessions/{id}/stream?after=SEQ is a text/event-stream, and a part of GET
// /api/stream?view=page&sessions=ID:SEQ, which a browser reads once for all windows. Each frame is
// one data line of JSON; its id line is the sequence of the last logged event in it and is left out
// before the first. EventSource sends it as Last-Event-ID; a new EventSource passes it as ?after=.
// The page's own is data-seq of #turns.
//
//	{"seq":1204,"pos":88,"ops":[{"a":"add","t":"t-m1.b","h":"<div …>"}]}
//
// seq is that same number, pos counts batches and is only informative. The
// first frame after a connect has "join":true and "from":SEQ as it was
// understood: it takes a page from that place to now, exactly, whatever it saw
// of what is not logged. seq-from events were missed meanwhile. "reset":true
// says that the place could not be honoured: the ops rebuild everything.
// Every op may be applied twice without harm. A frame whose data has a "type"
// is an event of the plain stream, of which the page gets one:
// {"type":"stream.closing","data":{"retryMs":1500}}: come back after that. A frame
// {"disk":{"changed":[…],"agent":[…],"gone":[…],"polled":[…]}} has the outputs whose files are no
// longer as they were read; agent are those of changed that the session's agent wrote, and polled
// those that the system cannot watch. What it does not name is as on disk.
//
//	a        does (t names an element by id; when it is missing, nothing happens)
//	add      puts h into t, before the element whose id is b, else at the end. If the page
//	         has an element with the id of h, that one is replaced where it stands.
//	put      replaces t by h
//	update   gives t the attributes of h, and puts each element in h that has an id in the
//	         place of the one in t. What is data-keep in h, or holds it, is updated in the
//	         same way: it keeps what scripts and other ops put there
//	remove   removes t
//	clear    removes all children of t
//	title    makes h the title of the document
//	say      adds h to #say (polite); alert adds h to #alert (assertive)
//
// A change of anything renders the node it is about anew: a turn, a message, a block of it,
// a call, a question, a note; the parts around the turns are nodes as well. A page may keep
// older turns than the server, which #earlier leads to, and its own #earlier then.
//
// add and put keep what a reader did: an element of the old subtree whose id and data-rev equal
// those of one in the new subtree takes its place, scrolled as it was, as does a .run of a text whose
// twin has data-keep: ops that follow put what it is now; and a <details data-touched>
// (set by the script when the reader toggles it) keeps its open state. Values typed into a form
// with data-ask are kept.
//
// # Ids and data attributes
//
//	body              data-page=session|home|auth|error, data-session, data-folder; data-usable
//	                  once scripts answer what one does
//	script            data-begins: the scripts of app/ to begin with, loaded after the first paint; on the
//	                  sign-in page data-next: those of the page that follows
//	#app              has-desk once there is something on the Desk; scripts add and remove
//	                  no-side, no-desk, keep-side (sessions beside the Desk), is-split and,
//	                  in narrower windows, drawer (sessions) and sheet (the Desk) above the page
//	#side #sessions   navigation (a dialog while it is a drawer) and its list. Row: a[data-session][data-status=idle|
//	                  running|waiting|failed][data-last=SEQ]; a script adds
//	                  data-unread=N; GET /sessions answers the inner HTML of #sessions and,
//	                  in template[data-trouble], #trouble. Parts: ul[data-part], which ends in
//	                  li.next [data-cursor] if rows follow; GET /sessions?part= answers these.
//	                  .folder[data-folder=PATH][data-workspace=ID]: a workspace. #sessions has
//	                  data-short if a script is to ask for the whole list
//	#bar #title #where #status(data-state=live|off|back, text in [data-text])
//	#scroll           the one scroller of the page
//	#hello            the start page, below the composer; hidden once there is a message. A
//	                  script fills its lists, [data-list=changed|looked|run], and #start-head
//	                  from GET /api/start, by clones of #tpl-start
//	#turns            data-seq=SEQ; children: section.turn
//	#wait             what the running turn waits for, hidden when that is nothing, or what a row
//	                  of its own says; drawn once its clock has a text. A clock is
//	                  time[data-age]: a script writes how long ago it is, for data-age=short in
//	                  minutes, and nothing before data-after seconds
//	#earlier          a[data-earlier] to older turns: ?before=SEQ answers a page whose
//	                  #earlier and children of #turns go before the present ones
//	#latest           button "Jump to latest", hidden by default; count in [data-n]
//	#dock-asks        the open questions, above the composer; hidden without one, data-many=true
//	                  with several cards. ol#asks (one li#q-ID[data-rev] each), and #asks-groups:
//	                  [data-several="REQUEST REQUEST"][data-by=acts|held|hosts CALL] for those that
//	                  are one card, each a li[data-of=REQUEST] with a [role=checkbox]; data-wrong: it
//	                  begins without a tick. What is seen ends with .perm-end. A script hides their
//	                  own cards, and puts what a row is about into its .in
//	#dock-queue       the prompts that wait, hidden without one: li#w-ID.queued[data-message] with
//	                  buttons data-act=queue-earlier|queue-edit|queue-remove; data-held after a
//	                  stop: they wait for the user
//	#trouble          why the log cannot be written, hidden while it can
//	#composer         form; data-status=idle|running|waiting (CSS shows stop
//	                  and queue|steer by it), data-backend, data-model,
//	                  data-no-model (names of backends that have none)
//	#prompt           its textarea; #chips, #attach (file input), #menu (listbox), #pick
//	                  buttons: data-act=attach|at|slash|pick|stop|send, and
//	                  data-mode=queue|steer with aria-pressed
//	#meter #ledger #outs  replaced by frames: the line below the composer (data-limit and
//	                  data-left in tokens; [data-adds] and [data-adds-words] are filled by what
//	                  stands in the chips), its figures in #ledger-pop, and the list of outputs
//	                  in #shelf, of which the Desk's tabs are made. Its row:
//	                  a[href="#out/ID"][data-output][data-kind][data-name][data-base][data-icon]
//	                  [data-state=running|done|gone], [data-exit]
//	#desk             #divider, #tabs (tablist), #panes. GET /sessions/{id}/desk/{output}
//	                  answers a pane; {output} is an output's id, or that of the card's element
//	                  without ".r" for a call that stored none. With ?rows=first the pane ends in
//	                  template[data-first=HEAD]: what a request for view=default would answer
//	#toasts           place for toasts
//	#say #alert       live regions
//	#open-bar         the bar: a dialog over the conversation, beside the Desk not modal; --edge
//	                  is where the Desk begins. #open-hits (listbox), [data-count]
//	#keys             its dt[data-others] are keys that act on what most panes show: one with keys of
//	                  its own ignores them; data-also is another key for the same
//	#keys #confirm #consent   dialogs (HTML dialog elements, opened by
//	                  showModal); GET /consent answers the inner HTML of #consent [data-place]
//	templates         #tpl-toast (data-how=fail|ask; none: done) #tpl-chip; #tpl-item
//	                  of menus; #tpl-hits and #tpl-hit of the bar; in cards
//	                  #tpl-find #tpl-goto #tpl-zoom #tpl-read #tpl-part #tpl-expired; on the
//	                  Desk #tpl-tab #tpl-line #tpl-bubble #tpl-away #tpl-views #tpl-other
//	                  #tpl-first; #tpl-grep #tpl-grep-file #tpl-grep-line #tpl-glob of the search
//	                  of texts, whose pane is the page's own; and
//	                  #tpl-map (beside .code in .with-map; rects of class v, h and s for
//	                  view, hits and selection); #tpl-copy #tpl-free #tpl-rename. Their
//	                  parts carry data-part
//
// A turn is section#t-ID.turn[data-turn][data-message][data-from=SEQ], labelled by
// its h2, and its events stand in #t-ID.b. data-state is queued, joined, withdrawn, running,
// completed, aborted, error or interrupted; aria-busy=true while it runs. What is withdrawn, or
// queued with data-waited, is not drawn.
//
//	message     div#m-ID.row[data-message] > div#m-ID.b.said[aria-busy] > div#m-ID.rN.run
//	            > div#m-ID.N.b, one div.b per Markdown block, 64 in a run; only the
//	            last changes while it streams.
//	            Open code and tables grow by parts in #m-ID.N.c: span or tbody
//	            #m-ID.N.c.P, of which only the last changes
//	reasoning   details#r-ID.tool
//	steps       details#g-….steps: rows in a thread; folds when it is over and long
//	tool row    div#c-ID.call > details#c-ID.r.tool, and div#c-ID.n.nest for what a
//	            helper agent did inside of it. The row holds div[data-more] with a link; what
//	            is there takes its place when the row is opened. A script sets data-filled
//	card        div#c-ID.call > article#c-ID.r.card
//	question    details#p-ID.tool: [data-waits] while it is open, then [data-answered=HOW].
//	            Its card is in li#q-ID: section.perm[data-ask=permission][data-request]
//	            [data-row=p-ID][data-expires][data-asked], or [data-ask=input] with a form.
//	            [data-secret=WORDS] if it is about keys. Buttons data-act=allow-once|grant|deny|
//	            deny-reason|ways|less|details; ways opens fieldset.grants with choices
//	            [data-scope=session|workspace] and [data-grant]: data-grants is set meanwhile. For
//	            input: [data-choice] buttons, an input[name=answer] and submit. What would be done is in
//	            [data-whole] and ends with .perm-end. A script sets data-ready once clicks
//	            count, data-keys once keys do, data-read once the end was on the screen
//	note        div#n-….row.note-row
//
// # Cards
//
// article.card[data-card][data-kind=file|terminal|image|hex][data-state=starting|
// running|done|failed|expired][data-call][data-output][data-tool][data-args]
//
//	data-first data-last  numbers of the first and last line the output has
//	data-lines data-bytes data-elapsed   of a running one
//	data-shown="A-B"      lines the server has put into .lines
//	data-expires data-ttl RFC 3339 and milliseconds: life ring (circle.left) and minutes
//	data-tokens           what all of it would cost; data-estimated if sampled
//	data-name             what messages call it
//
// Its last child is footer.slip[data-receipt]: the line that the model read, its price,
// and a[data-slip=TARGET][href="#out/TARGET"], which leads to the Desk. From 1100 pixels
// on the style sheet shows only that, and no turn[data-look], which is a look of the
// user's own.
//
// Its body is .code[tabindex=0] > .lines; rows come from GET
// /api/outputs/{id}?format=html&lines=A-B and look like the first ones:
//
//	<div class="line"><a class="ln" href="#L12" aria-label="Line 12">12</a><code class="cl">…</code></div>
//
// with class e beside line for standard error. The page keeps 18 lines and a
// button.card-fold[data-act=fold]; a picture is .pic > img.
//
// # The Desk
//
// section.pane[data-pane] is a card of another shape, with the same attributes, and
// [data-key] (its tab) and [data-target], which scripts add. Its rows stand in
// .code > .tall > .lines > .rows, of which a script fills what is on the screen.
// Addresses: #out/TARGET, #out/TARGET:62-72 for lines, &with=TARGET for the right half.
//
//	events on panes       webchat:lines (rows were drawn), webchat:touched (by the reader),
//	                      webchat:chosen, webchat:given, webchat:failure, webchat:stale (to be drawn again)
//
//	data-act in cards     find wrap copy download alone (on the Desk) fold more stop-tool pause
//	                      again compare zoom-in zoom-out zoom-fit zoom-one
//	                      read read-all read-hits (all, or what was found) unread
//	views                 [data-view] buttons in the head; one that is not a list of lines stands in
//	                      .other[data-shows] beside .code. div.failure is the first failure
//	data-act on panes     the same, and find-previous to-failure tab close-tab reload-tab newer keep-out, in the
//	                      bubble ask copy-lines link-lines
//	data-act on prompts   again edit branch left, in prompts.js
//	data-act elsewhere    side desk shelf split ledger title-menu new open-bar keys rename pin delete close
//	                      use[data-backend]
//	                      retry, model, restart, recall (errors), latest, show[data-path]
//
// What a button needs stands on it or on its card. data-key names the key that
// presses it while its card or question has the focus.
//
// # Sign-in
//
// body[data-page=auth] has #auth-wait (probing), #auth-out (signed out) and
// #auth-bad (the link was used), of which scripts show one. A signed-out GET of
// a page gives the same page, body[data-probe]: a script first asks GET
// /api/sessions?limit=1; if that works, location.replace of the same address.
package web
