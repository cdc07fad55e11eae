// Keys of the Desk, which act while its view or a tab has the focus.

import { alone } from './alone.js'
import { run } from './cards.js'
import { openChanged } from './changedlist.js'
import { besides, commentChange, toChange, undoChange } from './changesview.js'
import { toFresh } from './inplace.js'
import { close, enter, isShown, reopen, split, step, toggle, view } from './desk.js'
import { edit } from './editor.js'
import { findAgain } from './find.js'
import { ask } from './give.js'
import { openShelf } from './shelf.js'
import { selection } from './select.js'
import { beside, tabOf, desk, front, reading } from './tabs.js'
import { paneOf } from './pane.js'
import { nextView } from './paneviews.js'
import { pin } from './pins.js'
import { viewerOf } from './viewer.js'

const pane = () => paneOf(reading()?.key)
const card = (name) => () => pane() && run(name, pane(), pane().querySelector(`[data-act=${name}]`))
const toTop = () => viewerOf(pane())?.touch(0)
const toEnd = () => { const v = pane() && viewerOf(pane()); if (v) { v.following = v.running; v.touch(v.most) } }

const keys = {
  f: card('find'), w: card('wrap'), c: card('copy'), d: card('download'), s: card('stop-tool'), r: card('again'),
  g: () => (pane()?.dataset.kind === 'image' ? card('zoom-one')() : card('goTo')()), G: toEnd, '+': card('zoom-in'), '=': card('zoom-in'), '-': card('zoom-out'),
  v: () => pane() && nextView(pane()), h: () => step(-1), l: () => step(1), x: () => { close(); enter() }, X: () => { reopen(); enter() }, p: () => pin(), '\\': split,
  j: () => jump(1), k: () => jump(-1), u: () => pane() && besides(pane()), z: () => pane() && undoChange(pane()), m: () => pane() && commentChange(pane()),
  a: () => pane()?.dataset.output && ask(pane(), selection(pane())),
  e: () => pane() && edit(pane()), o: () => { if (matchMedia('(min-width: 1100px)').matches) alone(); enter() },
}

/** To the next hit, change or failure, or the one before. */
function jump(by) {
  const at = pane()
  if (!at || toChange(at, by) || toFresh(at, by)) return
  const button = at.querySelector(at.querySelector('.find') ? `[data-act=find-${by > 0 ? 'next' : 'previous'}]` : '[data-act=to-failure]')
  if (button) button.click()
  else findAgain(at, by)
}

/** Keys that are the same wherever letters are keys. */
export const anywhere = {
  D: () => openChanged(),
  ']': () => { toggle(); if (isShown()) enter(); else document.getElementById('scroll').focus({ preventScroll: true }) },
  t: () => openShelf(document.querySelector('.shelf-btn').checkVisibility() ? document.querySelector('.shelf-btn') : document.querySelector('#bar [data-act=shelf]')),
}

/** Acts on a key of the Desk; false if it is none. */
export function deskKey(e) {
  if (!e.target.closest?.('#desk')) return false
  const onTab = e.target.closest('[role=tab]')
  if (onTab && e.altKey && (e.key === 'ArrowLeft' || e.key === 'ArrowRight')) return move(tabOf(onTab.closest('.tab').dataset.key), e.key === 'ArrowLeft' ? -1 : 1)
  if (e.ctrlKey || e.metaKey || e.altKey) return false
  if (onTab && (e.key === 'ArrowLeft' || e.key === 'ArrowRight')) return roam(onTab, e.key === 'ArrowLeft' ? -1 : 1)
  if (/^[1-9]$/.test(e.key) && pane()?.dataset.kind !== 'image') step(0, Number(e.key) - 1)
  else if (Object.hasOwn(keys, e.key)) keys[e.key]()
  else if (e.key === 'Escape' && pane()?.querySelector('.find')) pane().querySelector('[data-act=find-close]').click()
  else if (e.key === 'Home' && e.target.matches('.code') === false) toTop()
  else return false
  return true
}

/** The focus goes from tab to tab; Enter brings one to the front. */
function roam(tab, by) {
  const all = [...document.querySelectorAll('#tabs [role=tab]')]
  const next = all[(all.indexOf(tab) + by + all.length) % all.length]
  next.focus()
  return true
}

function move(tab, by) {
  const i = desk.tabs.indexOf(tab)
  if (desk.tabs[i + by]) {
    desk.tabs.splice(i + by, 0, ...desk.tabs.splice(i, 1))
    document.dispatchEvent(new CustomEvent('webchat:tabs'))
  }
  return true
}

/** Between conversation, Desk, its second pane and sessions. */
export function panesInTurn(back) {
  const panes = isShown() ? [front(), beside()].filter((tab) => paneOf(tab?.key)?.checkVisibility()).map(view) : []
  const stops = [document.getElementById('prompt'), ...(isShown() && !panes.length ? [view() ?? document.getElementById('desk')] : panes),
    document.getElementById('side').checkVisibility() ? document.querySelector('#side a, #side button') : null].filter(Boolean)
  const at = document.activeElement
  const inside = (el, within) => el.closest(within) && el.closest(within) === at?.closest(within)
  const same = stops.findIndex((el) => inside(el, '[data-pane]'))
  const now = same < 0 ? stops.findIndex((el) => inside(el, '#desk, #side, main')) : same
  stops[(now + (back ? -1 : 1) + stops.length) % stops.length].focus()
}

/** To the previous or next slip, which comes to the front, or to the line of what a turn did, which Enter opens. */
export function slip(by) {
  const all = [...document.querySelectorAll('#turns :is([data-slip], .did > summary)')].filter((a) => a.checkVisibility())
  const here = all.indexOf(document.activeElement)
  const now = here < 0 ? all.findIndex((a) => a.dataset.slip && a.dataset.slip === front()?.out) : here
  const next = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by]
  if (!next) return
  next.scrollIntoView({ block: 'nearest' })
  if (here >= 0 || !next.dataset.slip) next.focus({ preventScroll: true })
  if (next.dataset.slip) next.click()
}

/** Opens all that a turn did, or folds it. */
export function unfold(did) {
  did.open = !did.open
  for (const el of did.querySelectorAll('details')) el.open = did.open || !el.matches('.is-long, .tool')
  for (const el of [did, ...did.querySelectorAll('details')]) el.dataset.touched = ''
}
