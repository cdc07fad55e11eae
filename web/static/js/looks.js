// Looks from the start page of a folder go into one session, until a prompt is sent in it.

import { folder } from './api.js'

const key = () => `webchat.looks.${folder()}`

function kept() {
  try { return JSON.parse(localStorage.getItem(key())) ?? {} } catch { return {} }
}

/** The session that looks go into, of who would answer there; empty: there is none. */
export function looksIn({ backend, model }) {
  const { id, of } = kept()
  return id && of === `${backend} ${model}` && document.querySelector(`#sessions [data-session="${CSS.escape(id)}"]`) ? id : ''
}

/** A session was made for a look. */
export function beginLooks(id, { backend, model }) {
  try { localStorage.setItem(key(), JSON.stringify({ id, of: `${backend} ${model}` })) } catch { /* the next look has a session of its own */ }
}

/** A prompt was sent in a session. */
export function prompted(id) {
  if (kept().id === id) localStorage.removeItem(key())
}
