// The bar on Ctrl K: opens files, outputs, sessions and messages, and does
// things. It lies over the conversation, so that the Desk shows what is under the
// cursor; that is neither reported nor kept until it is opened.

import { offers } from './offers.js'
import { clone, plain } from './html.js'
import { fill } from './composer.js'
import { isShown } from './desk.js'
import { toKeys } from './focus.js'
import { keepLook, peek, unpeek } from './peek.js'
import { at as name } from './mentions.js'
import { asker } from './latest.js'
import { failed } from './toast.js'
import { holdKeys } from './hold.js'
import { typing } from './typing.js'

const dialog = document.getElementById('open-bar')
const input = dialog?.querySelector('input')
const wide = matchMedia('(min-width: 1100px)')
const question = asker()
const pause = 70 // milliseconds between a move of the cursor and the preview
/** The one bar of the page. */
const bar = {
  options: [], // of all groups, in their order
  at: 0,
  moved: false, // the reader moved the cursor since the bar was opened
  soon: 0,
  before: null, // what had the focus
  drawn: Promise.resolve(), // until something is offered for what is typed
}

/** A text cut at each place that holds q: plain, matched, plain … */
function cut(text, q) {
  const parts = []
  const low = text.toLowerCase()
  const what = q.toLowerCase()
  let from = 0
  // Where lower case is longer than the text, places in it say nothing.
  for (let i; what && low.length === text.length && (i = low.indexOf(what, from)) >= 0; from = i + what.length) {
    parts.push(text.slice(from, i), text.slice(i, i + what.length))
  }
  return [...parts, text.slice(from)]
}

/** The text around a match: plain, matched, plain … */
const marked = (parts) => parts.map(plain).map((text, i) => {
  if (i % 2 === 0) return text
  const mark = document.createElement('mark')
  mark.textContent = text
  return mark
})

function label(option, q) {
  const dir = document.createElement('span')
  dir.className = 'dim'
  const slash = option.path ? option.path.lastIndexOf('/') + 1 : 0
  if (!slash) return marked(cut(option.label ?? option.path, q))
  const whole = cut(option.path, q)
  if (whole.length === 1 || option.path.slice(slash).toLowerCase().includes(q.toLowerCase())) {
    dir.textContent = plain(option.path.slice(0, slash))
    return [dir, ...marked(cut(option.path.slice(slash), q))]
  }
  const above = cut(option.path.slice(0, slash), q)
  if (above.length > 1) {
    dir.append(...marked(above))
    return [dir, plain(option.path.slice(slash))]
  }
  return marked(whole)
}

/** The name of another folder, behind what is in it. */
function place(name) {
  const el = document.createElement('span')
  el.className = 'in'
  el.textContent = plain(name)
  return el
}

/** Draws what is offered; true: something was found. */
function draw(groups, q) {
  const box = document.getElementById('open-hits')
  const was = bar.moved && bar.options[bar.at]?.key
  bar.options = []
  box.replaceChildren(...groups.filter((g) => g.list.length).map((g) => {
    const { root, parts } = clone('tpl-hits')
    parts.name.textContent = g.name
    parts.count.textContent = g.total > g.list.length ? `${g.list.length} of ${g.total.toLocaleString('en')}` : g.list.length
    root.setAttribute('aria-label', g.name)
    root.append(...g.list.map((option) => {
      const hit = clone('tpl-hit')
      const i = bar.options.push(option) - 1
      hit.root.id = `hit-${i}`
      hit.root.classList.toggle('mono', Boolean(option.path || option.mono))
      hit.parts.text.replaceChildren(...label(option, q), ...(option.in ? [place(option.in)] : []))
      hit.parts.at.replaceChildren(...marked(option.parts ?? [option.end ?? '']))
      hit.root.querySelector('use').setAttribute('href', `#i-${option.icon}`)
      hit.root.addEventListener('click', (e) => choose({ beside: e.ctrlKey || e.metaKey, option }))
      return hit.root
    }))
    return root
  }))
  const found = groups.reduce((n, g) => n + Math.max(g.total ?? 0, g.list.filter((o) => o.key !== 'ask').length), 0) // asking is no hit
  dialog.querySelector('[data-count]').textContent = found ? `${found.toLocaleString('en')} found` : 'Nothing found'
  const same = was ? bar.options.findIndex((o) => o.key === was) : -1
  mark(Math.max(0, same))
  return found > 0
}

