// Files on the Desk follow the disk: while this page is seen, the server compares those that are open,
// without reading them. What changed is read when the reader asks to see it.

import { announce } from './announce.js'
import { getJSON, path, session } from './api.js'
import { display } from './display.js'
import { paneOf, refresh, reread } from './pane.js'
import { open, tabOf } from './tabs.js'
import { failed } from './toast.js'

const every = 2000 // milliseconds between two comparisons
const most = 100 // files that are compared at once
let off = false // the server does not answer

const follows = (tab) => tab.state === 'done' && tab.kind !== 'terminal' && !tab.look && !tab.call && !tab.secret

/** Says in the foot of a pane what became of its file. */
function paint(pane) {
  const tab = tabOf(pane?.dataset.key)
  if (!tab) return
  for (const el of pane.querySelectorAll('.dfoot [data-disk]')) el.hidden = el.dataset.disk !== tab.disk
}

async function compare() {
  const tabs = open().filter(follows).slice(-most)
  if (!tabs.length) return
  const asked = new Map(tabs.map((tab) => [tab, tab.out]))
  const { changed, gone } = await getJSON(path(`/disk?${tabs.map((tab) => `output=${encodeURIComponent(tab.out)}`).join('&')}`))
  let moved = false
  for (const [tab, out] of asked) {
    const now = changed.includes(out) ? 'changed' : gone.includes(out) ? 'gone' : ''
    if (tab.out !== out || (tab.disk ?? '') === now) continue
    tab.disk = now
    moved = true
    if (now) announce(`${tab.base} ${now === 'gone' ? 'is no longer on disk' : 'changed on disk'}`)
    paint(paneOf(tab.key))
  }
  if (moved) document.dispatchEvent(new Event('webchat:tabs'))
}

async function follow() {
  try {
    if (session() && !document.hidden && !off) await compare()
  } catch (err) {
    if ([401, 403, 404].includes(err.status)) return // the session is gone, or the reader signed out
  }
  setTimeout(follow, every)
}

/** Shows a file as it is now, at the place one reads. One that may hold secrets is asked about first. */
async function see(pane) {
  const tab = tabOf(pane.dataset.key)
  if (await reread(tab, tab.out)) return display({ tool: pane.dataset.tool, arguments: JSON.parse(pane.dataset.args) })
  tab.disk = ''
  document.dispatchEvent(new Event('webchat:tabs'))
  const drawn = await refresh(tab)
  drawn?.querySelector('.code, .pic, .nothing')?.focus({ preventScroll: true })
}

export function following() {
  document.addEventListener('webchat:state', (e) => { off = e.detail.state === 'off' })
  document.addEventListener('webchat:pane', (e) => paint(e.target))
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('.pane [data-act=see-disk]')
    if (button) see(button.closest('[data-pane]')).catch(failed)
  })
  setTimeout(follow, every)
}
