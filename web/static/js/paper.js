// The session on paper: the conversation, then the output in front, whole up to 2,000
// lines. The rows have to be fetched first, so Ctrl P prints by the same way as the menu.

import { session } from './api.js'
import { isShown } from './desk.js'
import { paneOf } from './pane.js'
import { desk } from './tabs.js'
import { failed } from './toast.js'
import { viewerOf } from './viewer.js'

const most = 2000 // lines

/** The rows of an output from its first line on. */
async function rows(v) {
  const last = Math.min(v.last, v.first + most - 1)
  const all = []
  for (let n = v.first; n <= last;) {
    const block = v.block(n)
    await block.coming
    for (const [k, row] of block.rows) if (k <= last) all.push(row.cloneNode(true))
    n += block.rows.size || last
  }
  return all
}

/** Puts the output in front below the conversation, on paper only. */
async function lay() {
  document.getElementById('bar').dataset.printed = `Printed ${new Date().toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })}`
  const pane = session() && isShown() && paneOf(desk.front)
  if (!pane) return
  const paper = document.createElement('section')
  paper.className = 'paper'
  paper.append(pane.querySelector('.dhead').cloneNode(true))
  const v = viewerOf(pane)
  if (v && !v.code.hidden) {
    const code = v.code.cloneNode(false)
    code.classList.add('wrap')
    code.append(...await rows(v))
    paper.append(code)
    if (v.total > most) paper.append(`The first ${most.toLocaleString('en')} of ${v.total.toLocaleString('en')} lines.`)
  } else paper.append(...[...pane.querySelectorAll('.view > :not([hidden], .map)')].map((el) => el.cloneNode(true)))
  for (const el of paper.querySelectorAll('[id]')) el.removeAttribute('id')
  document.body.append(paper)
}

/** Prints the session and the output in front. */
export async function printSession() {
  await lay().catch(failed)
  print()
}

export function papers() {
  addEventListener('afterprint', () => { for (const el of document.querySelectorAll('body > .paper')) el.remove() })
  document.addEventListener('webchat:print', printSession)
}
