// Answers to questions: permissions and an agent's questions to the user. When one
// may be answered decides ready.js.

import { patch, path, post } from './api.js'
import { announce } from './announce.js'
import { holdKeys } from './hold.js'
import { beside, turnOn } from './radio.js'
import { answered, look, next } from './held.js'
import { answerTo, moves, tick, turn } from './hosts.js'
import { attend, bare, hold, holdAll, inWords, members, off, read, ready, readyForKeys, readying } from './ready.js'
import { failed, toast } from './toast.js'
import { typing } from './typing.js'

const seen = new WeakSet()
const told = new Set() // requests
const list = () => document.getElementById('asks') // a join may put another one there
const apart = new Set() // the grants whose questions are answered one by one
const denying = new WeakMap() // question → the timer that denies it

/** Looks after what is new; what a group stands for has no card of its own until the group is opened. */
function watch() {
  const dock = document.getElementById('dock-asks')
  const grouped = new Set()
  for (const group of dock.querySelectorAll('[data-alike]')) {
    if (apart.has(group.dataset.by)) group.dataset.open = ''
    tick(group)
    group.querySelector('[data-act=apart]')?.setAttribute('aria-expanded', String('open' in group.dataset))
    if (!('open' in group.dataset)) members(group).forEach((el) => grouped.add(el))
  }
  for (const el of dock.querySelectorAll('[data-ask], [data-alike]')) {
    if (el.dataset.ask) el.closest('li').hidden = grouped.has(el)
    if (seen.has(el)) continue
    seen.add(el)
    attend(el)
  }
  const single = [...list().children].filter((li) => !li.hidden).length
  dock.dataset.many = String(single > 1)
  dock.querySelector('#asks-head').classList.toggle('vh', single < 2)
}

/** How a question was answered, as its row says, if that has come. */
function verdict(el) {
  const words = document.getElementById(el.dataset.row)?.dataset.answered
  return words ? `: ${words}` : ''
}

/** Sends the answer to a question. It stays busy until it is taken away, unless it has to be answered again. */
function send(el, body) {
  if (el.ariaBusy === 'true') return
  el.ariaBusy = 'true'
  const sent = deliver(el, body)
  if (el.contains(document.activeElement)) holdKeys(sent.then(() => gone(el))) // keys are for what gets the focus then
}

/** Is over when a question has gone, and something else has the focus; or when it has to be answered again. */
function gone(el) {
  return new Promise((done) => {
    const look = () => (el.ariaBusy === 'true' && (el.isConnected || document.activeElement === document.body) ? setTimeout(look, 20) : done())
    look()
  })
}

async function deliver(el, body) {
  try {
    await post(path(`/permissions/${el.dataset.request}`), body)
    if (el.dataset.held) answered(el, body)
  } catch (err) {
    if (err.status === 409) toast(`Already answered${verdict(el)}`, { how: 'ask' })
    else if (err.status === 410) toast('This question is closed. Nothing was done', { how: 'ask' })
    else {
      el.ariaBusy = 'false'
      failed(err)
    }
  }
}

/** Leads to what has to be read to its end first: of a question, or of what stands for it. */
function unread(el, shown) {
  if (el.dataset.held) return look(el)
  const text = shown.querySelector('.alike ul[tabindex]') ?? el.querySelector('[data-whole]')
  text.scrollIntoView({ block: 'nearest' })
  text.focus()
  announce('Scroll to the end of it first')
}

/** Sends one answer to each of some questions, once what shows them may be answered. A grant answers all it covers by itself. */
function decide(els, body, shown = els[0]) {
  if (!els.length || !ready(shown)) return
  const missed = body.decision === 'allow' && els.find((el) => !read(el))
  if (missed) return unread(missed, shown)
  for (const el of els) send(el, body)
}

const reasonOf = (el) => el.querySelector('[name=reason]')
const chosen = (el, what) => el.querySelector(`[role=radio][aria-checked=true][data-${what}]`)?.dataset[what]

const acts = {
  'allow-once': (el) => decide([el], { decision: 'allow', scope: 'once' }),
  grant: (el) => decide([el], { decision: 'allow', grant: chosen(el, 'grant'), scope: chosen(el, 'only') ?? chosen(el, 'scope') }),
  deny: (el) => acts['deny-reason'](el),
  why: (el) => explain(el),
  'deny-reason'(el) {
    const reason = reasonOf(el)?.value.trim()
    if (reason && !off()) send(el, { decision: 'deny', reason }) // whoever gives one has read the question
    else decide([el], { decision: 'deny' })
  },
  look,
  raise: (el, { dataset: { tokens, money } }) => ready(el) && patch(path(), { budget: Number(tokens) ? { tokens: Number(tokens) } : { money: Number(money) } }).catch(failed),
  'open-change': (el) => el.dispatchEvent(new CustomEvent('webchat:open', { bubbles: true, detail: { target: el.dataset.request } })),
  ways: (el) => more(el, true),
  less: (el) => more(el, false),
  details(el, b) {
    b.setAttribute('aria-expanded', String(el.toggleAttribute('data-open')))
    holdAll()
  },
}

