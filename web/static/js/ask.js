// Questions: permissions and an agent's questions to the user. They ignore keys
// and clicks for a moment after they appear, so that nobody answers what they
// have not read.

import { path, post } from './api.js'
import { announce } from './ops.js'
import { failed, toast } from './toast.js'

const inert = 400 // milliseconds
const seen = new WeakSet()
const told = new Set() // ids

const ready = (el) => 'ready' in el.dataset

function watch(root) {
  for (const el of [root, ...root.querySelectorAll('[data-ask]')]) {
    if (!el.matches('[data-ask]') || seen.has(el)) continue
    seen.add(el)
    setTimeout(() => { el.dataset.ready = '' }, inert)
  }
}

/** How the question with an id was answered, as its row says, if that has come. */
function verdict(id) {
  const words = document.querySelector(`#${CSS.escape(id)}[data-answered] b`)?.textContent.replace(/ by you$/, '')
  return words ? `: ${words[0].toLowerCase()}${words.slice(1)}` : ''
}

async function decide(el, body) {
  if (!ready(el) || el.ariaBusy === 'true') return
  el.ariaBusy = 'true'
  try {
    await post(path(`/permissions/${el.dataset.request}`), body)
    el.dataset.answeredHere = ''
  } catch (err) {
    if (err.status === 409) toast(`Already answered in another tab${verdict(el.id)}`, { how: 'ask' })
    else if (err.status === 410) toast('Too late: this question is closed', { how: 'ask' })
    else failed(err)
  } finally { el.ariaBusy = 'false' }
}

const reasonOf = (el) => el.querySelector('[name=reason]')

const decisions = {
  'allow-once': (el) => decide(el, { decision: 'allow', scope: 'once' }),
  'allow-session': (el) => decide(el, { decision: 'allow', scope: 'session' }),
  deny: (el) => decide(el, { decision: 'deny' }),
  'deny-reason': (el) => decide(el, { decision: 'deny', reason: reasonOf(el).value.trim() || undefined }),
}

async function answer(el, text, wasFreeform) {
  if (!ready(el) || !text.trim()) return
  try {
    await post(path(`/answers/${el.dataset.request}`), { answer: text, wasFreeform })
  } catch (err) { failed(err) }
}

const keys = { a: 'allow-once', s: 'allow-session' }

function keydown(e) {
  const el = e.target.closest?.('[data-ask=permission]')
  if (!el) return
  if (e.target.name === 'reason' && e.key === 'Enter') {
    e.preventDefault()
    decisions['deny-reason'](el)
  }
  if (e.target !== el || e.ctrlKey || e.metaKey || e.altKey) return
  if (el.querySelector(`[data-act=${keys[e.key]}]`)) decisions[keys[e.key]](el)
  if (e.key === 'd') {
    e.preventDefault()
    reasonOf(el).focus()
  }
}

/** The server has questions announced as they come; those that were missed come with a join. */
function tell(e) {
  for (const el of document.querySelectorAll('#turns [data-ask]')) {
    if (e.detail.join && !told.has(el.id)) announce(`${el.querySelector('h3').textContent}: ${el.dataset.what}`, 'alert')
    told.add(el.id)
  }
}

/** The first open question, for the bar over the composer. */
function pinned() {
  const bar = document.getElementById('pinned')
  const scroller = document.getElementById('scroll')
  if (!bar || !scroller) return
  const first = document.querySelector('#turns [data-ask]')
  const box = first?.getBoundingClientRect()
  const view = scroller.getBoundingClientRect()
  const out = box && (box.top > view.bottom - 120 || box.bottom < view.top + 40)
  bar.hidden = !out
  if (out) bar.querySelector('[data-what]').textContent = first.dataset.what
}

export function asking() {
  const turns = document.getElementById('turns')
  if (!turns) return
  watch(turns)
  new MutationObserver((changes) => {
    for (const c of changes) for (const n of c.addedNodes) if (n.nodeType === Node.ELEMENT_NODE) watch(n)
  }).observe(turns, { childList: true, subtree: true })
  document.addEventListener('click', (e) => {
    const el = e.target.closest?.('[data-ask]')
    if (el) {
      const act = e.target.closest('[data-act]')?.dataset.act
      if (decisions[act]) decisions[act](el)
      const choice = e.target.closest('[data-choice]')
      if (choice) answer(el, choice.dataset.choice || choice.textContent, false)
    }
    if (e.target.closest?.('[data-act=review]')) {
      const first = document.querySelector('#turns [data-ask]')
      first?.scrollIntoView({ block: 'center' })
      first?.focus({ preventScroll: true })
    }
  })
  document.addEventListener('submit', (e) => {
    const el = e.target.closest('[data-ask=input]')
    if (!el) return
    e.preventDefault()
    answer(el, e.target.querySelector('[name=answer]').value, true)
  })
  document.addEventListener('keydown', keydown)
  document.addEventListener('webchat:frame', pinned)
  document.addEventListener('webchat:frame', tell)
  document.getElementById('scroll')?.addEventListener('scroll', pinned, { passive: true })
  pinned()
}
