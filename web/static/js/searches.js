// The last queries of this folder, for a search of its text.

import { folder } from './api.js'

const several = 5 // queries that are kept
const storeKey = () => `webchat.searches.${folder()}`

export function recent() {
  try { return JSON.parse(localStorage.getItem(storeKey())) ?? [] } catch { return [] }
}

export function keep(text) {
  if (!text.trim()) return
  try { localStorage.setItem(storeKey(), JSON.stringify([text, ...recent().filter((t) => t !== text)].slice(0, several))) } catch { /* it is a comfort */ }
}
