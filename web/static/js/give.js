// What crosses the divider: lines or all of what stands on the Desk go with the next
// prompt, at a price that is shown before. The bubble stands below a selection.

import { getJSON, getText } from './api.js'
import { clone, some } from './html.js'
import { announce } from './announce.js'
import { price, ranges } from './receipt.js'
import { deskHash, selection, unchoose } from './select.js'
import { done, failed, toast } from './toast.js'
import { rowHeight, viewerOf } from './viewer.js'
import { asShown, liftedOf } from './veil.js'

const given = new Map() // key of a tab and its output → {lines, remove}
const narrow = matchMedia('(max-width: 839px)') // there the bubble is a bar in the place of the foot

/** What the model has room for, in tokens. */
const left = () => Number(document.getElementById('meter')?.dataset.left || Infinity)

/** What is offered to be given. */
const chip = {
  bubble: null,
  had: left(), // when the buttons were drawn
}

const id = (pane) => `${pane.dataset.output}`
const lineWords = (s) => `${s.to > s.from ? 'Lines' : 'Line'} ${s.from.toLocaleString('en')}${s.to > s.from ? `–${s.to.toLocaleString('en')}` : ''}`

/** Hands lines of a pane to the agent with the next prompt; without lines all of it. */
export function ask(pane, s = selection(pane)) {
  const name = pane.dataset.base
  const cost = (s && prices.get(`${id(pane)} ${s.from}-${s.to}`)) ?? price(pane, s ? s.to - s.from + 1 : undefined)
  if (!s) return hand(pane, { label: name, what: name, cost, words: 'Goes with your next prompt' })
  return hand(pane, {
    label: `${name}:${s.from}${s.to > s.from ? `–${s.to}` : ''}`, what: some(s.to - s.from + 1, 'line'), cost, lines: `${s.from}-${s.to}`,
    words: `${lineWords(s)} go${s.to > s.from ? '' : 'es'} with your next prompt`,
  })
}

function hand(pane, { label, what, cost, lines, words, of = pane.dataset.output }) {
  given.get(id(pane))?.remove()
  const detail = { label, cost, attachment: { outputId: of, name: pane.dataset.base, lines, lifted: liftedOf(of) || undefined }, onRemove: () => { given.delete(id(pane)); paint() } }
  document.dispatchEvent(new CustomEvent('webchat:attach', { detail }))
  given.set(id(pane), { lines: lines ?? '', words, remove: detail.remove })
  announce(`${what} goes with your next prompt, ${some(cost, 'token')}`)
  if (selection(pane)) unchoose()
  paint()
  document.getElementById('prompt').focus()
}

const scopes = new WeakMap() // pane → {words, lines, cost, of}: what its view offers in place of all

/** Offers a part of what a pane shows, by the numbers of its lines; null: all of it. */
export function scope(pane, part) {
  const lines = part ? ranges(part.lines) : ''
  if (!part || !lines) scopes.delete(pane)
  else {
    const mine = { ...part, lines, cost: part.lines.length * 12 }
    scopes.set(pane, mine)
    getJSON(`/api/outputs/${part.of ?? pane.dataset.output}?tokens&${asShown(part.of ?? pane.dataset.output, lines)}`).then(({ tokens }) => {
      mine.cost = tokens
      mine.exact = true
      if (scopes.get(pane) === mine) foot(pane)
    }, () => {}) // what stands there is by the length
  }
  foot(pane)
}

/** What of a large result the model has not got yet. */
const rest = ({ dataset: d }) => (d.rest ? { words: 'the rest', lines: d.rest, cost: Math.max(1, Number(d.tokens) - Number(d.sent)), exact: true } : null)

function read(pane) {
  const part = scopes.get(pane) ?? rest(pane)
  if (!part) return ask(pane, null)
  const { words, lines, cost, of } = part
  return hand(pane, { label: `${pane.dataset.base}: ${words}`, what: words, cost, lines, of, words: `${words[0].toUpperCase()}${words.slice(1)} go${/s$/.test(words) ? '' : 'es'} with your next prompt` })
}

const timers = new WeakMap()

