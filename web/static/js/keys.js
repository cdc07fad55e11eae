// Keys of the whole page, and the buttons that are in no card and no list.
// Single letters act only while the focus is outside of text fields.

import { fill, pickModel, stop } from './composer.js'
import { use } from './complete.js'
import { drawer, isOut } from './drawer.js'
import { toEnd } from './scroll.js'
import { openSearch } from './search.js'
import { path, post } from './api.js'
import { visit } from './base.js'
import { display } from './display.js'
import { failed } from './toast.js'
import { typing } from './typing.js'

const app = document.getElementById('app')
const narrow = matchMedia('(max-width: 839px)')
const wide = matchMedia('(min-width: 1240px)') // there is room for the rail beside the page

function side() {
  const out = narrow.matches ? drawer(!isOut()) : !app.classList.toggle('no-side')
  expanded(out)
}

function expanded(out) {
  for (const b of document.querySelectorAll('[data-act=side]')) b.setAttribute('aria-expanded', String(out))
}

/** In a wider window the list stands beside the page again. */
function widened() {
  drawer(false)
  expanded(!narrow.matches && !app.classList.contains('no-side'))
}

function rail() {
  app.classList.toggle(wide.matches ? 'no-rail' : 'rail-over')
  pressed()
}

function pressed() {
  const on = wide.matches ? !app.classList.contains('no-rail') : app.classList.contains('rail-over')
  for (const b of document.querySelectorAll('[data-act=rail]')) b.setAttribute('aria-pressed', String(on))
}

function theme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const now = document.documentElement.dataset.theme ?? (dark ? 'dark' : 'light')
  const next = now === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  localStorage.setItem('webchat.theme', next)
}

/** Steps through cards and open questions. */
function step(by) {
  const all = [...document.querySelectorAll('#turns [data-card], #asks [data-ask]')].filter((el) => el.checkVisibility())
  const now = all.indexOf(document.activeElement?.closest?.('[data-card], [data-ask]'))
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

const acts = {
  side, rail, theme,
  new: () => visit('/'),
  search: openSearch,
  keys: () => document.getElementById('keys')?.showModal(),
  close: (b) => b.closest('dialog')?.close(),
  try: (b) => fill(b.dataset.text),
  use: (b) => {
    use(document.getElementById('composer'), b.dataset.backend)
    document.getElementById('prompt').focus()
  },
  model: () => pickModel(),
  unclamp: (b) => {
    const whole = !b.closest('.ask-row').querySelector('[data-clamp]').classList.toggle('clamp')
    b.textContent = whole ? 'Show less' : 'Show all'
  },
  latest: toEnd,
  show: (b) => display({ tool: b.closest('[data-kind=image]') ? 'display_image' : 'render_file_contents', arguments: { path: b.dataset.path } }).catch(failed),
  retry: (b) => post(path('/messages'), { content: b.dataset.text ?? b.closest('.turn')?.querySelector('h2')?.textContent.trim() }).catch(failed),
  recall: () => import('./recall.js').then((m) => m.recall()).catch(failed),
}
acts.restart = acts.retry

const compose = () => document.getElementById('prompt')?.focus()

const keys = {
  '/': compose,
  i: compose,
  n: acts.new,
  '[': side,
  ']': rail,
  j: () => step(1),
  k: () => step(-1),
  g: () => { document.getElementById('scroll').scrollTop = 0 },
  G: toEnd,
  '?': acts.keys,
}

/** Names the command key as this machine's keyboard does. */
function nameMod() {
  if (!/Mac|iP(hone|ad)/.test(navigator.platform)) return
  for (const k of document.querySelectorAll('kbd[data-mod]')) k.textContent = `⌘${k.dataset.mod}`
}

export function keyboard() {
  nameMod()
  if (app) pressed()
  if (app) wide.addEventListener('change', pressed)
  if (app) narrow.addEventListener('change', widened)
  if (app) expanded(!narrow.matches)
  document.addEventListener('keydown', (e) => {
    if (e.key.toLowerCase() === 'k' && (e.metaKey || e.ctrlKey)) {
      e.preventDefault()
      return openSearch()
    }
    if (e.key === '.' && (e.metaKey || e.ctrlKey) && app) {
      e.preventDefault()
      return stop()
    }
    if (e.key === 'Escape' && isOut() && !document.querySelector('dialog[open]')) return side()
    if (e.key === 'Escape' && !wide.matches && app?.classList.contains('rail-over')) return rail()
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector('dialog[open]')) return
    if (e.key === 'Enter' && e.target.matches?.('[data-card], [data-ask]')) {
      e.preventDefault()
      return enter(e.target)
    }
    if (e.key === 'Enter' && e.target.id === 'scroll') {
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
    if (app?.classList.contains('rail-over') && e.target.closest?.('#outs a')) rail()
    if (e.target.matches?.('#alone, #keys, #confirm, #consent')) e.target.close() // beside the dialog
  })
}
