// What changed between two revisions of a path. Two stops of the line above say which;
// j and k go from change to change, u puts both beside each other. The change that one
// is at can be taken back on disk (z), and written about (m).

import { clone, fragment, some } from './html.js'
import { getText } from './api.js'
import { scope } from './give.js'
import { rowOf, tabOf } from './tabs.js'
import { bringBack, comment, undo } from './undo.js'
import { failed, toast } from './toast.js'

const most = 12 // revisions to choose from
const roomy = 1280 // pixels that two texts beside each other need
const states = new WeakMap() // pane → state of its view

/** The revisions of what a pane shows that can be read, oldest first: before all, what a file was when the session began. */
export function revisions(pane) {
  const { was, output, key } = pane.dataset
  const shown = (tabOf(key)?.outs ?? []).filter((out) => out === output || rowOf(out)?.dataset.state === 'done').slice(-most)
  return was ? [was, ...shown] : shown
}

const began = 'start' // what stands at the stop of what a file was
const timeOf = (out) => rowOf(out)?.dataset.at ?? began

export function changes(state) {
  const { pane } = state
  const { root: bar, parts } = clone('tpl-changes')
  pane.querySelector('.view').before(bar)
  states.set(pane, state)
  const outs = revisions(pane)
  Object.assign(state, { bar, parts, outs, now: pane.dataset.output, was: pane.dataset.was ?? outs[Math.max(0, outs.indexOf(pane.dataset.output) - 1)], sides: false })
  if (state.was === state.now) [state.was, state.now] = outs
  parts.stops.append(...outs.map((out, i) => stop(state, out, i)))
  bar.addEventListener('click', (e) => {
    const act = e.target.closest('[data-act]')?.dataset.act
    if (act === 'change-next' || act === 'change-before') toChange(pane, act === 'change-next' ? 1 : -1)
    if (act === 'sides') besides(pane)
    if (act === 'bring-back') bringBack(pane).catch(failed)
  })
  parts.back.hidden = !tabOf(pane.dataset.key)?.undone?.length
  state.root.addEventListener('click', (e) => {
    const row = e.target.closest('.foldline')
    const act = e.target.closest('[data-act]')?.dataset.act
    if (row) unfold(state, row).catch(failed)
    else if (act === 'undo-change') undoChange(pane)
    else if (act === 'comment-change') commentChange(pane)
  })
  state.root.addEventListener('pointerover', (e) => {
    const row = e.target.closest('.add, .del')
    if (row) hold(state, [...state.root.querySelectorAll('[data-change]')].findLast((el) => el === row || el.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING))
  })
  const { load } = state
  state.load = async () => {
    mark(state)
    await load()
    for (let i = outs.indexOf(state.was); state.total <= 1 && !state.chosen && i > 0 && count(state, 'Changes') === 0;) { // the last two that differ
      state.was = outs[--i]
      mark(state)
      await load()
    }
  }
  state.loaded = () => loaded(state)
}

function stop(state, out, i) {
  const { root, parts } = clone('tpl-stop')
  parts.at.textContent = timeOf(out)
  root.dataset.out = out
  root.title = timeOf(out) === began ? 'As it was when the session began' : `Version ${i + 1}, shown ${timeOf(out)}`
  root.addEventListener('click', () => {
    const place = (x) => state.outs.indexOf(x)
    const first = Math.abs(place(state.was) - i) <= Math.abs(place(state.now) - i)
    if (out === state.was || out === state.now) return
    if (first) state.was = out
    else state.now = out
    if (place(state.was) > place(state.now)) [state.was, state.now] = [state.now, state.was]
    state.chosen = true
    state.load().catch(failed)
  })
  return root
}

/** Says which two are compared. */
function mark(state) {
  const { outs, was, now, parts } = state
  state.of = now
  state.extra = `&with=${was}`
  Object.assign(state.root.dataset, { was, now })
  for (const [i, el] of [...parts.stops.children].entries()) {
    el.setAttribute('aria-pressed', String(outs[i] === was || outs[i] === now))
    el.classList.toggle('is-between', i > outs.indexOf(was) && i <= outs.indexOf(now))
  }
  const at = document.createElement('b')
  at.textContent = timeOf(was) === began ? 'the session began' : timeOf(was)
  parts.since.replaceChildren('What changed since ', at)
}

const count = (state, name) => Number(state.head.get(`Webchat-${name}`))

function loaded(state) {
  const { root, parts, pane } = state
  const all = [...root.querySelectorAll('[data-change]')]
  parts.sum.replaceChildren()
  for (const [name, sign, text] of [['plus', '+', count(state, 'Added')], ['minus', '−', count(state, 'Removed')]]) {
    const el = document.createElement('span')
    el.className = name
    el.textContent = `${sign}${text.toLocaleString('en')} `
    parts.sum.append(el)
  }
  const numbers = touched(root)
  scope(pane, numbers.length ? { words: all.length === 1 ? 'the change' : `the ${some(all.length, 'change')}`, lines: numbers, of: state.now } : null)
  root.classList.toggle('sides', state.sides)
  if (state.sides) pair(root)
}

const numbersOf = (row) => [...row.querySelectorAll(':scope > .ln')].map((el) => Number(el.textContent) || 0)

