// Find in a card: the server searches the whole output, whatever of it is in
// the page. Enter goes to the next hit, Shift Enter back, Escape closes.

import { getJSON } from './api.js'
import { clone } from './html.js'
import { line, reveal } from './lines.js'
import { failed } from './toast.js'

const wait = 120 // milliseconds after a key

/** Text to a pattern of RE2 that means just that text. */
const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

function paint(state) {
  state.card.dispatchEvent(new CustomEvent('webchat:found', { bubbles: true, detail: { lines: state.hits.map((hit) => hit.line), more: Boolean(state.more) } }))
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

/** On the Desk the server counts all hits and says where the one before and behind is. */
async function goWhole(state, step) {
  const about = (n) => getJSON(`/api/outputs/${state.card.dataset.output}?count=${encodeURIComponent(state.re)}&at=${n}`, { signal: state.asking.signal })
  const from = state.line ?? state.card.dataset.at ?? 1
  const c = await about(step > 0 && state.line ? state.line + 1 : Number(from) || 1)
  state.total = c.total
  state.complete = c.complete
  const wraps = step > 0 ? !c.next : !c.previous
  if (c.total) {
    state.line = step > 0 ? c.next || c.first : c.previous || c.last
    state.number = step > 0 ? (wraps ? 1 : c.before + 1) : (wraps ? c.total : c.before)
    const near = await getJSON(`/api/outputs/${state.card.dataset.output}?format=json&grep=${encodeURIComponent(state.re)}&lines=${Math.max(1, state.line - 100)}-${state.line + 100}`, { signal: state.asking.signal })
    state.hits = near.matches ?? []
    state.at = state.hits.findIndex((hit) => hit.line === state.line)
    await line(state.card, state.line)
  } else state.hits = []
  paint(state)
  tell(state)
}

async function go(state, step) {
  if ('pane' in state.card.dataset) return state.query && goWhole(state, step)
  if (!state.hits.length) return
  state.at = (state.at + step + state.hits.length) % state.hits.length
  const row = await line(state.card, state.hits[state.at].line)
  reveal(state.card, row)
  paint(state)
  tell(state)
}

function tell(state) {
  const { count } = state.parts
  if (!state.query) count.textContent = ''
  else if (state.total) count.textContent = `${state.number.toLocaleString('en')} of ${state.total.toLocaleString('en')}${state.complete ? '' : ' so far'}`
  else if (!state.hits.length) count.textContent = 'No hits'
  else count.textContent = `${(state.at + 1).toLocaleString('en')} of ${state.hits.length.toLocaleString('en')}${state.more ? '+' : ''}`
}

const toggle = (state, act) => state.root.querySelector(`[data-act=${act}]`)
const pressed = (state, act) => toggle(state, act).getAttribute('aria-pressed') === 'true'

async function search(state) {
  state.asking?.abort()
  state.asking = new AbortController()
  const text = state.input.value
  state.query = text
  state.line = null
  state.total = 0
  if (!text) {
    state.hits = []
    paint(state)
    return tell(state)
  }
  const plain = !pressed(state, 'find-regexp')
  const exact = pressed(state, 'find-case')
  const re = `${exact ? '' : '(?i)'}${plain ? literal(text) : text}`
  state.re = re
  try {
    if ('pane' in state.card.dataset) return await goWhole(state, 1)
    const found = await getJSON(`/api/outputs/${state.card.dataset.output}?format=json&grep=${encodeURIComponent(re)}`, { signal: state.asking.signal })
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

/** Opens the search field of a card. */
export function find(card) {
  const old = card.querySelector('.find')
  if (old) return old.querySelector('input').focus()
  const { root, parts } = clone('tpl-find')
  const input = root.querySelector('input')
  const state = { card, root, parts, input, hits: [], at: -1, query: '', asking: null }
  card.querySelector('.card-head, .dhead').after(root)
  const narrow = !card.classList.contains('wide')
  card.classList.add('wide') // hits may stand far to the right
  const shut = () => { if (narrow) card.classList.remove('wide'); root.remove(); state.hits = []; paint(state); card.querySelector('.code')?.focus({ preventScroll: true }) }
  let timer = 0
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(() => search(state), wait) })
  root.addEventListener('keydown', (e) => {
    e.stopPropagation()
    if (e.key === 'Enter' && e.target === input) go(state, e.shiftKey ? -1 : 1).catch(failed)
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
  toggle(state, 'find-next').addEventListener('click', () => go(state, 1))
  toggle(state, 'find-previous').addEventListener('click', () => go(state, -1))
  toggle(state, 'find-close').addEventListener('click', shut)
  card.addEventListener('webchat:lines', () => paint(state))
  card.dispatchEvent(new CustomEvent('webchat:finding', { bubbles: true }))
  input.focus()
}
