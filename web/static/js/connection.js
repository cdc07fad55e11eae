// This tab's side of the shared streams: frames go to the queue, the state of
// the connection to the pill, changed sessions to their listeners.

import { review } from './expire.js'
import { scriptURL } from './html.js'
import { push, reset } from './queue.js'
import { announce } from './announce.js'

const turns = document.getElementById('turns')
const pill = document.getElementById('status')
const changed = new Set()
/** This tab's end of the browser's stream. */
const link = {
  port: null,
  state: { state: 'back' },
  wasOff: false,
  calm: 0,
  lastSeen: Date.now(),
}

/** Calls f(data) with each session.changed, and f(null) when lists are stale. */
export function onChanged(f) { changed.add(f) }

/** Whether frames come in at the moment. */
export const isLive = () => link.state.state === 'live'

const seq = () => Number(turns?.dataset.seq ?? 0)

function hello() {
  link.port.postMessage({ t: 'hello', session: document.body.dataset.session || null, after: seq(), visible: !document.hidden })
}

export async function connect() {
  const here = new URL('.', import.meta.url)
  if (globalThis.SharedWorker) {
    const worker = new SharedWorker(scriptURL(new URL('worker.js', here)), { type: 'module', name: here.pathname })
    link.port = worker.port
    worker.onerror = () => { if (link.lastSeen === 0) inPage() }
    link.lastSeen = 0
    link.port.onmessage = (e) => receive(e.data)
    hello()
  } else await inPage()
  document.addEventListener('visibilitychange', () => document.hidden || back())
  document.addEventListener('resume', sync)
  addEventListener('pageshow', (e) => e.persisted && sync())
  addEventListener('pagehide', () => link.port.postMessage({ t: 'bye' }))
  addEventListener('online', () => link.port.postMessage({ t: 'retry' }))
  pill?.addEventListener('click', () => link.port.postMessage({ t: 'retry' }))
  setInterval(count, 1000)
}

/** Without a shared worker each tab has a stream of its own, so a hidden one gives it back: six are all there are. */
async function inPage() {
  const { Hub } = await import('./hub.js')
  const hub = new Hub()
  const tab = { postMessage: (m) => queueMicrotask(() => receive(m)) }
  link.port = { postMessage: (m) => hub.receive(tab, m) }
  document.addEventListener('visibilitychange', () => document.hidden && link.port.postMessage({ t: 'bye' }))
  hello()
}

function back() { link.port.postMessage({ t: 'visible' }) }

/** After a sleep of the page: what waits is old, one snapshot holds all of it. */
function sync() {
  reset()
  hello()
}

function receive(m) {
  link.lastSeen = Date.now()
  if (m.t === 'ping') link.port.postMessage({ t: 'pong' })
  if (m.t === 'lost') hello()
  if (m.t === 'changed') for (const f of changed) f(m.data)
  // What ran when the page was made may have ended before the stream of all sessions was open.
  if (m.t === 'refresh' || (m.t === 'open' && document.querySelector('#sessions :is([data-status=running], [data-status=waiting])'))) for (const f of changed) f(null)
  if (m.t === 'state') show(m)
  if (m.t === 'frame') take(m.frame)
}

function take(frame) {
  if (frame.disk) document.dispatchEvent(new CustomEvent('webchat:disk', { detail: frame.disk }))
  if (!frame.ops) return
  const missed = frame.join ? Math.max(0, frame.seq - frame.from) : 0
  push(frame.ops, () => {
    if (turns && frame.seq) turns.dataset.seq = frame.seq
    if (frame.join) {
      document.body.dataset.joined = ''
      if (link.wasOff) caughtUp(missed, frame.reset)
    }
    document.dispatchEvent(new CustomEvent('webchat:frame', { detail: frame }))
  })
}

function text(words, how) {
  if (!pill) return
  pill.dataset.state = how
  const at = pill.querySelector('[data-text]') ?? pill
  if (at.textContent !== words) at.textContent = words
}

function caughtUp(missed, whole) {
  link.wasOff = false
  review()
  const words = whole ? 'Reconnected: everything was loaded again' : `Reconnected: ${missed.toLocaleString('en')} ${missed === 1 ? 'event' : 'events'}, none lost`
  text(words, 'back')
  announce(words)
  clearTimeout(link.calm)
  link.calm = setTimeout(() => isLive() && text('Live', 'live'), 4000)
}

function show(next) {
  link.state = next
  document.dispatchEvent(new CustomEvent('webchat:state', { detail: next }))
  if (next.state !== 'live') delete document.body.dataset.joined
  if (next.state === 'live') {
    if (!document.body.dataset.session) {
      document.body.dataset.joined = ''
      if (link.wasOff) caughtUp(0, true)
    }
    if (!link.wasOff) text('Live', 'live')
    return
  }
  if (next.state === 'signed-out') {
    text('Signed out', 'off')
    document.dispatchEvent(new CustomEvent('webchat:signed-out'))
  }
  if (next.state === 'gone') text('This session was deleted', 'off')
  if (next.state === 'off') link.wasOff = true
  count()
}

/** The words while the server does not answer, once a second. */
function count() {
  if (link.state.state !== 'off') return
  const left = Math.max(1, Math.ceil((link.state.until - Date.now()) / 1000))
  const last = link.state.last ?? seq()
  text(`Reconnecting in ${left} s${last ? ` · last event ${last.toLocaleString('en')}` : ''}`, 'off')
}
