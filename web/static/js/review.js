// The review of what the agent changed: the server draws it, change by change. Here one goes
// from change to change, keeps it, takes it back on disk and brings it back, and comments on it.
// What was taken back, and comments, wait as chips in the composer. No model is called.

import { getText, path, post, session } from './api.js'
import { announce } from './announce.js'
import { addLines, waiting } from './attach.js'
import { showing } from './commands.js'
import { openOwn } from './desk.js'
import { display } from './display.js'
import { draft, told } from './drafts.js'
import { clone, fragment, plain, some } from './html.js'
import { asker } from './latest.js'
import { beside, turnOn } from './radio.js'
import { open as openTabs } from './tabs.js'
import { failed, toast } from './toast.js'
import { lettersAreKeys } from './typing.js'

const tab = { key: 'review', name: 'Review', base: 'Review', icon: 'diff', kind: 'review', outs: [], out: 'review', state: 'review' }
const question = asker()
const soon = 300 // milliseconds after what the agent did, until it is looked at
const most = 50 // undone changes that are named to the agent

let root = null
let of = { since: 'turn', from: '' }
const remarks = new Map() // key → {text, tokens, remove}
const refusals = new Map() // key → {why, undoable}: why a change was not taken back, until its file can be again or it is tried again
let undone = null // the chip of what was taken back: {keys, remove}

const all = (what, from = root) => [...from.querySelectorAll(what)]
const hunks = () => all('[data-hunk]')
const byKey = (key) => root.querySelector(`[data-key="${CSS.escape(key)}"]`)
const fileOf = (hunk) => hunk.closest('.rfile')
const now = () => document.activeElement?.closest?.('.review [data-hunk]') ?? root.querySelector('[data-hunk][tabindex="0"]')

/** Marks a change as kept, or not; the marks are kept with the draft. */
function keep(key, on) {
  const list = draft.list('kept').filter((k) => k !== key)
  draft.saveList('kept', on ? [...list, key] : list)
}

/** Marks the change that Tab leads to, and goes to it. */
function to(hunk, { focus = true } = {}) {
  if (!hunk) return
  for (const el of hunks()) el.tabIndex = el === hunk ? 0 : -1
  for (const b of all('[data-to]')) b.ariaCurrent = b.dataset.to === fileOf(hunk).dataset.file ? 'true' : null
  if (!focus) return
  hunk.focus({ preventScroll: true })
  hunk.scrollIntoView({ block: 'nearest' })
}

function step(by) {
  const list = hunks()
  const i = list.indexOf(now())
  to(list[Math.max(0, Math.min(list.length - 1, i < 0 ? 0 : i + by))])
}

let newest = null // what the last call of load does

/** Draws what the server says now. Who is overtaken by a later call waits for what that one draws. */
const load = () => (newest = draw())

