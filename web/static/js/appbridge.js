// What a page of an MCP server sends, and is sent (MCP Apps): JSON-RPC by messages. Nothing counts
// but what comes from its own frame, has a known form, and is neither too much nor too large.

const rate = 60 // messages a second that a page may send for long
const burst = 300 // and at once
const longest = 256 * 1024 // characters of a message as JSON
const mostOpen = 8 // requests of a page that wait
const patience = 10_000 // ms until a page begins
const every = 10_000 // ms between two looks at whether a page answers

const object = (v) => v !== null && typeof v === 'object' && !Array.isArray(v)
const text = (v, most) => typeof v === 'string' && v.length <= most
const block = (v) => object(v) && text(v.type, 40) && (v.type !== 'text' || typeof v.text === 'string')
const blocks = (v) => (Array.isArray(v) ? v.length <= 100 && v.every(block) : block(v))

/** What a page may ask, and whether it asks in a known form. */
const asks = {
  'ui/initialize': (p) => text(p.protocolVersion, 40),
  'ui/message': (p) => p.role === 'user' && blocks(p.content),
  'ui/open-link': (p) => text(p.url, 4000),
  'ui/request-display-mode': (p) => text(p.mode, 40),
  'ui/update-model-context': (p) => (p.content === undefined || blocks(p.content)) && (p.structuredContent === undefined || object(p.structuredContent)),
  'tools/call': (p) => text(p.name, 200) && (p.arguments === undefined || object(p.arguments)),
  ping: () => true,
}

/** A message as plain data; null: it is none. It throws for one that is too long. */
function read(data) {
  let json
  try { json = object(data) ? JSON.stringify(data) : '' } catch { /* it has a circle */ }
  if (!json) return null
  if (json.length > longest) throw new RangeError('too long')
  const m = JSON.parse(json)
  const id = m.id === undefined || text(m.id, 100) || Number.isFinite(m.id)
  return m.jsonrpc === '2.0' && id && (m.params === undefined || object(m.params)) && (m.method === undefined || text(m.method, 100)) ? m : null
}

/**
 * Speaks with the page of a frame until that is taken away, or end is called, with why. answers have
 * what is answered by its method; begun is called once when the page has begun.
 */
export function bridge(frame, answers, { begun, ended }) {
  const over = new AbortController()
  const seen = { left: burst, at: performance.now(), loads: 0, open: 0, begun: false, pings: 0, answered: 0 }
  const stop = () => { over.abort(); clearTimeout(timer); clearInterval(pulse) }
  const end = (why) => {
    if (over.signal.aborted) return
    stop()
    frame.remove()
    ended(why, seen.begun)
  }
  const send = (message) => frame.contentWindow?.postMessage({ jsonrpc: '2.0', ...message }, '*') // an opaque origin has no name
  const timer = setTimeout(() => end('It did not begin.'), patience)
  const pulse = setInterval(() => {
    if (!frame.isConnected) return stop()
    if (!seen.begun || document.hidden) return null
    if (seen.answered && seen.pings - seen.answered > 1) return end('It did not answer.')
    return send({ id: ++seen.pings, method: 'ping' })
  }, every)

  /** Whether a page sends no more than it may. */
  function within() {
    const now = performance.now()
    seen.left = Math.min(burst, seen.left + (now - seen.at) * rate / 1000) - 1
    seen.at = now
    return seen.left >= 0
  }

  async function answer({ id, method, params = {} }) {
    const refuse = (code, message) => send({ id, error: { code, message } })
    if (!Object.hasOwn(asks, method)) return refuse(-32601, 'webchat does not know this method.')
    if (!asks[method](params)) return refuse(-32602, 'The parameters have another form.')
    if (seen.open >= mostOpen) return refuse(-32000, 'Too many requests wait.')
    seen.open++
    try {
      return send({ id, result: (await answers[method]?.(params)) ?? {} })
    } catch (err) {
      return refuse(-32000, err.message)
    } finally { seen.open-- }
  }

  function heard(m) {
    if (m.method === undefined) {
      if (m.id === seen.pings) seen.answered = m.id
    } else if (m.id !== undefined) {
      if (m.method === 'ui/initialize') clearTimeout(timer)
      answer(m)
    } else if (m.method === 'ui/notifications/initialized' && !seen.begun) {
      seen.begun = true
      begun(send)
      send({ id: ++seen.pings, method: 'ping' })
    }
  }

  addEventListener('message', ({ source, data }) => {
    if (!source || source !== frame.contentWindow) return
    if (!within()) return end('It sent too many messages.')
    let m = null
    try { m = read(data) } catch { return end('It sent a message that is too long.') }
    if (m) heard(m)
  }, { signal: over.signal })
  frame.addEventListener('load', () => { if (++seen.loads > 1) end('It went to another address.') }, { signal: over.signal })
  return { send: (message) => { if (seen.begun) send(message) }, over: over.signal }
}
