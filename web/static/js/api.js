// Requests to our own server. Reads go by cookie; writes carry the second
// secret, which sign-in stored here and a page on another port cannot read. It
// ends with the server's process; the next process gives another for a proof.

import { base } from './base.js'
import { prove } from './proof.js'

const key = `webchat.secret${base}`

/** A refusal of the server, or no answer at all (status 0). */
class Refused extends Error {
  constructor(status, code, message, notKept = false) {
    super(message)
    this.status = status
    this.code = code
    this.notKept = notKept // a display failed, and no card says so
  }
}

const between = new Set(['closing', 'engine_away', 'replica_away', 'replica_cut'])

/** Whether a refusal is of a server that ends, begins or has gone, or of a proxy before it: it passes by itself. */
export const passing = ({ status, code }) => between.has(code) || (!code && status >= 502 && status <= 504)

export const secret = {
  get: () => localStorage.getItem(key) ?? '',
  set: (s) => localStorage.setItem(key, s),
  clear: () => localStorage.removeItem(key),
}

/** What requests may do. */
const access = {
  renewal: undefined, // the proof that is under way, if one is
  closed: '', // why this page changes nothing on the server
}

/** Gets another secret; whether it did. */
function renew() {
  access.renewal ??= (async () => {
    const { challenge } = await (await fetch(`${base}/api/sign-in`)).json()
    const body = JSON.stringify({ signature: await prove(challenge) })
    const reply = await fetch(`${base}/api/sign-in`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    if (reply.ok) secret.set((await reply.json()).secret)
    return reply.ok
  })().catch(() => false).finally(() => { access.renewal = undefined })
  return access.renewal
}

/** Refuses from now on what would change something on the server, but for what is sent with always. */
export function readOnly(why) { access.closed = why }

const reads = (method) => method === 'GET' || method === 'HEAD'

async function send(method, path, options = {}) {
  const { json, type, signal, again, always, keepalive } = options
  if (access.closed && !reads(method) && !always) throw new Refused(403, 'replay', access.closed)
  let { body } = options
  const headers = {}
  if (!reads(method) && secret.get()) headers.Authorization = `Bearer ${secret.get()}`
  if (json !== undefined) {
    headers['Content-Type'] = 'application/json'
    body = JSON.stringify(json)
  } else if (type) headers['Content-Type'] = type
  let reply
  try {
    reply = await fetch(base + path, { method, headers, body, signal, keepalive })
  } catch (err) {
    if (err.name === 'AbortError') throw err
    throw new Refused(0, 'offline', 'The server does not answer.')
  }
  if (reply.ok) return reply
  if (reply.status === 401 && headers.Authorization && !again && await renew()) return send(method, path, { ...options, again: true })
  let said = {}
  try { said = await reply.json() } catch { /* not ours to read */ }
  if (reply.status === 401) document.dispatchEvent(new CustomEvent('webchat:signed-out'))
  throw new Refused(reply.status, said.code ?? '', said.error ?? `The server answered ${reply.status}.`, said.notKept)
}

export const get = (path, options) => send('GET', path, options)
export const getJSON = async (path, options) => (await send('GET', path, options)).json()
export const getText = async (path, options) => (await send('GET', path, options)).text()
export const remove = (path) => send('DELETE', path)
export const patch = async (path, json) => (await send('PATCH', path, { json })).json()

/** Posts JSON, or nothing at all, and returns the JSON that came back, if any. */
export async function post(path, json, options) {
  const text = await (await send('POST', path, { ...options, json })).text()
  return text ? JSON.parse(text) : null
}

/** Uploads bytes. */
export async function upload(path, blob) {
  // What a browser thinks of a name's ending (go.mod is music) says little: what is not a picture is text, or refused.
  return (await send('POST', path, { body: blob, type: /^(image|text)\//.test(blob.type) ? blob.type : 'text/plain' })).json()
}

/** Uploads bytes for a prompt when it is called first, however often sending that is tried; {id, sensitive}. */
export function uploadOnce(name, blob) {
  let sent = null
  return () => (sent ??= upload(path(`/attachments?name=${encodeURIComponent(name)}`), blob).catch((err) => { sent = null; throw err }))
}

/** A unique id; crypto.randomUUID is not there over plain HTTP. */
export const newID = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')

/** The session of this page, and a path below it. */
export const session = () => document.body.dataset.session ?? ''
export const path = (rest = '') => `/api/sessions/${session()}${rest}`

/** The folder of this page, and the page that begins a session in one. */
export const folder = () => document.body.dataset.folder ?? ''
export const inFolder = (path = folder()) => `/?workspace=${encodeURIComponent(path)}`

/** Files of this page's folder that one may mean by q: {files, secret}, those that may hold secrets last in the one and named in the other. */
export const filesLike = (q, limit, options) => getJSON(`/api/files?workspace=${encodeURIComponent(folder())}&limit=${limit}&q=${encodeURIComponent(q)}`, options)