/** Draws it once. What one reads stays where it is. */
async function draw() {
  const signal = question.begin()
  let text = ''
  try {
    text = await getText(`/sessions/${session()}/review?since=${of.since}${of.from ? `&from=${of.from}` : ''}`, { signal })
  } catch (err) {
    if (!signal.aborted) throw err
  }
  if (signal.aborted) return newest
  const fresh = fragment(text).firstElementChild
  const scroll = root.querySelector('.changes')
  const top = scroll?.getBoundingClientRect().top
  const seen = scroll && (root.querySelector('[data-hunk]:focus-within') ?? hunks().find((el) => el.getBoundingClientRect().bottom > top))
  const at = seen && { key: seen.dataset.key, file: fileOf(seen).dataset.path, n: Number(seen.dataset.hunk), y: seen.getBoundingClientRect().top, focus: seen.contains(document.activeElement) }
  const lost = root.contains(document.activeElement)
  const button = document.activeElement?.closest?.('.review .dhead [data-of], .review .dhead [data-by]')
  const select = document.activeElement?.matches?.('.review select')
  const draft = root.querySelector('.remark-edit')
  const drafted = draft && { key: draft.closest('[data-hunk]').dataset.key, draft, focus: draft === document.activeElement }
  const y = scroll?.scrollTop ?? 0
  root.replaceChildren(...fresh.childNodes)
  for (const name of ['since', 'from', 'changes', 'undone']) root.dataset[name] = fresh.dataset[name]
  Object.assign(tab, { name: fresh.dataset.base, base: fresh.dataset.base })
  root.dataset.base = tab.base
  root.ariaLabel = tab.base
  document.dispatchEvent(new Event('webchat:tabs'))
  const again = at && (byKey(at.key) ?? all('[data-hunk]', all('.rfile').find((f) => f.dataset.path === at.file) ?? document.createElement('i')).findLast((el) => Number(el.dataset.hunk) <= at.n))
  root.querySelector('.changes').scrollTop = y
  if (again) root.querySelector('.changes').scrollTop += again.getBoundingClientRect().top - at.y
  to(again ?? hunks()[0], { focus: false })
  if (drafted && byKey(drafted.key)) {
    byKey(drafted.key).append(drafted.draft)
    if (drafted.focus) drafted.draft.focus({ preventScroll: true })
  } else if (button) root.querySelector(`[data-of="${button.dataset.of}"], [data-by="${button.dataset.by}"]`)?.focus({ preventScroll: true })
  else if (select) root.querySelector('select')?.focus()
  else if (at?.focus || lost) (again ?? hunks()[0] ?? root.querySelector('.nothing, .changes')).focus({ preventScroll: true })
  marks()
}

/** Paints what is kept and commented, and says what goes with the next prompt. */
function marks() {
  const kept = draft.list('kept')
  for (const el of all('[data-key]')) {
    const on = !('undone' in el.dataset) && kept.includes(el.dataset.key)
    const button = el.querySelector('[data-act=keep]')
    el.classList.toggle('is-kept', on)
    if (button) {
      button.ariaPressed = String(on)
      button.querySelector('[data-label]').textContent = on ? 'Kept' : 'Keep'
    }
    const refusal = refusals.get(el.dataset.key)
    if (refusal && refusal.undoable !== ('undoable' in fileOf(el).dataset)) refusals.delete(el.dataset.key)
    const place = el.querySelector('.failed')
    if (place) {
      place.textContent = refusals.get(el.dataset.key)?.why ?? ''
      place.hidden = !place.textContent
    }
    const remark = remarks.get(el.dataset.key)
    const box = el.querySelector('[data-part=comments]')
    box.replaceChildren()
    if (!remark) continue
    const { root: line, parts } = clone('tpl-remark')
    parts.text.textContent = remark.text
    parts.price.textContent = remark.remove ? `+${remark.tokens.toLocaleString('en')}` : 'sent'
    box.append(line)
  }
  for (const file of all('.rfile')) {
    const state = root.querySelector(`[data-to="${file.dataset.file}"] [data-part=state]`)
    const n = { kept: all('.is-kept:not([data-undone])', file).length, undone: all('[data-undone]', file).length }
    state.textContent = Object.entries(n).filter(([, count]) => count).map(([word, count]) => `${count} ${word}`).join(', ') || (file.querySelector('.rsay .link') ? 'changed since' : '')
  }
  root.dispatchEvent(new CustomEvent('webchat:lines')) // the map has other marks
  goes()
}

/** Says in the foot what goes with the next prompt. */
function goes() {
  const comments = [...remarks.values()].filter((r) => r.remove).length
  const parts = [undone && `${undone.keys.length.toLocaleString('en')} undone`, comments && some(comments, 'comment')].filter(Boolean)
  const n = (undone?.keys.length ?? 0) + comments
  root.querySelector('[data-act=keep-out]').hidden = !n
  root.querySelector('.dfoot .kept').classList.toggle('is-own', n > 0)
  root.querySelector('[data-part=goes]').textContent = n ? `${parts.join(' and ')} ${n === 1 ? 'goes' : 'go'} with your next prompt` : ''
}

