// The view of what a page of an MCP server draws (MCP Apps), in a frame of an origin of its own. It
// reaches what the user allowed; what it hands over is a chip that the user sends.

import { getJSON, path, post } from './api.js'
import { bridge } from './appbridge.js'
import { addLines, waiting } from './attach.js'
import { confirmed } from './confirm.js'
import { isDark } from './dark.js'
import { frameOf } from './frames.js'
import { clone, plain, some } from './html.js'
import { failed } from './toast.js'

const mostText = 100_000 // characters of what a page hands over
const theme = () => (isDark() ? 'dark' : 'light')
const size = (frame) => ({ width: frame.clientWidth, height: frame.clientHeight })

/** What a page hands over, as text. */
function textOf({ content = [], structuredContent }) {
  const words = [content].flat().filter(({ type }) => type === 'text').map((b) => b.text)
  if (structuredContent) words.push(JSON.stringify(structuredContent, null, 2))
  return words.join('\n').trim()
}

/** Makes what puts the text that a page hands over on its one chip, in place of the one before. */
function chipOf(of, server) {
  const now = { text: '', busy: false }
  return async (text) => {
    if (text.length > mostText) throw new Error('That is too much to hand over.')
    now.text = text
    if (now.busy) return
    now.busy = true
    try {
      for (let put = null; put !== now.text;) {
        put = now.text
        for (const { kept, gone } of waiting('app')) if (kept.about.app === of) gone()
        const words = plain(put.split('\n', 1)[0]).slice(0, 60)
        if (put) await addLines({ label: `${server}: ${words}`, name: `from the page of ${server}`, text: put, icon: '#i-plug', about: { app: of } }, () => {})
      }
    } finally { now.busy = false }
  }
}

/** Opens an address that a page asks for, if the user, who is in the page, says yes. */
async function openLink(frame, server, url) {
  const to = URL.canParse(url) ? new URL(url) : null
  if (!to || !/^https?:$/.test(to.protocol)) throw new Error('Only http and https addresses are opened.')
  if (document.activeElement !== frame || document.querySelector('dialog[open]')) throw new Error('The user is not in the page.')
  if (!await confirmed(`Open ${to.host}?`, `${server} (its page) wants to open ${to.href}`, 'Open it')) throw new Error('The user did not open it.')
  window.open(to.href, '_blank', 'noopener,noreferrer')
}

/**
 * Makes what calls tools for a page, one after the other: so one question is open at most. One that is denied has
 * those that wait refused, and is not asked about again until again is called; deny is called with what is denied.
 */
function callerOf(of, deny) {
  const denied = new Set()
  const calls = { last: Promise.resolve(), denials: 0 }
  const call = async (name, given, then) => {
    if (denied.has(name) || then !== calls.denials) throw new Error('The user denied this tool to the page.')
    try {
      return (await post(path(`/outputs/${of}/app/call`), { tool: name, arguments: given })).result
    } catch (err) {
      if (err.code === 'page_denied') {
        calls.denials++
        deny([...denied.add(name)], () => denied.clear())
      }
      throw err
    }
  }
  return ({ name, arguments: given = {} }) => {
    const then = calls.denials
    const one = calls.last.then(() => call(name, given, then))
    calls.last = one.catch(() => {}) // the page learns it
    return one
  }
}

/** What is answered to a page. */
function answersOf(frame, of, { server, tool, hosts, allowed }, deny) {
  const chip = chipOf(of, server)
  return {
    'ui/initialize': () => ({
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'webchat', version: '1' },
      hostCapabilities: { openLinks: {}, serverTools: {}, logging: {}, sandbox: { permissions: {}, csp: allowed ? { connectDomains: hosts.connect, resourceDomains: hosts.load } : {} } },
      hostContext: { theme: theme(), displayMode: 'inline', availableDisplayModes: ['inline'], platform: 'web', containerDimensions: size(frame), toolInfo: { tool: { name: tool, inputSchema: { type: 'object' } } } },
    }),
    'ui/request-display-mode': () => ({ mode: 'inline' }),
    'ui/message': (p) => chip(textOf(p)),
    'ui/update-model-context': (p) => chip(textOf(p)),
    'ui/open-link': ({ url }) => openLink(frame, server, url),
    'tools/call': callerOf(of, deny),
  }
}

/** Has a page learn what changes around it. */
function follow(frame, { send, over }) {
  const changed = (params) => send({ method: 'ui/notifications/host-context-changed', params })
  const sized = new ResizeObserver(() => changed({ containerDimensions: size(frame) }))
  const themed = new MutationObserver(() => { frame.style.colorScheme = theme(); changed({ theme: theme() }) })
  sized.observe(frame)
  themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  over.addEventListener('abort', () => { sized.disconnect(); themed.disconnect() })
}

/** Draws the frame into box; ended is called when it is taken away, with why and whether it had begun. deny: see callerOf. */
function draw(box, of, data, ended, deny) {
  const frame = frameOf('allow-scripts', `${data.server}: ${data.tool}`, `/api/outputs/${of}/app`)
  frame.style.colorScheme = theme()
  const one = bridge(frame, answersOf(frame, of, data, deny), {
    begun: (send) => {
      send({ method: 'ui/notifications/tool-input', params: { arguments: data.arguments } })
      send({ method: 'ui/notifications/tool-result', params: data.result })
      delete box.dataset.waits
    },
    ended,
  })
  box.querySelector('iframe')?.remove()
  box.dataset.waits = ''
  box.append(frame)
  follow(frame, one)
}

/** Makes the view of a pane. without is called with why when the page is not there, or no more. */
export async function app(state, without) {
  const { pane, root } = state
  const of = pane.dataset.app
  const data = await getJSON(`/api/outputs/${of}/app/data`)
  if (!root.isConnected) return
  const { root: box, parts } = clone('tpl-app')
  const hosts = [...new Set([...data.hosts.connect, ...data.hosts.load])].map((host) => host.replace(/^[a-z]+:\/\//, ''))
  const say = () => {
    const names = hosts.length > 2 ? some(hosts.length, 'host') : hosts.join(', ')
    parts.reach.textContent = !hosts.length ? 'no files, no network' : data.allowed ? `no files, reaches ${names}` : `no files, no network; asks for ${names}`
    parts.reach.title = hosts.join('\n')
    parts.allow.hidden = !hosts.length || data.allowed
  }
  const deny = (names, again) => {
    parts.denied.hidden = parts.again.hidden = false
    parts.denied.textContent = `${names.length > 2 ? some(names.length, 'tool') : names.map(plain).join(' and ')} denied`
    parts.denied.title = names.map(plain).join('\n')
    parts.again.onclick = () => { parts.denied.hidden = parts.again.hidden = true; again() }
  }
  const start = () => draw(box, of, data, (why, begun) => without(begun ? `${data.server}’ page was stopped: ${why}` : `${data.server}’ page did not start`), deny)
  parts.server.textContent = data.server
  box.setAttribute('aria-label', `Drawn by ${data.server}`)
  parts.allow.addEventListener('click', () => post(path(`/outputs/${of}/app/hosts`)).then(() => {
    data.allowed = true
    parts.denied.hidden = parts.again.hidden = true
    say()
    start()
  }).catch(failed))
  say()
  root.replaceChildren(box)
  start()
}
