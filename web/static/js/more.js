// What is inside of a folded row comes when it is opened.

import { getText } from './api.js'
import { base } from './base.js'
import { fragment } from './html.js'
import { failed } from './toast.js'

const pause = 200 // milliseconds between two looks at a row that changes
const busy = new Set() // ids of rows that are being filled

/** Where the inside of a row is: a link that is there until it has come. */
const addressOf = (box) => (box.dataset.more ||= box.querySelector('a').getAttribute('href'))

/** Shows in a row what was in the one it takes the place of, until what is new has come. */
export function inherit(old, fresh) {
  const [was, now] = [old, fresh].map((row) => row.querySelector(':scope > [data-more]'))
  if (!was || !now) return
  addressOf(now)
  now.replaceChildren(...was.childNodes)
}

/** Fills an open row. One that a frame replaced meanwhile is filled again. */
async function fill(row) {
  const box = row.querySelector(':scope > [data-more]')
  if (!box || 'filled' in box.dataset || busy.has(row.id)) return
  busy.add(row.id)
  box.dataset.filled = ''
  try {
    box.replaceChildren(fragment(await getText(addressOf(box).slice(base.length))))
  } catch (err) {
    delete box.dataset.filled
    failed(err)
  }
  setTimeout(() => {
    busy.delete(row.id)
    const now = document.getElementById(row.id)
    if (now !== row && now?.open) fill(now)
  }, pause)
}

/** Opens the row of a call, and what it is folded into. */
export function unfold(el) {
  for (let d = el.querySelector(':scope > details.tool') ?? el.closest('details'); d; d = d.parentElement.closest('details')) d.open = true
}

export function folded() {
  document.addEventListener('toggle', (e) => { if (e.target.matches?.('details.tool[open]')) fill(e.target) }, true)
}
