// Reads a text/event-stream by fetch. EventSource hides three things we need:
// the status of a refusal, the heartbeat, and a way to say where to go on.

import { base } from './base.js'

/** The server refused the stream. */
export class StreamRefused extends Error {
  constructor(status) {
    super(`the stream was answered ${status}`)
    this.status = status
  }
}

/**
 * Opens url, a path of the server's, and calls onData(data, name) for each event until the stream ends.
 * Silence of more than quiet milliseconds counts as its end: the server sends a
 * comment at least every 15 seconds. onData returning true ends it, too.
 */
export async function read(url, { quiet = 40_000, signal, onOpen, onData }) {
  const stop = new AbortController()
  const end = () => stop.abort()
  signal?.addEventListener('abort', end)
  let watch = setTimeout(end, quiet)
  try {
    const reply = await fetch(base + url, { headers: { Accept: 'text/event-stream' }, signal: stop.signal, cache: 'no-store' })
    if (!reply.ok || !reply.headers.get('Content-Type')?.startsWith('text/event-stream')) throw new StreamRefused(reply.status)
    onOpen?.()
    const lines = splitter()
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(watch)
      watch = setTimeout(end, quiet)
      for (const { data, name } of lines(value)) {
        if (onData(data, name)) return
      }
    }
  } finally {
    clearTimeout(watch)
    signal?.removeEventListener('abort', end)
    stop.abort()
  }
}

/** Text in pieces to events: the data of each, lines joined by newlines, and its name. */
function splitter() {
  let rest = ''
  let data = []
  let name = ''
  return function * (text) {
    rest += text
    let from = 0
    for (let at; (at = rest.indexOf('\n', from)) >= 0; from = at + 1) {
      const line = rest.slice(from, at).replace(/\r$/, '')
      if (line === '') {
        if (data.length) yield { data: data.join('\n'), name }
        data = []
        name = ''
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5))
      } else if (line.startsWith('event: ')) {
        name = line.slice(7)
      }
    }
    rest = rest.slice(from)
  }
}