/** The handlers of a chip that went or was removed; of undone changes, and of a comment. */
const undoneGone = (mine) => (elsewhere) => {
  if (undone !== mine) return
  if (!elsewhere) told(mine.keys)
  undone = null
  goes()
}
const remarkGone = (key, remark) => () => {
  remark.remove = null
  if (remarks.get(key) === remark) marks()
}

/** Takes on the chips that were kept while the page was loaded anew. */
function takeOn() {
  for (const one of waiting('undone')) {
    undone = { keys: one.kept.about.undone, remove: one.gone }
    one.onRemove = undoneGone(undone)
  }
  for (const one of waiting('remark')) {
    const { remark: key, text } = one.kept.about
    const remark = { text, tokens: one.kept.cost, remove: one.gone }
    remarks.set(key, remark)
    one.onRemove = remarkGone(key, remark)
  }
}

/** Makes the chip of what is undone and was not told yet. */
async function tellUndone() {
  const list = all('[data-undone]')
  const still = draft.list('told').filter((key) => byKey(key)?.matches('[data-undone]') ?? true)
  draft.saveList('told', still)
  const fresh = list.filter((el) => !still.includes(el.dataset.key))
  const keys = fresh.map((el) => el.dataset.key)
  if (String(keys) === String(undone?.keys ?? [])) return goes()
  const old = undone
  undone = null
  old?.remove()
  if (fresh.length) {
    const label = `${fresh.length} of ${some(Number(root.dataset.changes), 'change')} undone`
    const lines = fresh.slice(0, most).map((el) => placed(fileOf(el).dataset.path, el.dataset.lines))
    if (fresh.length > most) lines.push(`and ${fresh.length - most} more`)
    const mine = { keys, remove() {} }
    undone = mine
    const text = `I undid ${label.replace(' undone', '')} of yours on disk. They were at:\n${lines.join('\n')}\n`
    const made = await addLines({ label, text, icon: '#i-undo', about: { undone: keys } }, undoneGone(mine))
    mine.remove = made.remove
    if (undone !== mine) made.remove()
  }
  goes()
}

/** Has a file's changes taken back that are in want, and the others brought back; why not, if not. */
async function put(file, want) {
  try {
    await post(path(`/outputs/${file.dataset.output}/undo`), { with: file.dataset.with, undone: want })
    return null
  } catch (err) {
    return err
  }
}

const undoneIn = (file) => all('[data-undone]', file).map((el) => Number(el.dataset.hunk))

async function toggle(hunk) {
  const file = fileOf(hunk)
  if (!('undoable' in file.dataset)) return refuse(hunk, { message: file.querySelector('[data-part=why]').textContent })
  const n = Number(hunk.dataset.hunk)
  const had = 'undone' in hunk.dataset
  const { key } = hunk.dataset
  refusals.delete(key)
  const err = await put(file, had ? undoneIn(file).filter((k) => k !== n) : [...undoneIn(file), n])
  if (!had && !err) keep(key, false)
  await load()
  if (err) return refuse(byKey(key), err)
  announce(had ? 'The change is back' : 'Undone. The file is as it was there')
  await tellUndone()
}

/** Says at a change why it was not undone, unless the review says so by itself. */
function refuse(hunk, err) {
  if (err.code === 'changed') return announce(err.message)
  if (hunk?.matches('.rsay')) return announce(err.message) // it stands there
  if (!hunk?.querySelector('.failed')) return failed(err)
  refusals.set(hunk.dataset.key, { why: err.message, undoable: 'undoable' in fileOf(hunk).dataset })
  marks()
}

