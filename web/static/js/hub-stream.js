// One stream that comes back by itself, and what the tabs of one session share.

import { read, StreamRefused } from './sse.js'

const longest = 15_000

/** Reads url() again and again. hurry() ends a wait, stop() everything. */
export function follow(url, { onOpen, onData, onState }) {
  const off = new AbortController()
  const me = { state: null, hurry() { wake?.() }, stop() { off.abort(); wake?.() } }
  let wake = null
  let tries = 0
  let asked = 0 // milliseconds the server asked us to wait
  const say = (state, more) => onState?.(me.state = { t: 'state', state, ...more })
  const run = async () => {
    while (!off.signal.aborted) {
      let status = 0
      try {
        await read(url(), {
          signal: off.signal,
          onOpen() { tries = 0; asked = 0; say('live'); onOpen?.() },
          onData(text) {
            const m = JSON.parse(text)
            if (m.type === 'stream.closing') asked = m.data.retryMs
            else onData(m)
          },
        })
      } catch (err) {
        if (err instanceof StreamRefused) status = err.status
      }
      if (off.signal.aborted) return
      if (status === 401 || status === 404) say(status === 401 ? 'signed-out' : 'gone')
      // Full jitter below the bound, so that many tabs do not come back at once.
      const wait = asked + Math.min(longest, 500 * 2 ** Math.min(tries++, 6)) * (0.5 + Math.random() / 2)
      if (status !== 401 && status !== 404) say('off', { until: Date.now() + wait })
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, status === 404 ? 3_600_000 : wait)
        wake = () => { clearTimeout(timer); resolve() }
      })
      wake = null
    }
  }
  run()
  return me
}

/** The tabs that show one session. */
export class Session {
  constructor(id) {
    this.id = id
    this.tabs = new Set()
    this.stream = null
    this.open = false
    this.last = 0 // the newest sequence any tab was sent
    this.busy = new Set() // tabs whose join is under way
  }

  url(after) { return `/sessions/${this.id}/stream?after=${after}` }

  add(tab) {
    this.tabs.add(tab)
    if (this.open) this.joinOne(tab)
    if (this.stream?.state) tab.send(this.stream.state)
  }

  live(yes) {
    if (yes && !this.stream) this.begin()
    if (!yes && this.stream) {
      this.stop()
      this.catchUp() // the stream may have owed something
    }
  }

  begin() {
    // Tabs may stand at different places. The stream starts at the oldest: what
    // a newer one gets twice does no harm.
    this.last = Math.min(...[...this.tabs].map((t) => t.after))
    let from = 0
    this.stream = follow(() => this.url(from = this.last), {
      onOpen: () => {
        this.open = true
        for (const tab of this.tabs) if (tab.after < from) this.joinOne(tab)
      },
      onData: (frame) => this.deal(frame),
      onState: (state) => {
        if (state.state !== 'live') this.open = false
        for (const tab of this.tabs) tab.send({ ...state, last: this.last })
      },
    })
  }

  deal(frame) {
    if (frame.seq) this.last = frame.seq
    for (const tab of this.tabs) {
      if (tab.buffer) tab.buffer.push(frame)
      else this.give(tab, frame)
    }
  }

  give(tab, frame) {
    if (frame.seq) tab.after = frame.seq
    tab.send({ t: 'frame', frame })
  }

  /** Brings one tab to now by a request of its own that ends with the first frame. */
  async joinOne(tab) {
    if (this.busy.has(tab)) {
      tab.again = true // what is under way may be too old already
      return
    }
    this.busy.add(tab)
    tab.again = false
    tab.buffer = []
    let joined = null
    try {
      await read(this.url(tab.after), { onData: (text) => { joined = JSON.parse(text); return true } })
    } catch { /* the next frame or reconnect brings it */ }
    this.busy.delete(tab)
    const missed = tab.buffer ?? []
    tab.buffer = null
    if (joined) this.give(tab, joined)
    for (const frame of missed) if (!joined || frame.pos > joined.pos) this.give(tab, frame)
    if (tab.again && !this.stream && this.tabs.has(tab)) this.joinOne(tab)
  }

  /** Something happened in the session; matters only without a stream. */
  poke(last) {
    if (this.stream) return
    for (const tab of this.tabs) if (last > tab.after) this.joinOne(tab)
  }

  /** Nobody told what happened meanwhile. */
  catchUp() {
    if (!this.stream) for (const tab of this.tabs) this.joinOne(tab)
  }

  hurry() { this.stream?.hurry() }

  stop() {
    this.stream?.stop()
    this.stream = null
    this.open = false
  }
}