const bulk = {
  'allow-all': (group) => decide(members(group), { decision: 'allow', scope: 'once' }, group),
  'deny-all': (group) => decide(members(group), { decision: 'deny' }, group),
  tick: (_, box) => turn(box),
  'open-hosts'(group, { dataset: { scope } }) {
    if (!ready(group) || bare(group)) return
    const missed = members(group).find((el) => !read(el))
    if (missed) return group.querySelector(`[data-of="${CSS.escape(missed.dataset.request)}"]`).scrollIntoView({ block: 'nearest' })
    for (const el of members(group)) send(el, answerTo(el.dataset.request, scope))
  },
  'look-next': (group) => next(members(group)),
  'look-at': (group, b) => next(members(group).filter((el) => el.dataset.request === b.dataset.look)),
  apart(group) {
    if ('open' in group.dataset) apart.delete(group.dataset.by)
    else apart.add(group.dataset.by)
    delete group.dataset.open
    watch()
    holdAll()
  },
}

/** Opens what else may be allowed, or closes it; none of it can be pressed at once. */
function more(el, open) {
  el.toggleAttribute('data-grants', open)
  el.querySelector('.grants').hidden = !open
  el.querySelector('[data-act=ways]').setAttribute('aria-expanded', String(open))
  hold(el)
  el.focus({ preventScroll: true })
  if (open) el.querySelector('.perm-do').scrollIntoView({ block: 'nearest' })
}

/** Leads to the reason for a refusal. */
function explain(el) {
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
  if (el.isConnected) decide([el], { decision: 'deny' })
  if (key) holdKeys(Promise.resolve(), key)
}

async function answer(el, text, wasFreeform) {
  if (!ready(el) || !text.trim()) return
  try {
    await post(path(`/answers/${el.dataset.request}`), { answer: text, wasFreeform })
  } catch (err) { failed(err) }
}

const forHosts = (el, scope) => el.querySelector(`[data-act=open-hosts][data-scope=${scope}]`)

const keys = {
  a: (el) => (forHosts(el, 'once') ? forHosts(el, 'once').click() : el.dataset.alike ? bulk['allow-all'](el) : acts['allow-once'](el)),
  f: (el) => forHosts(el, 'workspace')?.click(),
  s: (el) => (forHosts(el, 'session') ? forHosts(el, 'session').click() : 'grants' in el.dataset ? acts.grant(el) : el.querySelector('[data-act=ways], [data-act=raise]')?.click()),
  d: (el) => (el.dataset.alike ? bulk['deny-all'](el) : el.dataset.held || 'budget' in el.dataset ? acts['deny-reason'](el) : deny(el)),
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
  } else if (e.target.matches('[data-whole], .alike ul') && Object.hasOwn(ends, e.key)) e.target.scrollTo({ top: ends[e.key](e.target), behavior: 'instant' })
  else if (e.key === 'Escape' && 'grants' in el.dataset) more(el, false)
  else return false
  return true
}

function keydown(e) {
  const el = e.target.closest?.('[data-ask=permission], [data-alike]')
  if (!el || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return
  if (typing(e.target)) {
    if (e.key !== 'Enter' && e.key !== 'Escape') return
    e.preventDefault()
    return e.key === 'Enter' ? acts['deny-reason'](el) : el.focus()
  }
  if (moved(el, e) || moves(el, e)) return e.preventDefault()
  if (e.target === el && e.key === 'Enter' && el.dataset.alike) {
    e.preventDefault()
    return el.querySelector('[data-act=apart]')?.click()
  }
  if (denying.has(el) && e.key.length === 1 && e.key !== 'd') return denied(el, e)
  if (!Object.hasOwn(keys, e.key)) return
  e.preventDefault()
  if (readyForKeys(el)) keys[e.key](el)
}

function click(e) {
  const b = e.target.closest?.('[data-act], [data-choice], [role=radio]')
  const of = b?.closest('[data-ask], [data-alike]')
  if (!of) return
  if (b.matches('[role=radio]')) return turnOn(b)
  const mine = of.dataset.alike ? bulk : acts
  if (Object.hasOwn(mine, b.dataset.act ?? '')) mine[b.dataset.act](of, b)
  else if (b.dataset.choice !== undefined) answer(of, b.dataset.choice || b.textContent, false)
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
    if (!changes.some(({ target }) => ['asks', 'asks-alike', 'dock-asks', 'dock'].includes(target.id))) return
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
