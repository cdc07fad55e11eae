// The review of what the agent changed: the server draws it, change by change. Here one goes
// from change to change, keeps it, takes it back on disk and brings it back, and comments on it.
// What was taken back, and comments, wait as chips in the composer. No model is called.

import { path, post } from './api.js'
import { announce } from './announce.js'
import { showing } from './commands.js'
import { close, openOwn } from './desk.js'
import { display } from './display.js'
import { plain, some } from './html.js'
import { ofOthers } from './otherkeys.js'
import { beside, turnOn } from './radio.js'
import { comment, drop, keepComment, keepOut, marks, refuse, retried, takeOn, tellUndone } from './reviewremarks.js'
import { all, byKey, fileOf, hunks, keep, load, now, review, step, to } from './reviewview.js'
import { open as openTabs } from './tabs.js'
import { failed, toast } from './toast.js'
import { lettersAreKeys } from './typing.js'

const soon = 300 // milliseconds after what the agent did, until it is looked at

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
  retried(key)
  const err = await put(file, had ? undoneIn(file).filter((k) => k !== n) : [...undoneIn(file), n])
  if (!had && !err) keep(key, false)
  await load()
  if (err) return refuse(byKey(key), err)
  announce(had ? 'The change is back' : 'Undone. The file is as it was there')
  await tellUndone()
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

const worktree = (act) => import('./worktree.js').then(act).catch(failed)

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
  'tree-back': (_, b) => worktree((m) => m.offerBack(b, { drawn: load, over: () => close(review.tab) })),
  'tree-throw': () => worktree((m) => m.throwAway().then(() => close(review.tab))),
  'see-file': (_, b) => display(showing({ path: b.closest('.rfile').dataset.path })).catch(failed),
}

const keys = {
  j: () => step(1), k: () => step(-1), y: () => acts.keep(now()), z: () => acts.undo(now()), m: () => comment(now()),
  Z: () => review.root.querySelector('[data-act=undo-all], [data-act=back-all], [data-act=undo-turn], [data-act=redo-turn]')?.click(),
}

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
  } else if (!ofOthers(e.key)) return
  e.preventDefault()
  e.stopPropagation()
}

function click(e) {
  const b = e.target.closest('button')
  const hunk = e.target.closest('[data-hunk]')
  if (hunk) to(hunk, { focus: !e.target.closest('button, textarea, .lines') })
  if (!b) return
  if (b.dataset.by) step(Number(b.dataset.by))
  else if (b.dataset.to) to(review.root.querySelector(`.rfile[data-file="${b.dataset.to}"] [data-hunk]`))
  else if (b.dataset.of) {
    turnOn(b)
    Object.assign(review, { since: b.dataset.of, from: b.dataset.of === 'commit' ? '' : review.root.dataset.from.replace(/^0$/, '') })
    load().catch(failed)
  } else acts[b.dataset.act]?.(hunk, b)
}

/** What the review was drawn for. */
const watch = {
  waits: 0,
  known: '',
}

/** Looks again once the agent did something, while the review stands on the Desk. */
function follow() {
  const done = [...document.querySelectorAll('#turns .turn')].slice(-1).map((t) => `${t.id} ${t.dataset.state} ${t.querySelectorAll('[data-state=done]').length} ${t.querySelectorAll('.tool').length}`).join()
  if (done === watch.known || !openTabs().includes(review.tab)) return
  watch.known = done
  clearTimeout(watch.waits)
  watch.waits = setTimeout(() => load().catch(() => {}), soon)
}

function make() {
  takeOn()
  const root = document.createElement('section')
  review.root = root
  root.className = 'pane review'
  root.role = 'tabpanel'
  root.tabIndex = -1
  Object.assign(root.dataset, { pane: '', kind: 'review', state: 'review', from: '' })
  review.tab.own = root
  root.addEventListener('keydown', key)
  root.addEventListener('click', click)
  root.addEventListener('webchat:drawn', marks)
  root.addEventListener('change', (e) => {
    if (!e.target.matches('select')) return
    Object.assign(review, { since: 'prompt', from: e.target.value })
    load().catch(failed)
  })
  document.addEventListener('webchat:frame', follow)
  window.addEventListener('focus', () => { if (openTabs().includes(review.tab)) load().catch(() => {}) })
}

/** Draws what going back to before a prompt would write, where that is shown. */
export async function drawBack(from, also) {
  Object.assign(review, { since: 'back', from, also })
  await load()
}

/** Shows it. */
export async function openBack(from, also) {
  if (!review.root) make()
  await drawBack(from, also)
  openOwn(review.tab)
}

/** Ends that, with what it was asked for. */
export function closeBack() {
  if (review.since !== 'back') return
  Object.assign(review, { since: 'turn', from: '' })
  if (openTabs().includes(review.tab)) close(review.tab)
}

/** Opens the review of a turn, by its first event; without one, of the last turn that changed files. */
export async function openReview(from = '', since = 'turn') {
  if (!review.root) make()
  Object.assign(review, { since, from })
  try {
    await load()
  } catch (err) {
    failed(err)
    return
  }
  openOwn(review.tab)
  const [first] = hunks()
  if (first) to(first)
  else review.root.querySelector('.nothing')?.focus()
  lettersAreKeys() // also after a click: the ring says so
}
