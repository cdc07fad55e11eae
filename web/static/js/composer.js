// The field where prompts and commands are typed.

import { ability } from './abilities.js'
import { folder, newID, passing, patch, path, post, session } from './api.js'
import { visit } from './base.js'
import { add, attach, collect, hasAttachments, moveTo, restore } from './attach.js'
import { parse } from './commands.js'
import { suggest } from './complete.js'
import { pick, use } from './picker.js'
import { servers } from './servers.js'
import { isLive } from './connection.js'
import { consent } from './consent.js'
import { display, displayNext } from './display.js'
import { draft, recaller, remember } from './drafts.js'
import { holdKeys } from './hold.js'
import { beginLooks, looksIn, prompted } from './looks.js'
import { mentioned, settle } from './mentions.js'
import * as menu from './menu.js'
import { unfit, wish } from './owntree.js'
import { another, meantLook, recognise } from './recognise.js'
import { toEnd } from './scroll.js'
import { saveSession } from './save.js'
import { tools } from './tables.js'
import { failed, toast } from './toast.js'

const composer = document.getElementById('composer')
const field = document.getElementById('prompt')
const recall = recaller()
/** What is being written and sent. */
const writing = {
  mode: 'queue',
  sending: null, // what is under way
  fresh: false, // this page made its session and is about to go there
  lent: false, // it is one of looks, which a prompt does not go into
  waiting: null, // for the connection: how to send what stands in the field
  returns: 0, // of the connection
  making: null,
}
const placeholder = field?.placeholder

const running = () => composer.dataset.status && composer.dataset.status !== 'idle'

function grow() {
  if (!CSS.supports('field-sizing', 'content')) { // elsewhere the style sheet lets it grow, whatever changes its width
    field.style.height = 'auto'
    field.style.height = `${field.scrollHeight}px`
  }
  const empty = !field.value.trim() && !hasAttachments()
  composer.toggleAttribute('data-empty', empty)
  const send = composer.querySelector('[data-act=send]')
  if (send) send.disabled = empty
  mentioned()
  recognise(hasAttachments() ? '' : field.value)
}

export function fill(text) {
  menu.close()
  field.value = text
  field.focus()
  field.setSelectionRange(text.length, text.length)
  grow()
  draft.save(text)
}

/**
 * A page without a session makes one with its first prompt, and goes to its page once that is sent. Looks have one
 * session, which the first of them makes.
 */
export async function ensure({ looks = false } = {}) {
  if (!session() || (writing.lent && !looks)) await (writing.making ??= make(looks).finally(() => { writing.making = null }))
}

async function make(looks) {
  const { backend, model } = composer.dataset
  const known = looks && looksIn(composer.dataset)
  const id = known || (await post('/api/sessions', { workspace: folder() || undefined, backend: backend || undefined, model: model || undefined, ...(looks ? {} : wish()) })
    .catch((err) => { throw Object.assign(err, { making: true }) })).id
  if (looks && !known) beginLooks(id, composer.dataset)
  draft.save('') // from here on it is the new session's
  moveTo(() => { document.body.dataset.session = id })
  Object.assign(writing, { fresh: true, lent: Boolean(known) })
  keep()
}

/** Keeps what stands in the field; behind what stands there already, in the session of looks. */
function keep() {
  if (!writing.lent) draft.save(field.value)
}

async function act(name, rest) {
  if (name === '/model' && !session()) return use(composer, composer.dataset.backend, rest)
  if (name === '/help') return document.getElementById('keys')?.showModal()
  if (name === '/permissions' || name === '/hooks') return consent(name.slice(1))
  if (name === '/mcp') return servers(field)
  if (name === '/find') return document.dispatchEvent(new CustomEvent('webchat:grep', { detail: rest }))
  if (!session()) throw new Error(`${name} needs a session: send a prompt first`)
  if (name === '/stop') return post(path('/abort'))
  if (name === '/title') return patch(path(), { title: rest })
  if (name === '/model') return patch(path(), { model: rest })
  if (name === '/review') return holdKeys(import('./review.js').then((m) => m.openReview()))
  if (name === '/replay') return visit(`/sessions/${session()}/replay`)
  if (name === '/export') {
    if (!/^(md|html|jsonl)?$/.test(rest)) throw new Error('/export saves as md, html or jsonl')
    return saveSession(session(), rest || 'md')
  }
}

