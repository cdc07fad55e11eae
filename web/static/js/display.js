// What the user shows without any model.

import { path, post } from './api.js'
import { base } from './base.js'
import { toast } from './toast.js'

const wished = 'webchat.wish' // what a page that opens shows, in front

/** Has a session show {tool, arguments}, whose page opens now: it asks for that, since an answer may ask this one to sign anew. */
export function displayNext(wanted) {
  try { sessionStorage.setItem(wished, JSON.stringify(wanted)) } catch { return post(path('/display'), wanted) }
}

/** Shows what the page before wanted from this one, once; returns its name. */
export function wish() {
  const text = sessionStorage.getItem(wished)
  sessionStorage.removeItem(wished)
  if (!text) return ''
  const wanted = JSON.parse(text)
  const { path: file, command, name } = wanted.arguments
  post(path('/display'), wanted).catch((err) => toast(err.message, { how: 'fail' }))
  return command ?? file ?? name
}

/** Shows {tool, arguments} as a card. Without the log there is no card: then a toast leads to the output. */
export async function display(wanted, place) {
  const { path: file, command, name } = wanted.arguments
  const answer = post(path('/display'), wanted)
  document.dispatchEvent(new CustomEvent('webchat:display', { detail: { name: command ?? file ?? name, answer, ...place } }))
  const shown = await answer
  if (!shown.notKept || !shown.output) return shown
  const open = { label: 'Open', run: () => window.open(`${base}/api/outputs/${shown.output.id}`, '_blank', 'noopener') }
  toast('Shown but not saved: the log cannot be written. Open it before the server deletes it', { how: 'ask', act: open, stay: true })
  return shown
}
