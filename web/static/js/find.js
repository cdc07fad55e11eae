// Find in a card: the server searches the whole output, whatever of it is in
// the page. Enter goes to the next hit, Shift Enter back, Escape closes.

import { getJSON } from './api.js'
import { holdKeys } from './hold.js'
import { clone } from './html.js'
import { line, reveal } from './lines.js'
import { failed } from './toast.js'
import * as whole from './findwhole.js'

const wait = 120 // milliseconds after a key

/** Text to a pattern of RE2 that means just that text. */
const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const onDesk = (state) => 'pane' in state.card.dataset

function paint(state) {
  state.card.dispatchEvent(new CustomEvent('webchat:found', { bubbles: true, detail: { lines: state.hits.map((hit) => hit.line), more: Boolean(state.more) } }))
  if (onDesk(state)) {
    for (const row of state.card.querySelectorAll('.line.is-hit')) row.classList.remove('is-hit')
    state.card.querySelector(`.line > .ln[href="#L${state.line}"]`)?.parentElement.classList.add('is-hit')
  }
  if (!globalThis.Highlight) return
  const all = new Highlight()
  const now = new Highlight()
  for (const [i, hit] of state.hits.entries()) {
    const cl = state.card.querySelector(`.ln[href="#L${hit.line}"]`)?.parentElement.querySelector('.cl')
    if (!cl) continue
    for (const [from, to] of hit.ranges ?? []) {
      const range = rangeIn(cl, from, to)
      if (range) (i === state.at ? now : all).add(range)
    }
  }
  CSS.highlights.set('found', all)
  CSS.highlights.set('found-now', now)
}

/** The DOM range of characters from..to of an element's text. */
function rangeIn(el, from, to) {
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  let seen = 0
  let started = false
  for (let node; (node = walk.nextNode());) {
    const end = seen + node.length
    if (!started && from < end) { range.setStart(node, from - seen); started = true }
    if (started && to <= end) { range.setEnd(node, to - seen); return range }
    seen = end
  }
  return null
}

async function go(state, step) {
  if (onDesk(state)) {
    if (!state.query) return
    const { re, going } = state
    state.going = (async () => { // keys that follow fast go on from where the one before came to
      await going?.catch(() => {})
      if (state.re !== re) return
      await whole.go(state, step)
      if (state.re !== re) return
      paint(state)
      tell(state)
    })()
    return state.going
  }
  if (!state.hits.length) return
  state.at = (state.at + step + state.hits.length) % state.hits.length
  const row = await line(state.card, state.hits[state.at].line)
  reveal(state.card, row)
  paint(state)
  tell(state)
}

const kept = (state) => (state.leftOut ? ' in the lines that were kept' : '')

function tell(state) {
  const { count } = state.parts
  if (!state.query) count.textContent = ''
  else if (state.total) count.textContent = `${state.number.toLocaleString('en')} of ${state.total.toLocaleString('en')}${state.complete ? '' : ' so far'}${kept(state)}`
  else if (!state.hits.length) count.textContent = `No hits${state.complete === false ? ' so far' : ''}${kept(state)}`
  else count.textContent = `${(state.at + 1).toLocaleString('en')} of ${state.hits.length.toLocaleString('en')}${state.more ? '+' : ''}`
}

const toggle = (state, act) => state.root.querySelector(`[data-act=${act}]`)
const pressed = (state, act) => toggle(state, act).getAttribute('aria-pressed') === 'true'

async function search(state, step = 1) {
  state.asking?.abort()
  state.asking = new AbortController()
  const text = state.input.value
  state.query = text
  state.line = null
  state.total = 0
  if (!text) {
    state.hits = []
    state.re = ''
    if (onDesk(state)) only(state, false)
    paint(state)
    return tell(state)
  }
  const plain = !pressed(state, 'find-regexp')
  const exact = pressed(state, 'find-case')
  const re = `${exact ? '' : '(?i)'}${plain ? literal(text) : text}`
  state.re = re
  try {
    if (onDesk(state)) return await go(state, step)
    const found = await getJSON(`/api/outputs/${state.card.dataset.output}?format=json&veil=1&grep=${encodeURIComponent(re)}`, { signal: state.asking.signal })
    state.hits = found.matches ?? []
    state.more = Boolean(found.next)
    state.at = -1
    if (state.hits.length) await go(state, 1)
    else { paint(state); tell(state) }
  } catch (err) {
    if (err.name === 'AbortError') return
    state.hits = []
    state.parts.count.textContent = err.message
  }
}