async function deliver(text, look, id, how) {
  const meant = parse(text)
  const does = meant.unknown || (session() && meant.act === '/mcp') ? await ability(meant.unknown ?? meant.act) : false
  if (does) return does(field, text.slice((meant.unknown ?? meant.act).length).trim())
  if (meant.unknown && does === false) {
    throw new Error(`${meant.unknown} is not a command.${meant.nearest ? ` Did you mean ${meant.nearest}?` : ''} Start with a space to send it as text`)
  }
  if (meant.missing) throw new Error(`${meant.missing.name} needs ${meant.missing.hint.toLowerCase()}: ${meant.missing.name} ${meant.missing.hint}`)
  if (meant.act) return act(meant.act, meant.rest)
  if (!meant.display) await settle()
  const wanted = meant.display ?? (look && { tool: look.tool, arguments: look.arguments })
  await ensure({ looks: Boolean(wanted) })
  await (wanted ? show(wanted) : prompt(meant.prompt ?? text.trim(), id, how))
}

/** Shows something for the user, in a session that is made for it if there is none; then its page opens. */
export async function look(wanted, place) {
  await ensure({ looks: true })
  const shown = await show(wanted, place)
  if (writing.fresh) visit(`/sessions/${session()}`)
  return shown
}

/** What could not be shown has a card that says so. A command may run for long, and nothing waits for it here. */
async function show(wanted, place) {
  if (writing.fresh) return displayNext(wanted) // its page opens at once
  const answer = display(wanted, place).catch((err) => { if (err.status !== 422 || err.notKept) throw err })
  if (!tools.get(wanted.tool).acts) return answer
  const refused = await Promise.race([answer.then(() => null, (err) => err), new Promise((done) => setTimeout(done, 300))])
  if (refused) throw refused
  answer.catch(failed)
}

/** Sends a prompt. Where the reply was lost, or another server is about to have the session, it is sent again under the same id. */
async function prompt(content, messageId, how = writing.mode) {
  const { attachments, clear } = await collect()
  const body = { content, messageId, mode: running() ? how : undefined }
  if (attachments.length) body.attachments = attachments
  for (let left = 4; ; left--) {
    try {
      await post(path('/messages'), body)
      prompted(session())
      break
    } catch (err) {
      if (err.status !== 0 && !passing(err)) throw err
      err.unsent = true
      if (!left || (err.status === 0 && left < 4)) throw err
      if (err.status !== 0) await new Promise((done) => setTimeout(done, 700))
    }
  }
  clear()
}

async function send(asked = false, id = newID(), how = writing.mode) {
  const text = field.value
  writing.waiting = null
  if (writing.sending || (!text.trim() && !hasAttachments())) return
  menu.close()
  if (!isLive() && !navigator.onLine) return later(asked, id, how)
  document.dispatchEvent(new Event('webchat:sending'))
  const before = writing.returns
  await (writing.sending = sendNow(text, asked, id, how))
  if (writing.returns > before) sendWaiting()
}

async function sendNow(text, asked, id, how) {
  composer.ariaBusy = 'true'
  try {
    const look = hasAttachments() ? null : await meantLook(text, asked)
    if (look === undefined) return
    if (await deliver(text, look, id, how) === 'stays') return
    sent(text)
    if (writing.fresh) visit(`/sessions/${session()}`)
  } catch (err) {
    if ((err.status === 0 || (err.unsent && !isLive())) && field.value === text) later(asked, id, how)
    else if (!unfit(err)) failed(err)
  } finally {
    writing.sending = null
    composer.ariaBusy = 'false'
  }
}

