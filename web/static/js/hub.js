// The stream of one browser. Six connections are all a browser grants one server over HTTP/1.1, so
// all tabs share one: it has what changes in the list of sessions, and the page of each session that
// a tab shows. Runs in a shared worker; where there is none, in the page itself.

import { line } from './line.js'

const most = 100 // sessions on one stream; of more, those looked at last
const patience = 90_000 // a tab that answers no ping for so long is gone
const again = [500, 15_000] // milliseconds until a part that was cut is asked for again, at first and at most

export class Hub {
  constructor() {
    this.tabs = new Map() // port → tab
    this.sessions = new Map() // id → what its tabs share
    this.line = line(() => this.url(), {
      onOpen: (missed) => this.opened(missed),
      onData: (text, name) => this.take(name, JSON.parse(text)),
      onState: (state) => this.tellState(state),
    })
    setInterval(() => this.sweep(), 30_000)
  }

  /** Takes a message of a tab: anything with postMessage. */
  receive(port, m) {
    let tab = this.tabs.get(port)
    if (m.t === 'hello') {
      if (!tab) this.tabs.set(port, tab = { send: (x) => port.postMessage(x), looked: 0 })
      if (tab.session && tab.session !== m.session) this.leave(tab)
      Object.assign(tab, { session: m.session, seen: Date.now(), state: '', open: false, looked: m.visible ? Date.now() : tab.looked })
      return this.join(tab, m.after)
    }
    if (!tab) return port.postMessage({ t: 'lost' }) // it was swept: it says hello again
    tab.seen = Date.now()
    if (m.t === 'bye') this.drop(port)
    if (m.t === 'visible') {
      tab.looked = Date.now()
      this.line.hurry()
      this.revive(this.sessions.get(tab.session))
    }
    if (m.t === 'retry') {
      this.line.hurry()
      for (const s of this.sessions.values()) this.revive(s)
    }
  }

  /** Brings a tab to now: the stream begins anew, for its session where the tab is. */
  join(tab, after) {
    if (!tab.session) {
      if (!this.line.state) this.line.renew()
      else tab.send(this.line.state)
      if (this.line.state?.state === 'live') {
        tab.send({ t: 'open' })
        tab.open = true
      }
      return
    }
    let s = this.sessions.get(tab.session)
    if (!s) this.sessions.set(tab.session, s = { id: tab.session, tabs: new Set(), last: after, gone: false, tries: 0, timer: 0 })
    s.tabs.add(tab)
    // Its other tabs may be further: what they get twice does no harm.
    s.last = Math.min(s.last, after)
    s.gone = false
    this.line.renew()
  }

  leave(tab) {
    const s = this.sessions.get(tab.session)
    s?.tabs.delete(tab)
    if (s?.tabs.size === 0) {
      clearTimeout(s.timer)
      this.sessions.delete(s.id)
    }
  }

  drop(port) {
    this.leave(this.tabs.get(port))
    this.tabs.delete(port)
    if (!this.tabs.size) this.line.stop()
  }

  url() {
    const looked = (s) => Math.max(...[...s.tabs].map((tab) => tab.looked))
    const list = [...this.sessions.values()].filter((s) => !s.gone).sort((a, b) => looked(b) - looked(a)).slice(0, most)
    this.asked = new Set(list)
    for (const s of list) clearTimeout(s.timer)
    return `/api/stream?view=page&sessions=${list.map((s) => `${s.id}:${s.last}`).join(',')}`
  }

  /** Asks anew for a session that the stream does not have. */
  revive(s) {
    if (!s || (!s.gone && this.asked?.has(s))) return
    s.gone = false
    this.line.renew()
  }

  opened(missed) {
    for (const tab of this.tabs.values()) {
      if (missed || !tab.open) tab.send({ t: missed ? 'refresh' : 'open' })
      tab.open = true
      if (!tab.session) this.state(tab, this.line.state)
    }
  }

  take(name, data) {
    if (!name) return this.takeList(data)
    const s = this.sessions.get(name)
    if (!s) return
    if (data.type === 'stream.closing') return this.ended(s, data.data.retryMs)
    if (data.seq) s.last = data.seq
    if (data.join) s.tries = 0
    for (const tab of s.tabs) {
      if (data.join) this.state(tab, { t: 'state', state: 'live' })
      tab.send({ t: 'frame', frame: data })
    }
  }

  takeList(e) {
    if (e.type === 'session.error') this.tell({ t: 'refresh' }) // the log fails, or works again
    if (e.type !== 'session.changed') return
    this.tell({ t: 'changed', data: e.data })
    const s = this.sessions.get(e.data.sessionId)
    if (s?.gone) this.revive(s)
  }

  /** A session's part of the stream has ended: for good, or until the server has it again. */
  ended(s, retryMs) {
    this.asked.delete(s)
    if (!retryMs) {
      s.gone = true
      return this.each(s, { t: 'state', state: 'gone' })
    }
    const wait = retryMs + Math.min(again[1], again[0] * 2 ** Math.min(s.tries++, 6)) * (0.5 + Math.random() / 2)
    this.each(s, { t: 'state', state: 'off', until: Date.now() + wait, last: s.last })
    s.timer = setTimeout(() => this.revive(s), wait)
  }

  /** The connection's state is that of each tab; a session is live with its first frame. */
  tellState(state) {
    if (state.state === 'live') return
    for (const s of this.sessions.values()) clearTimeout(s.timer)
    for (const tab of this.tabs.values()) {
      const s = this.sessions.get(tab.session)
      if (!s?.gone) this.state(tab, { ...state, last: s?.last })
    }
  }

  each(s, state) { for (const tab of s.tabs) this.state(tab, state) }

  /** Tells a tab how things stand, unless it knows. */
  state(tab, state) {
    if (tab.state === 'live' && state.state === 'live') return
    tab.state = state.state
    tab.send(state)
  }

  tell(m) { for (const tab of this.tabs.values()) tab.send(m) }

  sweep() {
    for (const [port, tab] of this.tabs) {
      if (Date.now() - tab.seen > patience) this.drop(port)
      else tab.send({ t: 'ping' })
    }
  }
}
