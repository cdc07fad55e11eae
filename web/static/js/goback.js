// The card of going back to before a prompt: it lists what that puts aside, writes and deletes, and
// what stays, before anything happens.

import { announce } from './announce.js'
import { path, post } from './api.js'
import { visit } from './base.js'
import { clone, plain, some } from './html.js'
import { beside, turnOn } from './radio.js'
import { failed } from './toast.js'

const turns = document.getElementById('turns')

/** The card, and what it is about. */
const card = {
  root: null,
  parts: null,
  at: '', // the id of the turn: a frame may bring another element for it
  mode: 'both',
  kept: '', // the mode that was chosen, while files cannot be listed
  also: [],
  listed: null,
  asked: 0,
  busy: false,
  ran: false, // a turn ran when it was listed
  look: null, // the module that shows on the Desk what would be written, once it was asked for
  get turn() { return document.getElementById(this.at) },
}

/** The prompts that can be gone back to, in their order. */
const points = () => [...turns.querySelectorAll('.turn[data-message]:not([data-look], [data-left], [data-state=queued])')]

const after = () => points().slice(points().indexOf(card.turn))

const runs = () => Boolean(turns.querySelector('.turn[data-state=running]'))

function close() {
  card.root?.remove()
  card.root = null
  card.look?.closeBack()
  card.look = null
  for (const el of turns.querySelectorAll('[data-going-back]')) delete el.dataset.goingBack
}

function row(term, what, how = '') {
  const dt = document.createElement('dt')
  const dd = document.createElement('dd')
  dt.textContent = term
  dt.className = how
  dd.append(...what)
  card.parts.rows.append(dt, dd)
}

const code = (text) => Object.assign(document.createElement('code'), { textContent: plain(text) })

/** Names, the first ones, each with what makes of it. */
function names(list, make = (x) => [code(x)]) {
  const shown = list.slice(0, 6).flatMap((x, i) => [i ? '; ' : '', ...make(x)])
  return list.length > 6 ? [...shown, `; and ${some(list.length - 6, 'more')}`.replace(/ mores?$/, ' more')] : shown
}

const whys = { changed: 'changed since by somebody else', older: 'was there before', busy: 'git is writing', packed: 'left to git', ignored: 'ignored by git' }

/** A file that stays, with the button that has it written back, too. */
function stays({ path: name, why }) {
  const words = [code(name), `, ${whys[why] ?? why}`]
  if (why !== 'changed' || name.startsWith('.git')) return words
  const b = Object.assign(document.createElement('button'), { type: 'button', className: 'link', textContent: 'Write it back too' })
  b.addEventListener('click', () => { card.also.push(name); list() })
  return [...words, ' ', b]
}

const clock = (at) => (at ? ` at ${new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}` : '')

/** Draws what was listed. */
function draw() {
  const { parts, mode, listed } = card
  const time = card.turn.querySelector('time.when')?.textContent.split('·').at(-1).trim() ?? ''
  parts.to.textContent = time
  parts.rows.replaceChildren()
  if (mode !== 'files') {
    const gone = after()
    row('Put aside', [`${some(gone.filter((t) => t.dataset.message).length, 'prompt')}, ${some(gone.filter((t) => t.querySelector('.said')).length, 'answer')}`])
  }
  const n = (listed?.written.length ?? 0) + (listed?.deleted.length ?? 0)
  if (mode !== 'conversation' && listed) {
    if (listed.written.length) row('Written back', [`${some(listed.written.length, 'file')}, as ${listed.written.length === 1 ? 'it was' : 'they were'} at ${time}: `, ...names(listed.written)])
    if (listed.deleted.length) row('Deleted', [`${some(listed.deleted.length, 'file')} made since: `, ...names(listed.deleted)])
    if (!n) row('Files', ['none is different'])
    if (listed.kept.length) row('Stays', names(listed.kept, stays))
  }
  if (listed?.notUndone.length) row('Not undone', names(listed.notUndone, (x) => [code(x.what), clock(x.at)]), 'not')
  parts.see.hidden = mode === 'conversation' || !n
  parts.see.textContent = `See the ${some(n, 'file')}`
  const branches = mode !== 'files' && !('rewinds' in card.turn.dataset)
  parts.label.textContent = runs() ? 'Stop and go back' : branches ? 'Go back in a branch' : 'Go back'
  parts.after.textContent = branches ? 'This agent cannot forget: a new session goes on from there' : 'Ctrl Z brings it back'
  for (const t of turns.querySelectorAll('[data-going-back]')) delete t.dataset.goingBack
  for (const t of after()) t.dataset.goingBack = ''
}

