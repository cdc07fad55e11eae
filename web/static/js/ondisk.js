// Files on the Desk follow the disk: while this page is seen, one question waits at the server for what
// becomes of those that are open, which it answers without reading them. What somebody else changed is
// read when the reader asks to see it; what this session's agent changed, at once.

import { announce } from './announce.js'
import { getJSON, path, session } from './api.js'
import { display } from './display.js'
import { expect } from './inplace.js'
import { paneOf, refresh, reread } from './pane.js'
import { beside, front, open, tabOf } from './tabs.js'
import { failed } from './toast.js'

const pause = 2000 // milliseconds after a question that failed
const often = 500 // milliseconds between two times that a file is drawn anew
const rest = 10 // and as many times what drawing it took: a large file takes no more than a share of a processor
const most = 100 // files that are compared at once
let off = false // the server does not answer
let over = new AbortController() // of the question that waits
let stir = () => {} // ends a pause
let last = { of: '', seen: '' } // the outputs asked about last, and what stands for the answer

const follows = (tab) => tab.state === 'done' && tab.kind !== 'terminal' && !tab.look && !tab.call && !tab.secret

const followed = () => (session() && !document.hidden && !off ? open().filter(follows).slice(-most) : [])

const query = (tabs) => tabs.map((tab) => `output=${encodeURIComponent(tab.out)}`).join('&')

/** Says in the foot of a pane what became of its file. */
function paint(pane) {
  const tab = tabOf(pane?.dataset.key)
  if (!tab) return
  for (const el of pane.querySelectorAll('[data-disk]')) el.hidden = el.dataset.disk !== tab.disk
  for (const how of ['polled', 'often']) {
    const words = pane.querySelector(`.dfoot [data-${how}]`)
    if (words) words.hidden = !tab[how] || Boolean(tab.disk)
  }
}

async function compare(tabs) {
  const of = query(tabs)
  const asked = new Map(tabs.map((tab) => [tab, tab.out]))
  const seen = last.of === of ? `&seen=${last.seen}` : ''
  const reply = await getJSON(path(`/disk?${of}${seen}`), { signal: over.signal })
  last = { of, seen: reply.seen }
  let moved = false
  for (const [tab, out] of asked) {
    if (tab.out !== out) continue
    tab.polled = reply.polled.includes(out)
    const now = reply.agent.includes(out) ? '' : reply.changed.includes(out) ? 'changed' : reply.gone.includes(out) ? 'gone' : ''
    if ((tab.disk ?? '') !== now) {
      tab.disk = now
      moved = true
      if (now) announce(`${tab.base} ${now === 'gone' ? 'is no longer on disk' : 'changed on disk'}`)
    }
    paint(paneOf(tab.key))
    if (reply.agent.includes(out)) await change(tab)
  }
  if (moved) document.dispatchEvent(new Event('webchat:tabs'))
}

/** Draws a file that this session's agent changed, where one reads it. */
async function change(tab) {
  const pane = paneOf(tab.key)
  const before = tab.out
  const early = (tab.due ?? 0) - Date.now()
  tab.often = early > 0
  paint(pane)
  if (early > 0) await new Promise((done) => { setTimeout(done, early) })
  if (tab.out !== before) return
  const begun = Date.now()
  if (await readAgain(tab, pane)) {
    tab.disk = 'changed' // it may hold secrets, or cannot be read: the reader decides
    return paint(pane)
  }
  announce(`${tab.base} changed by the agent`)
  if (tab !== front() && tab !== beside()) tab.news = true
  await refresh(tab)
  const pause = Math.max(often, rest * (Date.now() - begun))
  tab.due = Date.now() + pause
  setTimeout(() => {
    if (Date.now() < tab.due) return // it has changed again
    tab.often = false
    paint(paneOf(tab.key))
  }, pause + often)
}

/** Reads a file again, and learns what changed before its pane is drawn; why it could not, if it could not. */
async function readAgain(tab, pane) {
  tab.expects = true // what the stream says of the new output waits for this
  try {
    const failure = await reread(tab, tab.out)
    if (!failure && pane) await expect(pane, tab.out)
    return failure
  } finally {
    tab.expects = false
  }
}

async function follow() {
  for (;;) {
    const tabs = followed()
    let wait = tabs.length ? 0 : Infinity
    try {
      if (tabs.length) await compare(tabs)
    } catch (err) {
      if ([401, 403, 404].includes(err.status)) return // the session is gone, or the reader signed out
      if (err.name !== 'AbortError') wait = pause
    }
    if (!wait) continue
    await new Promise((done) => {
      stir = done
      if (wait < Infinity) setTimeout(done, wait)
    })
  }
}

/** Asks anew if other files are to be followed than the question that waits is about. */
function ask() {
  const tabs = followed()
  if (query(tabs) === last.of && tabs.length) return
  over.abort()
  over = new AbortController()
  stir()
}

/** Shows a file as it is now, at the place one reads. One that may hold secrets is asked about first. */
async function see(pane) {
  const tab = tabOf(pane.dataset.key)
  if (await readAgain(tab, pane)) return display({ tool: pane.dataset.tool, arguments: JSON.parse(pane.dataset.args) })
  tab.disk = ''
  document.dispatchEvent(new Event('webchat:tabs'))
  const drawn = await refresh(tab)
  drawn?.querySelector('.code, .pic, .nothing')?.focus({ preventScroll: true })
}

export function following() {
  document.addEventListener('webchat:state', (e) => {
    off = e.detail.state === 'off'
    ask()
  })
  document.addEventListener('visibilitychange', ask)
  document.addEventListener('webchat:pane', (e) => {
    paint(e.target)
    ask()
  })
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('.pane [data-act=see-disk]')
    if (button) see(button.closest('[data-pane]')).catch(failed)
  })
  follow()
}
