// The views of a card in the conversation. The server drew one of them; the others come when
// they are chosen, with as many rows. The choice is kept with the tab that shows the same, so
// that the Desk opens it, too.

import { clone, fragment, some } from './html.js'
import { line, rowsOf } from './lines.js'
import { beside, turnOn } from './radio.js'
import { ask } from './reading.js'
import { views } from './tables.js'
import { save, tabWith } from './tabs.js'
import { failed } from './toast.js'

const lines = 14 // of a file, and rows of another view, as card.go has them
const rows = 12
const parts = ':scope > :is(.with-map, .other, .card-fold)'
const wide = matchMedia('(min-width: 1100px)') // there a card is its slip
const drawn = new WeakMap() // card → what was drawn, by view
const restored = new WeakSet()

const button = (card, view) => card.querySelector(`.card-views [data-view="${view}"]`)
const on = (card) => card.querySelector('.card-views [aria-checked=true]')?.dataset.view
const count = (card) => Number(card.dataset.last) - Number(card.dataset.first) + 1

/** The lines that an element of any view stands for start here; 0: it stands for none. */
const startOf = (el) => parseInt(el.dataset.line ?? el.dataset.lines ?? el.querySelector(':scope > .ln, :scope > .rn .ln')?.textContent, 10) || 0

const places = (card) => [...card.querySelectorAll(':scope > .with-map .line, :scope > .other :is(tbody tr, [role=tree] li, [data-line])')].filter(startOf)

/** The line that is read: the first in view, where the rows scroll by themselves. */
function reading(card) {
  const box = card.querySelector(':scope > .other, :scope > .with-map > .code')
  if (!box?.scrollTop) return 0
  const { top } = box.getBoundingClientRect()
  const first = places(card).find((el) => el.getBoundingClientRect().bottom > top + 1)
  return first ? startOf(first) : 0
}

async function goTo(card, n) {
  const row = on(card) === 'source' ? await line(card, n) : places(card).findLast((el) => el.checkVisibility() && startOf(el) <= n)
  const box = row?.closest('.other, .code')
  if (box) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - 8
}

/** The lines of a file. */
async function source(card) {
  const first = Number(card.dataset.first)
  const all = count(card) <= lines + 2 // a fold must hide more than it takes
  const to = all ? Number(card.dataset.last) : first + lines - 1
  const { root, parts: p } = clone('tpl-lines')
  p.lines.append(fragment(await rowsOf(card.dataset.output, first, to)))
  card.dataset.shown = `${first}-${to}`
  p.fold.querySelector('[data-label]').textContent = `Show all ${some(count(card), 'line')}`
  if (all) p.fold.remove()
  p.find.remove()
  p.wrap.remove()
  if (!card.querySelector('.acts [data-act=find]')) card.querySelector('.acts').prepend(p.find, p.wrap)
  return [...root.children]
}

/** The first rows of another view, or those from a line on. */
async function seen(card, view, at) {
  const first = await ask(card, view, view === 'table' ? Math.max(1, at - 1) : 1, rows)
  const { root } = clone('tpl-other')
  const list = root.querySelector('ul')
  if (view === 'tree') list.append(first.html)
  else root.replaceChildren(first.html)
  root.dataset.shows = view
  root.classList.toggle('said', views.get(view).class === 'said')
  root.setAttribute('aria-label', `${button(card, view).textContent} of ${card.dataset.name}`)
  root.dataset.count = view === 'table' ? some(first.total, 'row') : ''
  if (first.total <= rows || view === 'tree') return [root]
  const fold = clone('tpl-lines').parts.fold
  delete fold.dataset.key
  fold.removeAttribute('aria-expanded')
  fold.dataset.act = 'alone'
  fold.querySelector('[data-label]').textContent = root.dataset.count ? `Show all ${root.dataset.count}` : 'Show all of it'
  return [root, fold]
}

/** Whether what was drawn has a row for line n. */
const holds = (els, n) => !n || !els[0].matches('[data-shows=table]') || [...els[0].querySelectorAll('tbody tr')].some((tr) => startOf(tr) === n)

async function choose(card, view) {
  const was = on(card)
  const b = button(card, view)
  if (!b || was === view) return
  const now = [...card.querySelectorAll(parts)]
  const at = reading(card)
  const kept = drawn.get(card) ?? {}
  drawn.set(card, kept)
  if (now[0]) now[0].dataset.count ||= card.querySelector('.card-views [data-count]').textContent
  kept[was] = now
  turnOn(b)
  let next = kept[view]
  if (!next || !holds(next, at)) next = await (view === 'source' ? source(card) : seen(card, view, at))
  if (on(card) !== view || !now[0]?.isConnected) return // another was chosen meanwhile, or it was drawn anew
  kept[view] = next
  card.querySelector('.find [data-act=find-close]')?.click()
  now[0].before(...next)
  for (const el of now) el.remove()
  card.querySelector('.card-views [data-count]').textContent = view === 'source' ? some(count(card), 'line') : next[0].dataset.count
  for (const el of card.querySelectorAll('.acts :is([data-act=find], [data-act=wrap])')) el.hidden = view !== 'source'
  card.dispatchEvent(new CustomEvent('webchat:lines', { bubbles: true }))
  if (at) await goTo(card, at)
}

/** Chooses a view, and keeps that. */
function take(card, view) {
  const tab = tabWith(card.dataset.output)
  if (tab) tab.place = { ...tab.place, view }
  save()
  choose(card, view).catch((err) => {
    turnOn(button(card, card.querySelector(':scope > .other')?.dataset.shows ?? 'source'))
    failed(err)
  })
}

/** To the view after the one that a card shows. */
export function nextView(card) {
  const all = [...card.querySelectorAll('.card-views [data-view]')]
  if (all.length) take(card, all[(all.findIndex((b) => b.ariaChecked === 'true') + 1) % all.length].dataset.view)
}

/** Shows cards in the views that were chosen before. */
function restore() {
  if (wide.matches) return
  for (const bar of document.querySelectorAll('.card-views')) {
    const card = bar.closest('[data-card]')
    if (restored.has(card)) continue
    restored.add(card)
    const { view } = tabWith(card.dataset.output)?.place ?? {}
    if (view) choose(card, view).catch(() => { /* it is there in the view it came in */ })
  }
}

export function cardViews() {
  document.addEventListener('click', (e) => {
    const b = e.target.closest?.('.card-views [data-view]')
    if (b) take(b.closest('[data-card]'), b.dataset.view)
  })
  document.addEventListener('keydown', (e) => {
    const b = e.target.closest?.('.card-views [data-view]')
    const to = b && !e.ctrlKey && !e.metaKey && !e.altKey && beside(b, e.key)
    if (!to) return
    e.preventDefault()
    to.focus({ preventScroll: true })
    take(to.closest('[data-card]'), to.dataset.view)
  })
  document.addEventListener('webchat:frame', restore)
  wide.addEventListener('change', restore)
  restore()
}
