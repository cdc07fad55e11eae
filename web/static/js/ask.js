// Answers to questions: permissions and an agent's questions to the user. When one
// may be answered decides ready.js.

import { path, post } from './api.js'
import { announce } from './announce.js'
import { attend, hold, holdAll, members, read, ready, readyForKeys, readying } from './ready.js'
import { failed, toast } from './toast.js'
import { pointed } from './typing.js'

const seen = new WeakSet()
const told = new Set() // requests
const list = () => document.getElementById('asks') // a join may put another one there
let held = null // the question that has the focus

function watch() {
  for (const el of list().querySelectorAll('[data-ask]')) {
    if (seen.has(el)) continue
    seen.add(el)
    attend(el)
  }
}

/** How a question was answered, as its row says, if that has come. */
function verdict(el) {
  const words = document.getElementById(el.dataset.row)?.dataset.answered
  return words ? `: ${words}` : ''
}

/** Sends the answer to a question. It stays busy until it is taken away, unless it has to be answered again. */
async function send(el, body) {
  if (el.ariaBusy === 'true') return
  el.ariaBusy = 'true'
  try {
    await post(path(`/permissions/${el.dataset.request}`), body)
  } catch (err) {
    if (err.status === 409) toast(`Already answered${verdict(el)}`, { how: 'ask' })
    else if (err.status === 410) toast('This question is closed. Nothing was done', { how: 'ask' })
    else {
      el.ariaBusy = 'false'
      failed(err)
    }
  }
}

/** Leads to the end of what has to be read first. */
function unread(el) {
  const text = el.querySelector('[data-whole]')
  text.scrollIntoView({ block: 'nearest' })
  text.focus()
  announce('Scroll to the end of it first')
}

/** Sends one answer to each of some questions, once all of them may be answered. A grant answers all it covers by itself. */
function decide(els, body) {
  if (!els.length || !els.every(ready)) return
  const missed = body.decision === 'allow' && els.find((el) => !read(el))
  if (missed) return unread(missed)
  for (const el of body.grant ? els.slice(0, 1) : els) send(el, body)
}

const grant = (b) => ({ decision: 'allow', grant: b.dataset.grant, scope: b.dataset.scope })
const reasonOf = (el) => el.querySelector('[name=reason]')

const acts = {
  'allow-once': (el) => decide([el], { decision: 'allow', scope: 'once' }),
  grant: (el, b) => decide([el], grant(b)),
  deny: (el) => decide([el], { decision: 'deny' }),
  'deny-reason'(el) {
    const reason = reasonOf(el).value.trim()
    if (reason) send(el, { decision: 'deny', reason }) // whoever gives one has read the question
    else decide([el], { decision: 'deny' })
  },
  ways: (el, b) => ways(el, b),
  details(el, b) {
    b.setAttribute('aria-expanded', String(el.toggleAttribute('data-open')))
    holdAll()
  },
}

const bulk = {
  'allow-all': (group) => decide(members(group), { decision: 'allow', scope: 'once' }),
  grant: (group, b) => decide(members(group), grant(b)),
  'deny-all': (group) => decide(members(group), { decision: 'deny' }),
  ways: (group, b) => ways(group, b),
}

/** Opens what else may be allowed; none of it can be pressed at once. */
function ways(of, button) {
  const place = of.querySelector('.ways')
  place.hidden = !place.hidden
  button.setAttribute('aria-expanded', String(!place.hidden))
  if (place.hidden) return
  for (const el of of.dataset.alike ? members(of) : [of]) hold(el)
  place.querySelector('button').focus()
  place.scrollIntoView({ block: 'nearest' })
}

async function answer(el, text, wasFreeform) {
  if (!ready(el) || !text.trim()) return
  try {
    await post(path(`/answers/${el.dataset.request}`), { answer: text, wasFreeform })
  } catch (err) { failed(err) }
}

const keys = {
  a: (el) => acts['allow-once'](el),
  s: (el) => el.querySelector('[data-act=ways]')?.click(),
  d(el) {
    if (!reasonOf(el).checkVisibility()) el.querySelector('[data-act=details]').click()
    reasonOf(el).focus()
  },
}

// Leads to the ends of what has to be read, at once: a scroll that a busy browser animates may never begin.
const ends = { Home: () => 0, End: (text) => text.scrollHeight }

function keydown(e) {
  const el = e.target.closest?.('[data-ask=permission]')
  if (!el) return
  if (e.target.name === 'reason' && e.key === 'Enter') {
    e.preventDefault()
    return acts['deny-reason'](el)
  }
  if (e.target !== el && !e.target.matches('[data-whole]') || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return
  if (e.target !== el && Object.hasOwn(ends, e.key)) {
    e.preventDefault()
    e.target.scrollTo({ top: ends[e.key](e.target), behavior: 'instant' })
    return
  }
  if (!Object.hasOwn(keys, e.key)) return
  e.preventDefault()
  if (readyForKeys(el)) keys[e.key](el)
}

function click(e) {
  const b = e.target.closest?.('[data-act], [data-choice]')
  const of = b?.closest('[data-ask], [data-alike]')
  if (!of) return
  const mine = of.dataset.alike ? bulk : acts
  if (Object.hasOwn(mine, b.dataset.act ?? '')) mine[b.dataset.act](of, b)
  else if (b.dataset.choice !== undefined) answer(of, b.dataset.choice || b.textContent, false)
}

/** The focus of a question that is gone goes back to the composer; for who answers by keys to the next one. */
function refocus() {
  if (!held || held.isConnected || document.activeElement !== document.body) return
  held = null
  const next = list().querySelector('[data-ask]')
  if (next && !pointed()) next.focus()
  else if (!matchMedia('(pointer: coarse)').matches) document.getElementById('prompt').focus()
}

/** The server has questions announced as they come; those that were missed come with a join. */
function tell(e) {
  for (const el of list().querySelectorAll('[data-ask]')) {
    if (e.detail.join && !told.has(el.dataset.request)) announce(`${el.querySelector('h3').textContent}: ${el.dataset.what}`, 'alert')
    told.add(el.dataset.request)
  }
}

export function asking() {
  const dock = document.getElementById('dock')
  if (!dock) return
  readying()
  watch()
  new MutationObserver((changes) => {
    if (!changes.some(({ target }) => target.id === 'asks' || target === dock)) return
    watch()
    holdAll()
    refocus()
  }).observe(dock, { childList: true, subtree: true })
  dock.addEventListener('focusin', (e) => { held = e.target.closest('[data-ask], [data-alike]') })
  dock.addEventListener('click', click)
  dock.addEventListener('submit', (e) => {
    const el = e.target.closest('[data-ask=input]')
    if (!el) return
    e.preventDefault()
    answer(el, e.target.querySelector('[name=answer]').value, true)
  })
  document.addEventListener('keydown', keydown)
  document.addEventListener('webchat:frame', tell)
}
