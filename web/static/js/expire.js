// The end of an output's life, seen by a page that still shows it. The server
// draws the card that a reload would show; out of its reach a template serves.

import { getText } from './api.js'
import { clone, fragment } from './html.js'
import { close } from './lines.js'
import { swap } from './ops.js'

let due = new Set()
let timer = 0

/** Lets a card turn into what is left of it; several at once cost one request. */
export function expire(card) {
  if (card.dataset.state !== 'done' || due.has(card)) return
  due.add(card)
  timer ||= setTimeout(draw, 200)
}

/** Looks which of the page's outputs are still there: a server that was away forgot them. */
export function review() {
  for (const card of document.querySelectorAll('#turns [data-card][data-state=done][data-output]')) due.add(card)
  if (due.size) timer ||= setTimeout(draw, 200)
}

async function draw() {
  const cards = due
  due = new Set()
  timer = 0
  let page = null
  try {
    page = fragment(await getText(location.pathname + location.search))
  } catch { /* the template it is */ }
  for (const card of cards) {
    if (!card.isConnected) continue
    close(card)
    const fresh = page?.getElementById(card.id)
    if (fresh?.dataset.state === 'done') continue // the clock here is ahead of the server's
    if (fresh) delete card.dataset.rev // the log did not change, the card does
    if (fresh) swap(card, fresh)
    else if (Date.parse(card.dataset.expires) < Date.now()) bare(card)
  }
}

function bare(card) {
  card.dataset.state = 'expired'
  card.classList.add('gone')
  for (const el of card.querySelectorAll('.acts > *, .find, .code, .pic, .card-fold, [data-act=read]')) el.remove()
  card.querySelector('.card-head').after(clone('tpl-expired').root)
}
