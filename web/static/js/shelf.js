// The shelf: every output of the session, open, closed and deleted. It filters as
// one types; arrows move, Enter opens.

import { desk, rowOf, tabWith } from './tabs.js'
import { drop } from './floating.js'
import { some } from './html.js'

const shelf = document.getElementById('shelf')
const outs = () => document.getElementById('outs')

/** How many rows the shelf has: one for each tab, whatever it showed before. */
export function listed() {
  const rows = new Set([...outs().querySelectorAll('[data-output]')].map((el) => el.dataset.output))
  return desk.tabs.filter((t) => rows.has(t.outs.at(-1))).length
}

const shown = () => [...outs().querySelectorAll('[data-output]')].filter((el) => !el.hidden)

function filter() {
  const q = shelf.querySelector('input').value.trim().toLowerCase()
  const last = 2 + desk.tabs.length
  const latest = new Set(desk.tabs.map((t) => t.outs.at(-1)))
  for (const el of outs().querySelectorAll('[data-output]')) {
    el.hidden = !el.dataset.name.toLowerCase().includes(q) || !latest.has(el.dataset.output) // one row for each tab
    const tab = tabWith(el.dataset.output)
    const pinned = 'pinned' in el.dataset
    el.dataset.in = tab && !tab.closed ? 'open' : 'closed'
    el.style.order = tab?.closed ? (el.dataset.state === 'gone' ? last + 2 : last + 1) : pinned ? 1 : 2 + desk.tabs.indexOf(tab) // as in the strip
    el.toggleAttribute('data-news', Boolean(tab?.news))
    el.querySelector('use').setAttribute('href', `#i-${pinned ? 'pin' : el.dataset.icon}`)
    el.setAttribute('tabindex', '-1')
  }
  for (const head of outs().querySelectorAll('[data-group]')) {
    head.style.order = head.dataset.group === 'open' ? 0 : last
    head.hidden = !shown().some((el) => el.dataset.in === head.dataset.group)
  }
}

/** Opens the shelf below its button. */
export function openShelf(button) {
  if (shelf.matches(':popover-open')) return shelf.hidePopover()
  const input = shelf.querySelector('input')
  input.value = ''
  input.placeholder = `Find in ${some(listed(), 'output')}`
  filter()
  shelf.showPopover()
  drop(shelf, button)
  input.focus()
}

function key(e) {
  const list = shown()
  const at = list.indexOf(document.activeElement)
  if (e.key === 'ArrowDown') (list[at + 1] ?? list[0])?.focus()
  else if (e.key === 'ArrowUp') (list[at - 1] ?? shelf.querySelector('input')).focus()
  else if (e.key === 'Enter' && e.target.matches('input')) list[0]?.click()
  else return
  e.preventDefault()
}

export function shelves() {
  if (!shelf) return
  shelf.addEventListener('input', filter)
  shelf.addEventListener('keydown', key)
  shelf.addEventListener('toggle', (e) => {
    for (const b of document.querySelectorAll('[data-act=shelf]')) b.setAttribute('aria-expanded', String(e.newState === 'open'))
    if (e.newState === 'open') return
    rowOf(desk.tabs.find((t) => t.key === desk.front)?.out ?? '')?.blur()
  })
  document.addEventListener('webchat:frame', () => { if (shelf.matches(':popover-open')) filter() })
}