/** Of what is too large to hand over, and of lines that match, those on the screen can be. */
function screen(pane) {
  const v = viewerOf(pane)
  if (!v || v.code.hidden || v.running || timers.has(pane)) return
  if (!v.only && Number(pane.dataset.tokens ?? 0) <= left()) {
    if (scopes.get(pane)?.screen) scope(pane, null)
    return
  }
  timers.set(pane, setTimeout(() => {
    timers.delete(pane)
    const { top, bottom } = v.code.getBoundingClientRect()
    const rows = [...v.rows.querySelectorAll(':scope > .line > a.ln[href]')].filter((a) => { const r = a.getBoundingClientRect(); return r.bottom > top + 10 && r.top < bottom - 10 })
    const lines = rows.map((a) => Number(a.getAttribute('href').slice(2)))
    if (lines.length && ranges(lines) !== scopes.get(pane)?.lines) scope(pane, { words: lines.length === 1 ? 'the line in view' : `the ${some(lines.length, 'line')} in view`, lines, screen: true })
  }, 250))
}

const prices = new Map() // output and lines → tokens

/** Asks the server what lines cost. */
async function exact(pane, s, say) {
  const key = `${id(pane)} ${s.from}-${s.to}`
  try {
    if (!prices.has(key)) prices.set(key, (await getJSON(`/api/outputs/${pane.dataset.output}?tokens&${asShown(pane.dataset.output, `${s.from}-${s.to}`)}`)).tokens)
    say(`+${prices.get(key).toLocaleString('en')}`)
  } catch { /* what stands there is by the length */ }
}

/** Draws the feet of all panes: what goes with the next prompt, what is chosen, else what is on the screen. */
function paint() {
  for (const pane of panes()) foot(pane)
}

const panes = () => document.querySelectorAll('.pane[data-state=done]')

/** Draws the buttons of all panes again, if the model has another room than it had. */
function counted() {
  if (left() === chip.had) return
  chip.had = left()
  for (const pane of panes()) button(pane)
}

/** Whether some of the chosen lines are on the screen. */
function inView(pane, s) {
  const v = viewerOf(pane)
  return Boolean(s) && (!v || v.code.hidden || (s.from <= v.seen.to && s.to >= v.seen.from))
}

/** Lets the foot say where the reader is once the chosen lines have left the screen, and again when they return. */
function moved(pane) {
  const s = selection(pane)
  if (s && !given.has(id(pane)) && inView(pane, s) !== Boolean(pane.querySelector('.dfoot [data-at][data-said]'))) foot(pane)
}

function foot(pane) {
  if (pane.dataset.state !== 'done') return
  const words = pane.querySelector('.dfoot [data-at]')
  const kept = pane.querySelector('[data-kept]')
  const goes = given.get(id(pane))
  const s = selection(pane)
  pane.dataset.given = goes?.lines ?? ''
  pane.dispatchEvent(new CustomEvent('webchat:given', { bubbles: true }))
  const say = goes?.words ?? (inView(pane, s) ? `${lineWords(s)} selected` : '')
  if (say) {
    words.textContent = say
    words.dataset.said = ''
  } else {
    delete words.dataset.said
    words.textContent = pane.dataset.where ?? ''
    viewerOf(pane)?.draw()
  }
  if (kept) kept.hidden = Boolean(say)
  button(pane)
  given_(pane)
}

/** Draws the button that hands over, or takes back. More than the model has room for cannot be handed over. */
function button(pane) {
  const el = pane.querySelector('.dfoot .give')
  if (!el) return
  const label = el.querySelector('[data-label]')
  const shown = el.querySelector('[data-price]')
  label.dataset.was ??= label.textContent
  shown.dataset.was ??= shown.textContent
  const goes = given.get(id(pane))
  const part = scopes.get(pane) ?? rest(pane)
  const cost = part?.cost ?? Number(pane.dataset.tokens ?? 0)
  const fits = goes || cost <= left()
  el.disabled = !fits
  el.dataset.act = goes ? 'keep-out' : 'read'
  el.querySelector('use').setAttribute('href', goes ? '#i-x' : '#i-hand')
  shown.hidden = Boolean(goes) || !fits
  shown.textContent = part && !goes ? (part.exact ? `+${cost.toLocaleString('en')}` : '+…') : shown.dataset.was
  if (goes) label.textContent = goes.lines ? 'Keep them out' : 'Keep it out'
  else if (!fits) label.textContent = `Does not fit: ${cost.toLocaleString('en')} of ${left().toLocaleString('en')} left`
  else label.textContent = part ? `Let the agent read ${part.words}` : label.dataset.was
}

/** Marks the rows that go with the next prompt. */
function given_(pane) {
  const parts = (pane.dataset.given || '0').split(',').map((part) => { const [from, to] = part.split('-').map(Number); return [from, to ?? from] })
  for (const row of pane.querySelectorAll('.rows > .line')) {
    const n = Number(row.firstElementChild.getAttribute('href')?.slice(2))
    row.classList.toggle('given', parts.some(([from, to]) => from > 0 && n >= from && n <= to))
  }
}