/** Takes what was sent out of the field. What was typed behind it meanwhile stays; what was changed stays whole. */
function sent(text) {
  if (text.trim()) remember(text)
  if (field.value.startsWith(text)) field.value = field.value.slice(text.length).trimStart()
  if (!writing.lent) draft.save(field.value)
  else if (field.value) draft.save(`${draft.load()}${field.value}`) // behind what stands there
  recall.stop()
  grow()
  toEnd()
}

/** Without a connection what is written waits in its field, and goes when it is back unless it was changed. */
function later(asked, id, how) {
  writing.waiting = { asked, id, how }
  toast('Offline: your prompt is saved and will be sent when the connection returns', { how: 'ask' })
}

function connected(e) {
  const live = e.detail.state === 'live'
  field.placeholder = live ? placeholder : field.dataset.offline
  if (!live) return
  writing.returns++
  sendWaiting()
}

function sendWaiting() {
  if (writing.waiting) send(writing.waiting.asked, writing.waiting.id, writing.waiting.how)
}

function keydown(e) {
  if (menu.key(e)) return
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
    if (writing.sending) return holdKeys(writing.sending, e) // it is for what is typed behind that
    e.preventDefault()
    send(e.altKey, undefined, e.ctrlKey || e.metaKey ? 'steer' : writing.mode) // steering is sending at once
  } else if ((e.key === 'ArrowUp' && (!field.value || recall.active)) || (e.key === 'ArrowDown' && recall.active)) {
    e.preventDefault()
    fill(recall.step(e.key === 'ArrowUp' ? -1 : 1))
  } else if (e.key === 'Tab' && !e.shiftKey && another()) e.preventDefault()
  else if (e.key === 'Escape') document.dispatchEvent(new Event('webchat:leave')) // letters are keys there
}

/** Stops what runs; whether anything does. */
export function stop() {
  if (running()) post(path('/abort')).catch(failed)
  return Boolean(running())
}

const acts = {
  send: () => send(),
  'other-way': () => send(true),
  stop: () => { stop(); if (!matchMedia('(pointer: coarse)').matches) field.focus() }, // its button goes, and a touch would open the keyboard
  attach: () => document.getElementById('attach').click(),
  at: () => { fill(`${field.value}${field.value && !field.value.endsWith(' ') ? ' ' : ''}@`); suggest(field) },
  slash: () => { if (!field.value) fill('/'); suggest(field) },
  pick: () => pick(field, composer),
}

export const pickModel = acts.pick
export const stopAndStay = acts.stop

export function compose() {
  if (!composer) return
  const typed = field.value // before this came
  field.value = draft.load() + typed
  if (typed) draft.save(field.value)
  restore()
  grow()
  draft.gone((text) => { if (field.value === text) { field.value = ''; grow() } }) // else it would be sent twice
  field.addEventListener('input', () => { writing.waiting = null; recall.stop(); grow(); keep(); suggest(field) })
  field.addEventListener('keydown', keydown)
  field.addEventListener('blur', () => menu.close())
  composer.addEventListener('submit', (e) => { e.preventDefault(); send() })
  composer.addEventListener('change', grow)
  composer.addEventListener('click', (e) => {
    const button = e.target.closest('[data-act], [data-mode]')
    if (!button || button.disabled) return
    if (button.dataset.mode) {
      writing.mode = button.dataset.mode
      for (const b of composer.querySelectorAll('[data-mode]')) b.setAttribute('aria-pressed', String(b === button))
    } else if (acts[button.dataset.act]) {
      e.preventDefault()
      acts[button.dataset.act]()
    }
  })
  attach(composer, field)
  document.addEventListener('webchat:state', connected)
  document.addEventListener('webchat:attach', (e) => { e.detail.remove = add(e.detail.label, e.detail.attachment, e.detail) })
}
