// What the user shows without any model.

import { path, post } from './api.js'
import { base } from './base.js'
import { toast } from './toast.js'

const wished = 'webchat.wish' // what a page that opens shows in front

/** Begins to show {tool, arguments} in a session whose page opens now, and shows it there. */
export function displayNext(wanted) {
  const { path: file, command, name } = wanted.arguments
  try { sessionStorage.setItem(wished, command ?? file ?? name) } catch { /* it is on the Desk, behind others */ }
  post(path('/display'), wanted, { keepalive: true }).catch(() => {}) // the page of the session says what came of it
}

/** What the page before asked this one to show in front, once. */
export function wish() {
  const name = sessionStorage.getItem(wished) ?? ''
  sessionStorage.removeItem(wished)
  return name
}

/** Shows {tool, arguments} as a card. Without the log there is no card: then a toast leads to the output. */
export async function display(wanted, place) {
  const { path: file, command, name } = wanted.arguments
  document.dispatchEvent(new CustomEvent('webchat:display', { detail: { name: command ?? file ?? name, ...place } }))
  const shown = await post(path('/display'), wanted)
  if (!shown.notKept || !shown.output) return shown
  const open = { label: 'Open', run: () => window.open(`${base}/api/outputs/${shown.output.id}`, '_blank', 'noopener') }
  toast('Shown but not saved: the log cannot be written. Open it before the server deletes it', { how: 'ask', act: open, stay: true })
  return shown
}
