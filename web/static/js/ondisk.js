// Files on the Desk follow the disk: the session's stream has which of those that it shows are no longer
// as they were read. What somebody else changed is read when the reader asks to see it; what this
// session's agent changed, at once, in a page that is seen.

import { announce } from './announce.js'
import { display } from './display.js'
import { expect, toFresh, unseen } from './inplace.js'
import { paneOf, refresh, reread } from './pane.js'
import { beside, front, open, tabOf } from './tabs.js'
import { failed, toast } from './toast.js'
import { viewerOf } from './viewer.js'

const often = 500 // milliseconds between two times that a file is drawn anew
const rest = 10 // and as many times what drawing it took: a large file takes no more than a share of a processor
/** What is known of the disk. */
const fromDisk = {
  news: {}, // the latest of the stream: ids of outputs
  busy: false, // it is taken in at the moment
  stale: false, // and has changed since
}

const follows = (tab) => tab.state === 'done' && tab.kind !== 'terminal' && !tab.look && !tab.call && !tab.secret

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

/** Takes in what is known of the disk, for the files that are open. */
async function compare() {
  const { changed = [], agent = [], gone = [], polled = [] } = fromDisk.news
  let moved = false
  for (const tab of open().filter(follows)) {
    const { out } = tab
    tab.polled = polled.includes(out)
    const draws = agent.includes(out) && tab.undrawn !== out
    const now = draws ? '' : changed.includes(out) ? 'changed' : gone.includes(out) ? 'gone' : ''
    if ((tab.disk ?? '') !== now) {
      tab.disk = now
      moved = true
      if (now) announce(`${tab.base} ${now === 'gone' ? 'is no longer on disk' : 'changed on disk'}`)
    }
    paint(paneOf(tab.key))
    if (draws) await change(tab)
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
    tab.undrawn = before
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

/** Takes in the latest news once what is under way is done. */
async function follow() {
  fromDisk.stale = true
  if (fromDisk.busy || document.hidden) return
  fromDisk.busy = true
  try {
    while (fromDisk.stale && !document.hidden) {
      fromDisk.stale = false
      await compare()
    }
  } catch { /* the next news draws it */ } finally {
    fromDisk.busy = false
  }
}

/** Shows a file as it is now, at the place one reads. One that may hold secrets is asked about first. */
async function see(pane) {
  const tab = tabOf(pane.dataset.key)
  if (await readAgain(tab, pane)) return display({ tool: pane.dataset.tool, arguments: JSON.parse(pane.dataset.args) })
  tab.disk = ''
  document.dispatchEvent(new Event('webchat:tabs'))
  const drawn = await refresh(tab)
  drawn?.querySelector('.code, .pic, .nothing')?.focus({ preventScroll: true })
  const line = drawn && unseen(drawn)
  if (line) toast(`What changed is out of view, from line ${line.toLocaleString('en')} on`, { act: { label: 'Go there', run: () => toFresh(drawn, line > viewerOf(drawn).seen.from ? 1 : -1) }, ms: 8000 })
}

export function following() {
  document.addEventListener('webchat:disk', (e) => {
    fromDisk.news = e.detail
    follow()
  })
  document.addEventListener('visibilitychange', () => fromDisk.stale && follow())
  document.addEventListener('webchat:pane', () => follow())
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('.pane [data-act=see-disk]')
    if (button) see(button.closest('[data-pane]')).catch(failed)
  })
}
