// Keys of the whole page, and the buttons that are in no card and no list.
// Single letters act only while the focus is outside of text fields.

import { fill, pickModel, stop, stopAndStay } from './composer.js'
import { turn as theme } from './dark.js'
import { isShown, sheet } from './desk.js'
import { anywhere, deskKey, panesInTurn, slip, unfold } from './deskkeys.js'
import { drawer, isOut } from './drawer.js'
import { swipe } from './fingers.js'
import { toKeys } from './focus.js'
import { figures } from './meter.js'
import { openShelf } from './shelf.js'
import { toEnd } from './scroll.js'
import { inFolder, path, post } from './api.js'
import { visit } from './base.js'
import { showing } from './commands.js'
import { display } from './display.js'
import { holdKeys } from './hold.js'
import { failed } from './toast.js'
import { typing } from './typing.js'

const app = document.getElementById('app')
const narrow = matchMedia('(max-width: 1023px)')
const beside = matchMedia('(min-width: 1100px) and (max-width: 1679px)') // there is room for the Desk, not for the sessions, too

function side() {
  if (narrow.matches) return expanded(drawer(!isOut()))
  if (beside.matches && isShown()) return expanded(app.classList.toggle('keep-side'))
  expanded(!app.classList.toggle('no-side'))
}

function expanded(out) {
  for (const b of document.querySelectorAll('[data-act=side]')) b.setAttribute('aria-expanded', String(out))
}

/** In a wider window the list stands beside the page again. */
function widened() {
  drawer(false)
  expanded(document.getElementById('side').checkVisibility())
}

/** Steps through cards and open questions. */
function step(by) {
  const all = [...document.querySelectorAll('#turns [data-card], #dock-asks :is([data-ask], [data-several])')].filter((el) => el.checkVisibility())
  const now = all.indexOf(document.activeElement?.closest?.('[data-card], [data-ask], [data-several]'))
  const next = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + by))]
  if (!next) return
  next.tabIndex = -1
  next.focus({ preventScroll: true })
  next.scrollIntoView({ block: 'nearest' })
}

/** Opens the card that has the focus, all of it; in a question goes to its first answer. */
function enter(el) {
  el.querySelector('[data-act=fold][aria-expanded=false]')?.click()
  el.querySelector('.code, .pic button, [data-act=allow-once], [data-choice], input')?.focus()
}

const earlier = (act) => import('./prompts.js').then(act).catch(failed)

const worktree = (act) => import('./worktree.js').then(act).catch(failed)

const waiting = (act) => import('./waiting.js').then(act).catch(failed)

const openBar = () => holdKeys(import('./openbar.js').then((m) => m.openBar()).catch(failed))

const grep = (text) => holdKeys(import('./grep.js').then((m) => m.openGrep(text)).catch(failed))

const acts = {
  side, theme,
  shelf: openShelf,
  ledger: figures,
  new: () => visit(inFolder()),
  'open-bar': () => openBar(),
  settings: () => holdKeys(import('./settings.js').then((m) => m.openSettings()).catch(failed)),
  keys: () => document.getElementById('keys')?.showModal(),
  close: (b) => b.closest('dialog')?.close(),
  model: () => pickModel(),
  stop: () => stopAndStay(),
  compact: () => post(path('/compact'), {}).catch(failed),
  unclamp: (b) => {
    const whole = !b.closest('.ask-row').querySelector('[data-clamp]').classList.toggle('clamp')
    b.textContent = whole ? 'Show less' : 'Show all'
  },
  latest: toEnd,
  show: (b) => display(showing({ path: b.dataset.path }), { lines: b.dataset.lines }).catch(failed),
  review: (b) => holdKeys(import('./review.js').then((m) => m.openReview(b.closest('[data-turn]').dataset.from)).catch(failed)),
  'show-result': (b) => display({ tool: 'show_result', arguments: { toolCallId: b.dataset.id, from: Number(b.dataset.from), name: b.dataset.name } }).catch(failed),
  'hold-again': (b) => import('./held.js').then((m) => m.again(b)).catch(failed),
  retry: (b) => earlier((m) => m.again(b)),
  again: (b) => earlier((m) => m.again(b)),
  'try-now': (b) => earlier((m) => m.tryNow(b)),
  edit: (b) => holdKeys(earlier((m) => m.edit(b, fill))),
  branch: (b) => earlier((m) => m.branch(b)),
  'undo-here': (b) => earlier((m) => m.undoHere(b)),
  'queue-earlier': (b) => waiting((m) => m.earlier(b)),
  'queue-edit': (b) => holdKeys(waiting((m) => m.edit(b))),
  'queue-save': (b) => waiting((m) => m.save(b.closest('.queued'))),
  'queue-remove': (b) => waiting((m) => m.withdraw(b)),
  'tree-undo': () => worktree((m) => m.takeBack()),
  'tree-restore': () => worktree((m) => m.restore()),
  left: (b) => earlier((m) => m.unfold(b)),
  recall: () => import('./recall.js').then((m) => m.recall()).catch(failed),
}
acts.restart = acts.retry