/** Takes all changes back, or brings them all back; a file of which that cannot be done stays. */
async function everything(back) {
  let done = 0
  const left = []
  for (const file of all('.rfile[data-undoable]')) {
    const list = all('[data-hunk]', file).map((el) => Number(el.dataset.hunk))
    if (undoneIn(file).length === (back ? 0 : list.length)) continue
    const err = await put(file, back ? [] : list)
    if (err) {
      left.push(plain(file.dataset.path.split('/').pop()))
      continue
    }
    done++
    for (const el of all('[data-key]', file)) keep(el.dataset.key, false)
  }
  left.unshift(...all('.rfile:not([data-undoable])').map((f) => plain(f.dataset.path.split('/').pop())))
  await load()
  ended(done, back, left)
  await tellUndone()
}

/** Undoes the turn, what commands changed too, or does it again. Other files than the turn left stay. */
async function wholeTurn(button, back) {
  let parts = 0 // files that were undone in part
  for (const file of all('.rfile[data-undoable]')) {
    const list = all('[data-hunk]', file).map((el) => Number(el.dataset.hunk))
    const undone = undoneIn(file).length
    if (undone && undone < list.length && !await put(file, back ? [] : list)) parts++
  }
  const done = await post(path(`/turns/${button.dataset.turn}/${back ? 'redo' : 'undo'}`))
  for (const el of all('[data-key]')) keep(el.dataset.key, false)
  await load()
  ended(parts + done.written.length + done.deleted.length, back, done.kept.map((f) => plain(f.path.split('/').pop())), done.notUndone.map((f) => plain(f.what)))
  await tellUndone()
}

/** Says how many files are as they were, or are back; which stay, and which changed that are not kept. */
function ended(done, back, left, unkept = []) {
  const [one, several] = back ? ['is as the agent left it', 'are as the agent left them'] : ['is as it was', 'are as they were']
  const words = [`${some(done, 'file')} ${done === 1 ? one : several}`]
  if (left.length) words.push(`${left.join(', ')} ${left.length === 1 ? 'stays' : 'stay'} as now; the review says why`)
  if (unkept.length) words.push(`${unkept.join(', ')} changed too, and what ${unkept.length === 1 ? 'it was is' : 'they were is'} not kept`)
  if (words.length > 1) toast(words.join('. '), { how: 'ask' })
  else announce(words[0])
}

/** A change's file and lines; what is not text has no lines. */
const placed = (name, lines) => (lines ? `${name}:${lines}` : name)

/** Writes about a change, in its place. */
function comment(hunk) {
  if (!hunk?.dataset.key || 'undone' in hunk.dataset) return
  root.querySelector('.remark-edit')?.remove()
  const { root: field } = clone('tpl-remark-edit')
  field.value = remarks.get(hunk.dataset.key)?.text ?? ''
  hunk.append(field)
  field.focus()
  field.scrollIntoView({ block: 'nearest' })
}

function drop(key) {
  const remark = remarks.get(key)
  remarks.delete(key)
  remark?.remove?.()
  marks()
}

async function keepComment(field) {
  const hunk = field.closest('[data-hunk]')
  const { key, lines } = hunk.dataset
  const name = fileOf(hunk).dataset.path
  const text = field.value.trim()
  field.remove()
  hunk.focus({ preventScroll: true })
  drop(key)
  if (!text) return
  const remark = { text, tokens: 0, remove() {} }
  remarks.set(key, remark)
  const label = `1 comment on ${placed(plain(name.split('/').pop()), lines.replace('-', '–'))}`
  const made = await addLines({ label, text: `Comment on ${placed(name, lines)}\n${text}\n`, icon: '#i-say', about: { remark: key, text } }, remarkGone(key, remark))
  Object.assign(remark, made)
  if (remarks.get(key) !== remark) made.remove()
  marks()
}

function keepOut() {
  undone?.remove()
  for (const [key, r] of [...remarks]) if (r.remove) drop(key)
}

