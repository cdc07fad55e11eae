// One stream that comes back by itself.

import { read, StreamRefused } from './sse.js'

const longest = 15_000

/**
 * Reads url() from renew() until stop(). renew() asks anew, of another address, and keeps what there
 * is until that answers: nothing is missed. hurry() ends a wait. onOpen(missed) is called when the
 * stream begins, and says whether something may have been missed meanwhile.
 */
export function line(url, { onOpen, onData, onState }) {
  let now = null // the AbortController of the stream that is read
  let next = null // of the one that is asked for
  let timer = 0
  let tries = 0
  let asked = 0 // milliseconds the server asked us to wait
  let opened = false
  const me = {
    state: null,
    renew() {
      clearTimeout(timer)
      timer = setTimeout(open) // several tabs that begin at once ask once
    },
    hurry() { if (!now && !next) me.renew() },
    stop() {
      clearTimeout(timer)
      now?.abort()
      next?.abort()
      now = next = me.state = null
      opened = false
    },
  }
  const say = (state, more) => onState(me.state = { t: 'state', state, ...more })
  async function open() {
    next?.abort()
    const mine = next = new AbortController()
    let status = 0
    try {
      await read(url(), {
        signal: mine.signal,
        onOpen() {
          const missed = opened && !now
          now?.abort()
          now = mine
          next = null
          tries = asked = 0
          opened = true
          say('live')
          onOpen(missed)
        },
        onData(text, name) {
          if (mine.signal.aborted) return true
          if (!name && text.startsWith('{"') && text.includes('"stream.closing"')) asked = JSON.parse(text).data?.retryMs ?? asked
          onData(text, name)
        },
      })
    } catch (err) {
      if (err instanceof StreamRefused) status = err.status
    }
    if (mine.signal.aborted) return // another one has its place, or none is wanted
    if (next === mine) next = null
    if (now === mine) now = null
    // Full jitter below the bound, so that many browsers do not come back at once.
    const wait = asked + Math.min(longest, 500 * 2 ** Math.min(tries++, 6)) * (0.5 + Math.random() / 2)
    if (status === 401) say('signed-out')
    else if (!now) say('off', { until: Date.now() + wait })
    clearTimeout(timer)
    timer = setTimeout(open, wait)
  }
  return me
}