const compose = () => {
  document.dispatchEvent(new Event('webchat:compose')) // where the Desk covers it, it comes back
  document.getElementById('prompt')?.focus()
}

const keys = {
  '/': compose,
  i: compose,
  n: acts.new,
  '[': side,
  ...anywhere,
  j: () => step(1),
  k: () => step(-1),
  g: () => { document.getElementById('scroll').scrollTop = 0 },
  G: toEnd,
  '?': acts.keys,
  ',': acts.settings,
}

/** Names the command key as this machine's keyboard does. */
function nameMod() {
  if (!/Mac|iP(hone|ad)/.test(navigator.platform)) return
  for (const k of document.querySelectorAll('kbd[data-mod]')) k.textContent = `⌘${k.dataset.mod}`
}

export function keyboard() {
  document.addEventListener('webchat:theme', theme)
  document.addEventListener('webchat:grep', (e) => grep(e.detail))
  nameMod()
  if (app) narrow.addEventListener('change', widened)
  if (app) swipe(document.getElementById('side'), -1, isOut, side)
  if (app) expanded(document.getElementById('side').checkVisibility())
  document.addEventListener('keydown', (e) => {
    if (e.key.toLowerCase() === (e.shiftKey ? 'f' : 'k') && (e.metaKey || e.ctrlKey) && !e.altKey) {
      e.preventDefault()
      if (!e.shiftKey) return openBar()
      return app && grep()
    }
    if (e.key.toLowerCase() === 'p' && (e.metaKey || e.ctrlKey) && !e.shiftKey && !e.altKey && app) {
      e.preventDefault() // the rows on paper are fetched first
      return document.dispatchEvent(new Event('webchat:print'))
    }
    if (e.key === '.' && (e.metaKey || e.ctrlKey) && app) {
      e.preventDefault()
      return stop() || document.dispatchEvent(new Event('webchat:mention'))
    }
    if (e.key === 'Escape' && isOut() && !document.querySelector('dialog[open]')) return side()
    if (e.key === 'F6' && app) {
      e.preventDefault()
      return panesInTurn(e.shiftKey)
    }
    if (e.altKey && (e.key === 'ArrowUp' || e.key === 'ArrowDown') && app && !document.querySelector('dialog[open]')) {
      e.preventDefault()
      return slip(e.key === 'ArrowUp' ? -1 : 1)
    }
    if (e.key === 'Escape' && app?.classList.contains('sheet') && !document.querySelector('dialog[open], :popover-open')) return sheet(false)
    if (!e.defaultPrevented && !typing(e.target) && !document.querySelector('dialog[open]') && deskKey(e)) return e.preventDefault()
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return
    if (e.key === 'Escape' && app && e.target.closest?.('#desk, main')) return toKeys() // also from a button that was clicked
    if (e.key === 'Enter' && e.shiftKey && e.target.matches?.('.did > summary')) {
      e.preventDefault()
      return unfold(e.target.parentElement)
    }
    if (e.key === 'Enter' && e.target.matches?.('[data-card], [data-ask]')) {
      e.preventDefault()
      return enter(e.target)
    }
    if (e.key === 'Enter' && e.target.matches?.('#scroll, .pane .code, .pane .pic')) {
      e.preventDefault()
      return compose()
    }
    if (keys[e.key]) {
      e.preventDefault()
      keys[e.key]()
    }
  })
  document.addEventListener('click', (e) => {
    const b = e.target.closest?.('[data-act]')
    if (b && !b.closest('[data-card], #composer') && Object.hasOwn(acts, b.dataset.act)) acts[b.dataset.act](b)
    if (isOut() && !e.target.closest?.('#side, [data-act=side]')) side()
    if (e.target.matches?.('#keys, #confirm, #consent, #settings')) e.target.close() // beside the dialog
  })
}