const acts = {
  keep: (hunk) => {
    const { key } = hunk.dataset
    if (!hunk.querySelector('[data-act=keep]')) return
    keep(key, !hunk.classList.contains('is-kept'))
    marks()
  },
  undo: (hunk) => toggle(hunk).catch(failed),
  comment,
  'edit-comment': comment,
  'drop-comment': (hunk) => { drop(hunk.dataset.key); hunk.focus({ preventScroll: true }) },
  'undo-all': () => everything(false).catch(failed),
  'back-all': () => everything(true).catch(failed),
  'undo-turn': (_, b) => wholeTurn(b, false).catch(failed),
  'redo-turn': (_, b) => wholeTurn(b, true).catch(failed),
  'keep-out': keepOut,
  'see-file': (_, b) => display(showing({ path: b.closest('.rfile').dataset.path })).catch(failed),
}

const keys = {
  j: () => step(1), k: () => step(-1), y: () => acts.keep(now()), z: () => acts.undo(now()), m: () => comment(now()),
  Z: () => root.querySelector('[data-act=undo-all], [data-act=back-all], [data-act=undo-turn], [data-act=redo-turn]')?.click(),
}
const none = new Set('wcdsrveuXo+-=npf'.split('')) // keys of other panes

function key(e) {
  if (e.isComposing) return
  if (e.target.matches('.remark-edit')) {
    if (e.key === 'Enter' && !e.shiftKey) keepComment(e.target).catch(failed)
    else if (e.key === 'Escape') {
      const hunk = e.target.closest('[data-hunk]')
      e.target.remove()
      hunk.focus({ preventScroll: true })
    } else return
  } else if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches('select')) return
  else if (e.target.matches('[role=radio]') && beside(e.target, e.key)) {
    const next = beside(e.target, e.key)
    next.focus()
    next.click()
  } else if (Object.hasOwn(keys, e.key)) {
    if (hunks().length) keys[e.key]()
  } else if (!none.has(e.key)) return
  e.preventDefault()
  e.stopPropagation()
}

function click(e) {
  const b = e.target.closest('button')
  const hunk = e.target.closest('[data-hunk]')
  if (hunk) to(hunk, { focus: !e.target.closest('button, textarea, .lines') })
  if (!b) return
  if (b.dataset.by) step(Number(b.dataset.by))
  else if (b.dataset.to) to(root.querySelector(`.rfile[data-file="${b.dataset.to}"] [data-hunk]`))
  else if (b.dataset.of) {
    turnOn(b)
    of = { since: b.dataset.of, from: b.dataset.of === 'commit' ? '' : root.dataset.from.replace(/^0$/, '') }
    load().catch(failed)
  } else acts[b.dataset.act]?.(hunk, b)
}

let waits = 0
let known = ''

/** Looks again once the agent did something, while the review stands on the Desk. */
function follow() {
  const done = [...document.querySelectorAll('#turns .turn')].slice(-1).map((t) => `${t.id} ${t.dataset.state} ${t.querySelectorAll('[data-state=done]').length} ${t.querySelectorAll('.tool').length}`).join()
  if (done === known || !openTabs().includes(tab)) return
  known = done
  clearTimeout(waits)
  waits = setTimeout(() => load().catch(() => {}), soon)
}

function make() {
  takeOn()
  root = document.createElement('section')
  root.className = 'pane review'
  root.role = 'tabpanel'
  root.tabIndex = -1
  Object.assign(root.dataset, { pane: '', kind: 'review', state: 'review', from: '' })
  tab.own = root
  root.addEventListener('keydown', key)
  root.addEventListener('click', click)
  root.addEventListener('change', (e) => {
    if (!e.target.matches('select')) return
    of = { since: 'prompt', from: e.target.value }
    load().catch(failed)
  })
  document.addEventListener('webchat:frame', follow)
  window.addEventListener('focus', () => { if (openTabs().includes(tab)) load().catch(() => {}) })
}

/** Opens the review of a turn, by its first event; without one, of the last turn that changed files. */
export async function openReview(from = '') {
  if (!root) make()
  of = { since: 'turn', from }
  try {
    await load()
  } catch (err) {
    failed(err)
    return
  }
  openOwn(tab)
  const [first] = hunks()
  if (first) to(first)
  else root.querySelector('.nothing')?.focus()
  lettersAreKeys() // also after a click: the ring says so
}
