// Answers to questions: permissions and an agent's questions to the user. When one
// may be answered decides ready.js.

import { lower } from './above.js'
import { patch, path, post } from './api.js'
import { announce } from './announce.js'
import { send } from './answering.js'
import { more } from './grants.js'
import { holdKeys } from './hold.js'
import { beside, turnOn } from './radio.js'
import { look } from './held.js'
import { attend, holdAll, inWords, members, off, read, ready, readyForKeys, readying, unsaw } from './ready.js'
import { failed } from './toast.js'
import { bulk, moves, note, tick } from './together.js'
import { typing } from './typing.js'

const seen = new WeakSet()
const told = new Set() // requests
const list = () => document.getElementById('asks') // a join may put another one there
const denying = new WeakMap() // question → the timer that denies it

/** Looks after what is new; what a list stands for has no card of its own. */
function watch() {
  const dock = document.getElementById('dock-asks')
  const grouped = new Set()
  note(dock.querySelectorAll('[data-request]'))
  for (const group of dock.querySelectorAll('[data-several]')) {
    tick(group)
    members(group).forEach((el) => grouped.add(el))
  }
  for (const el of dock.querySelectorAll('[data-ask], [data-several]')) {
    if (el.dataset.ask) {
      if (grouped.has(el) && !el.closest('li').hidden && !ready(el)) unsaw(el) // it was in sight for a moment only
      el.closest('li').hidden = grouped.has(el)
    }
    if (seen.has(el)) continue
    seen.add(el)
    lower()
    attend(el)
  }
}

/** Sends an answer to a question, once it may be answered. */
function decide(el, body) {
  if (!ready(el)) return
  if (body.decision !== 'allow' || read(el)) return send(el, body)
  if (el.dataset.held) return look(el)
  const text = el.querySelector('[data-whole]')
  text.scrollIntoView({ block: 'nearest' })
  text.focus()
  announce('Scroll to the end of it first')
}

const reasonOf = (el) => el.querySelector('[name=reason]')
const chosen = (el, what) => el.querySelector(`[role=radio][aria-checked=true][data-${what}]`)?.dataset[what]

const acts = {
  'allow-once': (el) => decide(el, { decision: 'allow', scope: 'once' }),
  grant: (el) => decide(el, { decision: 'allow', grant: chosen(el, 'grant'), scope: chosen(el, 'only') ?? chosen(el, 'scope') }),
  deny: (el) => acts['deny-reason'](el),
  why: (el) => explain(el),
  'deny-reason'(el) {
    const reason = reasonOf(el)?.value.trim()
    if (reason && !off()) send(el, { decision: 'deny', reason }) // a user who gives one has read the question
    else decide(el, { decision: 'deny' })
  },
  look,
  raise: (el, { dataset: { tokens, money } }) => ready(el) && patch(path(), { budget: Number(tokens) ? { tokens: Number(tokens) } : { money: Number(money) } }).catch(failed),
  'open-change'(el) {
    if ('grants' in el.dataset) more(el, false)
    el.dispatchEvent(new CustomEvent('webchat:open', { bubbles: true, detail: { target: el.dataset.request } }))
  },
  ways: (el) => more(el, true),
  less: (el) => more(el, false),
}

/** Leads to the reason for a refusal. */
function explain(el) {
  if ('grants' in el.dataset) more(el, false)
  el.dataset.why = ''
  reasonOf(el).focus()
}

const again = 600 // milliseconds in which a second D is for the reason

/** Denies in a moment, unless D comes again. */
function deny(el) {
  const words = el.querySelector('[data-act=deny] span')
  const timer = denying.get(el)
  clearTimeout(timer)
  denying.delete(el)
  words.textContent = 'Deny'
  if (reasonOf(el) && (timer || reasonOf(el).value.trim())) return explain(el)
  if (reasonOf(el)) words.textContent = 'Denying. D again: why'
  denying.set(el, setTimeout(() => denied(el), again))
}

/** Denies at once: no second D comes. A key that did come is for what follows. */
function denied(el, key) {
  clearTimeout(denying.get(el))
  denying.delete(el)
  el.querySelector('[data-act=deny] span').textContent = 'Deny'
  if (el.isConnected) decide(el, { decision: 'deny' })
  if (key) holdKeys(Promise.resolve(), key)
}

