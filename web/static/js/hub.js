// The streams of one browser. Six connections are all a browser grants one
// server over HTTP/1.1, so tabs share: one stream of all sessions, and one for
// each of the few sessions looked at last. A tab whose session has no stream of
// its own catches up whenever the first stream says that something happened.
// Runs in a shared worker; where there is none, in the page itself.

import { Session, follow } from './hub-stream.js'

const most = 3 // streams of single sessions at a time
const patience = 90_000 // a tab that answers no ping for so long is gone

export class Hub {
  constructor() {
    this.tabs = new Set()
    this.sessions = new Map()
    this.list = null
    setInterval(() => this.sweep(), 30_000)
  }

  /** Takes a message of a tab: anything with postMessage. */
  receive(port, m) {
    let tab = [...this.tabs].find((t) => t.port === port)
    if (m.t === 'hello') {
      if (tab) this.drop(tab)
      tab = { port, session: m.session, after: m.after, seen: Date.now(), looked: m.visible ? Date.now() : 0, buffer: null, send: (x) => port.postMessage(x) }
      this.tabs.add(tab)
      this.start(tab)
      if (tab.session) this.join(tab)
      return
    }
    if (!tab) return port.postMessage({ t: 'lost' }) // it was swept: it says hello again
    tab.seen = Date.now()
    if (m.t === 'bye') this.drop(tab)
    if (m.t === 'visible') {
      tab.looked = Date.now()
      this.list?.hurry()
      this.sessions.get(tab.session)?.hurry()
      this.arrange()
    }
    if (m.t === 'sync') {
      tab.after = m.after
      this.join(tab)
    }
    if (m.t === 'retry') {
      this.list?.hurry()
      for (const s of this.sessions.values()) s.hurry()
    }
  }

  join(tab) {
    let s = this.sessions.get(tab.session)
    if (!s) this.sessions.set(tab.session, s = new Session(tab.session))
    s.add(tab)
    this.arrange()
    if (s.stream) return
    s.joinOne(tab) // what happened since its page was made
    if (this.list?.state) tab.send(this.list.state)
  }

  drop(tab) {
    this.tabs.delete(tab)
    const s = this.sessions.get(tab.session)
    s?.tabs.delete(tab)
    if (s && s.tabs.size === 0) {
      s.stop()
      this.sessions.delete(tab.session)
    }
    if (this.tabs.size === 0) {
      this.list?.stop()
      this.list = null
    }
    this.arrange()
  }

  /** Gives streams to the sessions looked at last. */
  arrange() {
    const looked = (s) => Math.max(...[...s.tabs].map((t) => t.looked))
    const order = [...this.sessions.values()].sort((a, b) => looked(b) - looked(a))
    order.forEach((s, i) => s.live(i < most))
  }

  start(tab) {
    if (this.list) {
      if (this.list.state) for (const tab of this.tabs) if (!tab.session) tab.send(this.list.state)
      if (this.list.state?.state === 'live') tab.send({ t: 'open' })
      return
    }
    let opened = false
    this.list = follow(() => '/api/stream', {
      onOpen: () => {
        this.tell({ t: opened ? 'refresh' : 'open' })
        if (opened) for (const s of this.sessions.values()) s.catchUp()
        opened = true
      },
      onData: (e) => {
        if (e.type === 'session.error') this.tell({ t: 'refresh' }) // the log fails, or works again
        if (e.type !== 'session.changed') return
        this.tell({ t: 'changed', data: e.data })
        this.sessions.get(e.data.sessionId)?.poke(e.data.lastEvent)
      },
      onState: (state) => { for (const tab of this.tabs) if (!this.sessions.get(tab.session)?.stream) tab.send(state) },
    })
  }

  tell(m) { for (const tab of this.tabs) tab.send(m) }

  sweep() {
    for (const tab of [...this.tabs]) {
      if (Date.now() - tab.seen > patience) this.drop(tab)
      else tab.send({ t: 'ping' })
    }
  }
}
