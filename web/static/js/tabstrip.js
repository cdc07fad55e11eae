// How the strip of tabs is drawn, and what in the conversation leads to what is in front.

import { clone, plain } from './html.js'
import { beside, called, desk, front, from, open } from './tabs.js'

const drawn = new WeakMap() // the element of a tab → what it says

/** Draws the tabs; those that were there stay the same elements, and where they were if they can. */
export function drawTabs(strip) {
  const had = new Map([...strip.children].map((el) => [el.dataset.key, el]))
  const list = [...open().filter((t) => !t.pinned), ...open().filter((t) => t.pinned)]
  const want = list.map((tab) => {
    const el = had.get(tab.key) ?? clone('tpl-tab').root
    had.delete(tab.key)
    show(el, tab)
    return el
  })
  for (const el of had.values()) el.remove()
  want.forEach((el, i) => { if (strip.children[i] !== el) strip.insertBefore(el, strip.children[i] ?? null) })
}

/** Draws a tab that says something else than it did: what is set again as it was is laid out again. */
function show(el, tab) {
  const isFront = tab.key === desk.front
  const marks = { 'is-front': isFront, 'is-beside': tab.key === desk.beside, 'is-news': tab.news || tab.disk, 'is-live': tab.state === 'running' && tab.kind === 'terminal', 'is-bad': Boolean(tab.bad), 'is-pinned': tab.pinned, 'is-off': tab.state === 'gone', 'is-look': tab.look }
  const words = {
    from: plain(from(tab)),
    name: plain(called(tab)),
    word: [tab.news && 'new', tab.disk === 'changed' && 'changed on disk', tab.disk === 'gone' && 'no longer on disk', tab.state === 'running' && 'running', tab.bad, tab.state === 'gone' && 'deleted', tab.pinned && 'pinned'].filter(Boolean).join(', '),
  }
  const id = `tab-${desk.tabs.indexOf(tab)}`
  const says = JSON.stringify([tab.key, id, tab.name, tab.icon, marks, words])
  if (drawn.get(el) === says) return
  drawn.set(el, says)
  el.dataset.key = tab.key
  el.title = plain(tab.name)
  for (const [name, on] of Object.entries(marks)) el.classList.toggle(name, Boolean(on))
  for (const [name, text] of Object.entries(words)) el.querySelector(`[data-part=${name}]`).textContent = text
  const button = el.querySelector('[role=tab]')
  button.id = id
  button.setAttribute('aria-selected', String(isFront))
  button.tabIndex = isFront ? 0 : -1
  button.querySelector('use').setAttribute('href', `#i-${tab.icon}`)
}

/** Marks the slips and the rows of what is in front; on: the Desk can be seen. */
export function slips(on) {
  const outs = new Set([front(), beside()].filter(Boolean).map((t) => t.out))
  for (const a of document.querySelectorAll('#turns [data-slip]')) {
    const is = on && outs.has(a.dataset.slip)
    a.closest('.slip').classList.toggle('is-front', is)
    if (is) a.setAttribute('aria-current', 'true')
    else a.removeAttribute('aria-current')
  }
  for (const row of document.querySelectorAll('#outs [data-output]')) {
    if (row.dataset.output === front()?.out) row.setAttribute('aria-current', 'true')
    else row.removeAttribute('aria-current')
  }
}
