// The shared worker: one Hub for all tabs.

import { Hub } from './hub.js'

const hub = new Hub()

addEventListener('connect', (e) => {
  const port = e.ports[0]
  port.onmessage = (m) => hub.receive(port, m.data)
})