const body = () => ({ messageId: card.turn.dataset.message, files: card.mode === 'files' ? 'only' : card.mode === 'both', also: card.also })

/** Asks what going back would do. Where no snapshot is, files stay, and the card says why. */
async function list() {
  const mine = ++card.asked
  const { parts } = card
  card.ran = runs()
  draw()
  card.look?.drawBack(card.turn.dataset.message, card.also).catch(failed)
  try {
    const listed = await post(path('/rewind?dry=true'), { ...body(), files: 'only' })
    if (mine !== card.asked || !card.root) return
    card.listed = listed
    if (card.kept) { // files could not be listed before
      card.mode = card.kept
      card.kept = ''
      turnOn(card.root.querySelector(`[data-with=${card.mode}]`))
    }
    for (const b of card.root.querySelectorAll('[role=radio]')) b.disabled = false
    parts.why.hidden = true
  } catch (err) {
    if (mine !== card.asked || !card.root) return
    card.listed = null
    card.kept ||= card.mode
    for (const b of card.root.querySelectorAll('[data-with=both], [data-with=files]')) b.disabled = true
    turnOn(card.root.querySelector('[data-with=conversation]'))
    card.mode = 'conversation'
    say(err.message)
  }
  draw()
}

function say(why) {
  card.parts.why.textContent = why
  card.parts.why.hidden = false
}

/** Stops the turn that runs and waits for its end. */
async function stopped() {
  if (!runs()) return
  const end = new Promise((resolve) => {
    const look = () => { if (!runs()) { document.removeEventListener('webchat:frame', look); resolve() } }
    document.addEventListener('webchat:frame', look)
  })
  await post(path('/abort'), {})
  await end
}

async function go() {
  if (card.busy) return
  card.busy = true
  try {
    await stopped()
    const branches = card.mode !== 'files' && !('rewinds' in card.turn.dataset)
    if (!branches) await post(path('/rewind'), body())
    else if (card.mode === 'both') await post(path('/rewind'), { ...body(), files: 'only' })
    const made = branches ? await post(path('/branch'), { messageId: card.turn.dataset.message }) : null
    close()
    if (made) return visit(`/sessions/${made.id}`)
    announce('Went back. Ctrl Z brings it back')
    document.getElementById('prompt')?.focus()
  } catch (err) {
    if (card.root) say(err.message)
    else failed(err)
  } finally {
    card.busy = false
  }
}

/** Moves the point by a turn. */
function move(by) {
  const all = points()
  const next = all[all.indexOf(card.turn) + by]
  if (!next) return
  card.at = next.id
  card.also = []
  card.listed = null
  next.scrollIntoView({ block: 'nearest' })
  list()
}

function choose(b) {
  if (b.disabled) return
  turnOn(b)
  card.mode = b.dataset.with
  card.kept &&= b.dataset.with
  draw()
}

function key(e) {
  if (e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return
  const radio = e.target.matches('[role=radio]') && ['ArrowLeft', 'ArrowRight'].includes(e.key) && beside(e.target, e.key)
  if (radio) { radio.focus(); choose(radio) }
  else if (e.key === 'ArrowUp') move(-1)
  else if (e.key === 'ArrowDown') move(1)
  else if (e.key === 'Escape') { close(); document.getElementById('prompt')?.focus() }
  else if (e.key === 'Enter' && !e.target.closest('button:not([data-part=go])')) go()
  else return
  e.preventDefault()
  e.stopPropagation()
}

/** Shows on the Desk what would be written. The card keeps the focus, and its keys. */
async function see() {
  card.look = await import('./review.js')
  await card.look.openBack(card.turn.dataset.message, card.also)
  card.root?.focus()
}

/** What a turn changes is known in full at its end. */
document.addEventListener('webchat:frame', () => {
  if (card.root && !card.busy && card.ran !== runs()) list()
})

/** Opens the card for the prompt that a button belongs to. */
export function openBack(b) {
  close()
  const { root, parts } = clone('tpl-back')
  Object.assign(card, { root, parts, at: b.closest('.turn').id, mode: 'both', kept: '', also: [], listed: null })
  root.addEventListener('keydown', key)
  root.addEventListener('click', (e) => {
    const hit = e.target.closest('button')
    if (hit?.dataset.with) choose(hit)
  })
  parts.close.addEventListener('click', close)
  parts.go.addEventListener('click', go)
  parts.see.addEventListener('click', () => see().catch(failed))
  document.querySelector('.dock-in').prepend(root)
  root.focus()
  list()
}