function mark(to) {
  bar.at = to
  for (let i = 0; i < bar.options.length; i++) document.getElementById(`hit-${i}`).setAttribute('aria-selected', String(i === bar.at))
  const now = document.getElementById(`hit-${bar.at}`)
  now?.scrollIntoView({ block: 'nearest' })
  if (now) input.setAttribute('aria-activedescendant', now.id)
  else input.removeAttribute('aria-activedescendant')
  clearTimeout(bar.soon)
  if (bar.moved || input.value.startsWith(':')) bar.soon = setTimeout(look, pause)
}

/** Shows what is under the cursor, where there is room for it. */
function look() {
  if (dialog.open && wide.matches) peek(bar.options[bar.at]).then(lie).catch(failed)
}

function move(by) {
  if (!bar.options.length) return
  bar.moved = true
  mark((bar.at + by + bar.options.length) % bar.options.length)
}

async function update() {
  const signal = question.begin()
  const q = input.value.trim()
  bar.moved &&= q !== ''
  const { promise, resolve } = Promise.withResolvers()
  bar.drawn = promise
  try {
    await offers(q, { signal }, (groups) => {
      if (signal.aborted || !dialog.open) return
      if (draw(groups, q.replace(/^[>!#:]\s*/, '').replace(/:\d+(?:-\d+)?$/, ''))) resolve() // else more may come
    })
  } catch (err) {
    if (err.name !== 'AbortError') failed(err)
  }
  resolve()
}

/** Is over when something is offered for what is typed by then. */
async function drawn() {
  for (let last; last !== bar.drawn;) {
    last = bar.drawn
    await last
  }
}

/** Goes on with another text. */
function again(text) {
  input.value = text
  update()
}

/** Opens an option; without one that under the cursor, of what is offered for what is typed. */
async function choose({ beside = false, option } = {}) {
  if (!option) await drawn()
  option ??= bar.options[bar.at]
  if (!dialog.open || !option) return
  if (!option.run) return again(option.again)
  const focus = !typing(bar.before) // the next key belongs to what is opened, or to what is being written
  close({ kept: Boolean(option.peeks) })
  try {
    if (option.peeks && await keepLook(option, { beside, focus })) return
    await option.run({ beside, focus })
  } catch (err) {
    await unpeek()
    failed(err)
  }
}

/** The bar covers the conversation, and the Desk stays free. */
function lie() {
  const desk = document.getElementById('desk')
  const edge = wide.matches && isShown() ? desk.getBoundingClientRect().left : innerWidth
  dialog.style.setProperty('--edge', `${Math.round(edge)}px`)
}

function behind(inert) {
  for (const el of document.querySelectorAll('#side, #bar, .main, .skip')) el.inert = inert
}

function close({ kept = false } = {}) {
  clearTimeout(bar.soon)
  question.drop()
  if (!dialog.open) return
  if (!dialog.matches(':modal')) behind(false)
  dialog.close()
  if (!kept) unpeek()
  const back = bar.before === document.body ? null : bar.before
  back?.focus({ preventScroll: true })
  if (back && document.activeElement === back) return
  if (back && !typing(back)) toKeys() // what was read there has been drawn anew
  else document.getElementById('prompt')?.focus({ preventScroll: true })
}

/** Opens the bar with a text in it. */
export function openBar(text = '') {
  if (!dialog || dialog.open || document.querySelector('dialog[open]')) return
  bar.before = document.activeElement
  bar.moved = false
  input.value = text
  if (wide.matches) {
    dialog.show()
    behind(true)
  } else dialog.showModal()
  lie()
  input.focus()
  update()
}

async function ask() {
  await drawn()
  if (!dialog.open) return
  const option = bar.options[bar.at]
  if (option?.again) return again(option.again)
  close()
  fill(option?.path && !/^[>!#:]/.test(input.value) ? `${name(option.path)} ` : input.value.trim())
}

function key(e) {
  if (e.isComposing) return
  if (e.key === 'ArrowDown') move(1)
  else if (e.key === 'ArrowUp') move(-1)
  else if (e.key === 'Enter') holdKeys(choose({ beside: e.ctrlKey || e.metaKey }))
  else if (e.key === 'Tab' && !e.shiftKey && e.target === input && input.value.trim()) holdKeys(ask())
  else if (e.key === 'Escape') close()
  else return
  e.preventDefault()
  e.stopPropagation()
}

if (dialog) {
  dialog.addEventListener('input', update)
  dialog.addEventListener('keydown', key)
  dialog.addEventListener('cancel', (e) => { e.preventDefault(); close() })
  dialog.addEventListener('click', (e) => { if (e.target === dialog || e.target.closest('[data-act=close-bar]')) close() })
  document.addEventListener('pointerdown', (e) => {
    if (dialog.open && !dialog.contains(e.target)) close({ kept: Boolean(e.target.closest?.('#desk')) })
  })
  addEventListener('resize', () => { if (dialog.open) lie() })
}
