// The end of an output's life, seen by a page that still shows it. The server
// draws the card that a reload would show; out of its reach a template serves.

import { getText } from './api.js'
import { clone, fragment } from './html.js'
import { close } from './lines.js'
import { swap } from './ops.js'

/** Outputs whose end is near. */
const ends = {
  due: new Set(),
  timer: 0,
}

/** Lets a card turn into what is left of it; several at once cost one request. */
export function expire(card) {
  if (card.dataset.state !== 'done' || ends.due.has(card)) return
  if ('pane' in card.dataset) { // the server draws it anew
    card.dataset.state = 'expired'
    card.dispatchEvent(new CustomEvent('webchat:stale', { bubbles: true }))
    return
  }
  ends.due.add(card)
  ends.timer ||= setTimeout(draw, 200)
}

/** Looks which of the page's outputs are still there: a server that was away forgot them. */
export function review() {
  for (const el of document.querySelectorAll(':is(#turns [data-card], [data-pane])[data-state=done][data-output]')) ends.due.add(el)
  if (ends.due.size) ends.timer ||= setTimeout(draw, 200)
}

/** The row of a list of outputs that is about one. */
const rowIn = (root, el) => root?.querySelector(`#outs [data-output="${CSS.escape(el.dataset.output ?? '')}"]`)

/** Whether the list of outputs, which comes from the server, says that a card's output is over. */
const listedGone = (card) => Boolean(rowIn(document, card)?.matches('.gone'))

/** Lets the cards follow the list of outputs: it may tell of an end that no clock here saw, as after a restart. */
export function expiring() {
  document.addEventListener('webchat:frame', (e) => {
    if (!e.detail.ops?.some((op) => op.t === 'outs')) return
    const gone = new Set([...document.querySelectorAll('#outs a.gone')].map((row) => row.dataset.output))
    if (!gone.size) return
    for (const card of document.querySelectorAll('[data-card][data-state=done]')) if (gone.has(card.dataset.output)) expire(card)
  })
}

async function draw() {
  const cards = ends.due
  ends.due = new Set()
  ends.timer = 0
  let page = null
  try {
    page = fragment(await getText(location.pathname + location.search))
  } catch { /* the template it is */ }
  for (const card of cards) {
    if (!card.isConnected) continue
    if ('pane' in card.dataset) {
      if (page && !rowIn(page, card)?.matches('[data-state=done]:not([data-ended])')) expire(card)
      continue
    }
    const fresh = page?.getElementById(card.id)
    if (fresh?.dataset.state === 'done') continue // the clock here is ahead of the server's
    // Of a turn from before what that page shows, the list and the clock tell.
    if (!fresh && !listedGone(card) && Date.parse(card.dataset.expires) >= Date.now()) continue
    close(card)
    if (!fresh) bare(card)
    else {
      delete card.dataset.rev // the log did not change, the card does
      swap(card, fresh)
    }
  }
}

function bare(card) {
  card.dataset.state = 'expired'
  card.classList.add('gone')
  for (const el of card.querySelectorAll('.acts > *, .find, .code, .pic, .card-fold, [data-act=read]')) el.remove()
  card.querySelector('.card-head').after(clone('tpl-expired').root)
}