/** Shows only the lines that match, or all again. */
function only(state, on) {
  whole.only(state, on)
  toggle(state, 'find-only').setAttribute('aria-pressed', String(Boolean(state.only)))
}

/** The rows on the screen are others: their hits are marked, too. */
function lines(state) {
  paint(state)
  if (!onDesk(state) || state.soon || !whole.beyond(state)) return
  state.soon = setTimeout(() => {
    state.soon = 0
    whole.near(state).then(() => paint(state), () => {})
  }, wait)
}

const sought = new Map() // what was looked for last, by the name of what it was looked for in

/** Goes on to the next hit of what was looked for last, or the one before; false if nothing was. */
export function findAgain(card, by) {
  if (!sought.get(card.dataset.name)) return false
  find(card, by)
  return true
}

/** Opens the search field of a card; with a step it goes to a hit of what was looked for last, and the focus stays. */
export function find(card, step = 0) {
  const old = card.querySelector('.find')
  if (old) return old.querySelector('input').focus()
  const { root, parts } = clone('tpl-find')
  const input = root.querySelector('input')
  const over = new AbortController()
  const state = { root, parts, input, hits: [], at: -1, query: '', asking: null, only: false, tell: () => tell(state), get card() { return root.closest('[data-card]') ?? card } }
  card.querySelector('.card-head, .dhead').after(root)
  toggle(state, 'find-only').hidden = !onDesk(state)
  const narrow = !card.classList.contains('wide')
  card.classList.add('wide') // hits may stand far to the right
  let timer = 0
  const shut = () => {
    over.abort()
    clearTimeout(timer)
    state.asking?.abort() // what is found now leads nowhere
    sought.set(card.dataset.name, input.value)
    if (onDesk(state)) only(state, false)
    if (narrow) card.classList.remove('wide')
    Object.assign(state, { hits: [], line: null, re: '' })
    paint(state)
    const { card: now } = state
    root.remove()
    now.querySelector(':is(.code, .other):not([hidden])')?.focus({ preventScroll: true })
  }
  const next = (by) => { // keys are for where it leads
    clearTimeout(timer)
    holdKeys(state.query === input.value ? go(state, by) : search(state, by)).catch(failed)
  }
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(() => search(state), wait) })
  root.addEventListener('keydown', (e) => {
    e.stopPropagation()
    if (e.key === 'Enter' && e.altKey && onDesk(state)) only(state, !state.only)
    else if (e.key === 'Enter' && e.target === input) next(e.shiftKey ? -1 : 1)
    else if (e.key === 'Escape') shut()
    else return
    e.preventDefault()
  })
  for (const act of ['find-regexp', 'find-case']) {
    toggle(state, act).addEventListener('click', () => {
      toggle(state, act).setAttribute('aria-pressed', String(!pressed(state, act)))
      search(state)
    })
  }
  toggle(state, 'find-next').addEventListener('click', () => next(1))
  toggle(state, 'find-previous').addEventListener('click', () => next(-1))
  toggle(state, 'find-only').addEventListener('click', () => only(state, !state.only))
  toggle(state, 'find-close').addEventListener('click', shut)
  document.addEventListener('webchat:lines', (e) => { if (e.target === state.card && root.isConnected) lines(state) }, { capture: true, signal: over.signal })
  card.dispatchEvent(new CustomEvent('webchat:finding', { bubbles: true }))
  input.value = sought.get(card.dataset.name) ?? ''
  if (step) return next(step)
  input.focus()
  input.select()
}