function hide() {
  chip.bubble?.remove()
  chip.bubble = null
}

/** The bubble goes with the next click or scroll; the bar is there as long as lines are chosen. */
function leave() {
  if (!chip.bubble?.matches('[data-pane] > *')) hide()
}

/** Says in the bubble how many lines are chosen, and what they cost by their length. */
function count(pane, s) {
  const n = s.to - s.from + 1
  chip.bubble.querySelector('[data-part=label]').textContent = `Ask about ${some(n, 'line')}`
  chip.bubble.querySelector('[data-part=price]').textContent = `+${price(pane, n).toLocaleString('en')}`
}

/** Shows what can be done with the chosen lines, below them. */
export function offer(pane) {
  hide()
  const s = selection(pane)
  if (!s) return
  const { root, parts } = clone('tpl-bubble')
  chip.bubble = root
  count(pane, s)
  exact(pane, s, (text) => { parts.price.textContent = text })
  if (narrow.matches) return bar(pane, s)
  pane.querySelector('.view').append(root)
  const box = pane.querySelector('.view').getBoundingClientRect()
  const row = (k) => pane.querySelector(`.ln[href="#L${k}"]`)?.closest('.line').getBoundingClientRect()
  const end = row(s.to)
  const start = row(s.from)
  const below = (end?.bottom ?? box.bottom) - box.top + 8
  const above = (start?.top ?? box.top) - box.top - 8 - root.offsetHeight
  root.style.left = `${Math.max(8, Math.min(232, box.width - root.offsetWidth - 24))}px`
  root.style.top = `${below + root.offsetHeight < box.height ? Math.max(8, below) : Math.max(8, above)}px`
}

/** Puts the bar below the rows, and the last of the chosen ones above it. */
function bar(pane, s) {
  pane.append(chip.bubble)
  const end = pane.querySelector(`.ln[href="#L${s.to}"]`)?.closest('.line').getBoundingClientRect().bottom
  const covered = end - pane.querySelector('.view').getBoundingClientRect().bottom
  const v = viewerOf(pane)
  if (v && covered > 0) v.touch(v.pos + Math.ceil(covered / rowHeight()))
}

export async function copyLines(pane) {
  const s = selection(pane)
  const text = getText(`/api/outputs/${pane.dataset.output}?${asShown(pane.dataset.output, `${s.from}-${s.to}`)}`)
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((t) => new Blob([t], { type: 'text/plain' })) })])
  hide()
  toast(`Copied ${some(s.to - s.from + 1, 'line')}`)
}

export async function linkLines(pane) {
  const s = selection(pane)
  await navigator.clipboard.writeText(location.origin + location.pathname + deskHash(pane, s.from, s.to))
  hide()
  done(pane.querySelector('[data-act=copy]'))
  toast('Copied the link')
}

const acts = { ask, 'copy-lines': copyLines, 'link-lines': linkLines, read, 'keep-out': (pane) => given.get(id(pane))?.remove() }

export function giving() {
  document.addEventListener('webchat:chosen', (e) => {
    if ('pane' in e.target.dataset) foot(e.target)
    const s = selection(e.target)
    if (!s) hide()
    else if (chip.bubble?.parentElement === e.target) count(e.target, s)
  })
  document.addEventListener('pointerup', (e) => {
    const pane = e.target.closest?.('.ln, .handle')?.closest('[data-pane]')
    if (pane) offer(pane)
  })
  document.addEventListener('pointerdown', (e) => { if (!chip.bubble?.contains(e.target)) leave() })
  document.addEventListener('webchat:touched', leave)
  document.addEventListener('webchat:lines', (e) => { if (e.target.matches?.('[data-pane]')) { given_(e.target); screen(e.target); moved(e.target) } }, true)
  document.addEventListener('webchat:pane', (e) => foot(e.target))
  document.addEventListener('webchat:frame', (e) => { if (e.detail.ops.some((op) => op.t === 'meter')) counted() })
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && chip.bubble) {
      hide()
      e.stopImmediatePropagation()
      e.preventDefault()
    }
  }, true)
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('[data-act]')
    const pane = button?.closest('[data-pane]')
    if (!pane || !Object.hasOwn(acts, button.dataset.act)) return
    e.stopImmediatePropagation()
    hide()
    Promise.resolve(acts[button.dataset.act](pane)).catch(failed)
  }, true)
}