async function answer(el, text, wasFreeform) {
  if (!ready(el) || !text.trim()) return
  try {
    await post(path(`/answers/${el.dataset.request}`), { answer: text, wasFreeform })
  } catch (err) { failed(err) }
}

/** What the buttons of a question do. */
const of = (el) => (el.dataset.several ? bulk : acts)

const forHosts = (el, scope) => el.querySelector(`[data-act=open-hosts][data-scope=${scope}]`)

const keys = {
  a: (el) => (forHosts(el, 'once') ? forHosts(el, 'once').click() : el.dataset.several ? bulk['allow-ticked'](el) : acts['allow-once'](el)),
  f: (el) => forHosts(el, 'workspace')?.click(),
  s: (el) => (forHosts(el, 'session') ? forHosts(el, 'session').click() : 'grants' in el.dataset ? of(el).grant(el) : el.querySelector('[data-act=ways]:not(.on-phones), [data-act=raise]')?.click()),
  d: (el) => (el.dataset.several ? bulk['deny-all'](el) : el.dataset.held || 'budget' in el.dataset ? acts['deny-reason'](el) : deny(el)),
  l: (el) => el.querySelector('[data-act=look], [data-act=look-next]')?.click(),
}

// Leads to the ends of what has to be read, at once: a scroll that a busy browser animates may never begin.
const ends = { Home: () => 0, End: (text) => text.scrollHeight }

/** Keys that move within a question; true: it was one. */
function moved(el, e) {
  const radio = e.target.matches('[role=radio]') ? e.target : e.target === el && 'grants' in el.dataset && el.querySelector('[data-grant][aria-checked=true]')
  const to = radio && beside(radio, e.key)
  if (to) {
    turnOn(to)
    if (e.target !== el) to.focus()
    to.scrollIntoView({ block: 'nearest' })
  } else if (e.target.matches('[data-whole]') && Object.hasOwn(ends, e.key)) e.target.scrollTo({ top: ends[e.key](e.target), behavior: 'instant' })
  else if (e.key === 'Escape' && 'grants' in el.dataset) more(el, false)
  else return false
  return true
}

function keydown(e) {
  const el = e.target.closest?.('[data-ask=permission], [data-several]')
  if (!el || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return
  if (typing(e.target)) {
    if (e.key !== 'Enter' && e.key !== 'Escape') return
    e.preventDefault()
    return e.key === 'Enter' ? acts['deny-reason'](el) : el.focus()
  }
  if (moved(el, e) || moves(el, e)) return e.preventDefault()
  if (denying.has(el) && e.key.length === 1 && e.key !== 'd') return denied(el, e)
  if (!Object.hasOwn(keys, e.key)) return
  e.preventDefault()
  if (readyForKeys(el)) keys[e.key](el)
}

function click(e) {
  const b = e.target.closest?.('[data-act], [data-choice], [role=radio]')
  const el = b?.closest('[data-ask], [data-several]')
  if (!el) return
  if (b.matches('[role=radio]')) return turnOn(b)
  if (Object.hasOwn(of(el), b.dataset.act ?? '')) of(el)[b.dataset.act](el, b)
  else if (b.dataset.choice !== undefined) answer(el, b.dataset.choice || b.textContent, false)
}

/** The server has questions announced as they come; those that were missed come with a join. */
function tell(e) {
  for (const el of list().querySelectorAll('[data-ask]')) {
    if (told.has(el.dataset.request)) continue
    told.add(el.dataset.request)
    if (e.detail.join) announce(inWords(el), 'alert')
    else if (matchMedia('(pointer: coarse)').matches) navigator.vibrate?.(60)
  }
}

export function asking() {
  const dock = document.getElementById('dock')
  if (!dock) return
  readying()
  watch()
  new MutationObserver((changes) => {
    if (!changes.some(({ target }) => ['asks', 'asks-groups', 'dock-asks', 'dock'].includes(target.id))) return
    watch()
    holdAll()
  }).observe(dock, { childList: true, subtree: true })
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