/** The lines of the newer text that changed, or stand beside what was removed. */
function touched(root) {
  const out = new Set()
  for (const row of root.querySelectorAll('.line.add')) out.add(numbersOf(row)[1])
  for (const row of root.querySelectorAll('.line.del')) {
    for (const next of [row.previousElementSibling, row.nextElementSibling]) {
      if (next?.matches('.line:not(.del)')) out.add(numbersOf(next)[1])
    }
  }
  return [...out].filter(Boolean).sort((a, b) => a - b)
}

/** Puts the older text at the left and the newer one at the right. */
function pair(root) {
  const side = (row, way) => {
    const el = row ?? document.createElement('div')
    el.classList.add('half', way)
    return el
  }
  const put = (before, left, right) => {
    const both = document.createElement('div')
    both.className = 'pair'
    before.before(both)
    both.append(side(left, 'is-old'), side(right, 'is-new'))
  }
  for (let row = root.firstElementChild; row;) {
    const next = row.nextElementSibling
    if (row.matches('.line:not(.del, .add)')) {
      put(row, row.cloneNode(true), row)
      row = next
      continue
    }
    if (!row.matches('.del, .add')) {
      row = next
      continue
    }
    const dels = []
    const adds = []
    let end = row
    for (; end?.matches('.del'); end = end.nextElementSibling) dels.push(end)
    for (; end?.matches('.add'); end = end.nextElementSibling) adds.push(end)
    const mark = document.createElement('div')
    row.before(mark)
    for (let i = 0; i < Math.max(dels.length, adds.length); i++) put(mark, dels[i], adds[i])
    mark.remove()
    row = end
  }
}

/** Shows lines that are the same in both. */
async function unfold(state, fold) {
  const [from, to] = fold.dataset.lines.split('-').map(Number)
  const last = Math.min(to, from + 499)
  const before = fold.previousElementSibling?.querySelectorAll('.ln')
  const after = fold.nextElementSibling?.querySelectorAll('.ln')
  const shift = before ? Number(before[0].textContent) - Number(before[before.length - 1].textContent)
    : after ? Number(after[0].textContent) - Number(after[after.length - 1].textContent) : 0
  const rows = fragment(await getText(`/api/outputs/${state.now}?format=html&lines=${from}-${last}`))
  for (const row of [...rows.children]) {
    const n = Number(row.querySelector('.ln')?.textContent)
    row.querySelector('.ln')?.replaceWith(cell('ln', n + shift), cell('ln', n), cell('sg', ' '))
    fold.before(row)
  }
  if (last === to) fold.remove()
  else {
    fold.dataset.lines = `${last + 1}-${to}`
    fold.textContent = `Lines ${last + 1}–${to} are the same`
  }
}

function cell(name, text) {
  const el = document.createElement('span')
  el.className = name
  el.textContent = text
  return el
}

/** To the next change or the one before; false: the pane shows none. */
export function toChange(pane, by) {
  const root = pane.querySelector('.other.diff')
  const state = states.get(pane)
  if (!root || !state) return false
  const all = [...root.querySelectorAll('[data-change]')]
  if (!all.length) return true
  const now = all.indexOf(root.querySelector('.is-now')) // -1: none
  const next = all[(now < 0 && by < 0 ? all.length - 1 : now + by + all.length) % all.length]
  hold(state, next)
  next.scrollIntoView({ block: 'center' })
  return true
}

/** Marks the change that begins with a row as the one that is acted on. */
function hold({ root, pane, now }, row) {
  if (!row || row.classList.contains('is-now')) return
  for (const el of root.querySelectorAll('.is-now')) el.classList.remove('is-now')
  row.classList.add('is-now')
  root.querySelector('.change-acts')?.remove()
  if (now === pane.dataset.output && pane.dataset.kind === 'file' && document.getElementById('tpl-change-acts')) row.append(clone('tpl-change-acts').root)
}

/** The rows of the change that one is at, if it can be acted on. */
function held(pane) {
  const state = states.get(pane)
  const first = pane.querySelector('.other.diff .is-now:has(.change-acts)')
  if (!first) return null
  const rows = [...state.root.querySelectorAll('.add, .del')].filter((row) => row === first || first.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING)
  const next = rows.findIndex((row, i) => i > 0 && 'change' in row.dataset)
  return { n: Number(first.dataset.change), with: state.was, rows: next < 0 ? rows : rows.slice(0, next) }
}

/** Takes the change that one is at back on disk. */
export function undoChange(pane) {
  const change = held(pane)
  if (change) undo(pane, change).catch(failed)
}

/** Begins to write about the change that one is at. */
export function commentChange(pane) {
  const change = held(pane)
  if (change) comment(pane, change.rows)
}

/** Both texts beside each other, or in one column. */
export function besides(pane) {
  const state = states.get(pane)
  if (!state || !pane.querySelector('.other.diff')) return
  if (!state.sides && state.root.clientWidth < roomy) return toast(`Side by side needs a Desk ${roomy} pixels wide. Make it wider`)
  state.sides = !state.sides
  state.bar.querySelector('[data-act=sides]').setAttribute('aria-pressed', String(state.sides))
  state.load().catch(failed)
}
