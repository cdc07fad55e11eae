// Files to keep.

import { get } from './api.js'
import { base } from './base.js'
import { failed, toast } from './toast.js'

function download(href, name) {
  const a = document.createElement('a')
  a.href = href
  a.download = name
  document.body.append(a)
  a.click()
  a.remove()
}

/** Downloads what is at a path of the server's; the page stays where it is. */
export const save = (path, name = '') => download(base + path, name)

/** Downloads a session as a file. Nobody waits for the end: a page may be long in the making. */
export function saveSession(id, format) {
  const path = `/api/sessions/${id}/export?format=${format}`
  if (format === 'html') saveLong(path).catch(failed)
  else save(path)
}

const soon = 500 // milliseconds that need no words

const sized = (n) => (n < 1e6 ? `${Math.ceil(n / 1e3)} kB` : `${(n / 1e6).toFixed(1)} MB`)

/** Downloads what is drawn while it comes: words say how much has come, and their button stops it. */
async function saveLong(path) {
  const end = new AbortController()
  let come = 0
  let note
  const say = () => note?.say(`Saving the page: ${sized(come)} so far`)
  const timer = setTimeout(() => {
    note = toast('Saving the page', { stay: true, act: { label: 'Stop', run: () => end.abort() } })
    say()
  }, soon)
  try {
    const reply = await get(path, { signal: end.signal })
    const reader = reply.body.getReader()
    const parts = []
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value)
      come += part.value.length
      say()
    }
    const at = URL.createObjectURL(new Blob(parts, { type: 'text/html' }))
    download(at, nameOf(reply.headers.get('Content-Disposition') ?? ''))
    setTimeout(() => URL.revokeObjectURL(at), 60_000) // the browser has read it by then
  } finally {
    clearTimeout(timer)
    note?.()
  }
}

/** The name that a header gives a file. */
function nameOf(header) {
  const coded = /filename\*=utf-8''([^;]+)/i.exec(header)
  return coded ? decodeURIComponent(coded[1]) : /filename="?([^";]+)/i.exec(header)?.[1] ?? 'session.html'
}
