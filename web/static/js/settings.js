// Settings: what is kept in this browser changes at once; what agents may do and which servers they
// reach is asked of the server.

import { getJSON, post } from './api.js'
import { consent } from './consent.js'
import { choose as draw } from './dark.js'
import { enter } from './recognise.js'
import { muted } from './notify.js'
import { beside, turnOn } from './radio.js'
import { failed, toast } from './toast.js'

const dialog = document.getElementById('settings')
const part = (name) => dialog.querySelector(`[data-part=${name}]`)

/** How each stands, and what changes it. */
const kept = {
  theme: { now: () => localStorage.getItem('webchat.theme') ?? '', set: draw },
  enter,
  notify: { now: () => (globalThis.Notification?.permission === 'granted' ? muted.now() : 'off'), set: notify },
}

/** Asks the browser where it was not asked yet. */
async function notify(value) {
  muted.set(value)
  if (!value && globalThis.Notification?.permission === 'default') await Notification.requestPermission()
}

function show() {
  for (const group of dialog.querySelectorAll('[data-set]')) {
    const now = kept[group.dataset.set].now()
    for (const b of group.querySelectorAll('[role=radio]')) if (b.dataset.value === now) turnOn(b)
  }
  const words = part('notify')
  words.dataset.words ??= words.textContent
  words.textContent = globalThis.Notification?.permission === 'denied' ? 'Your browser blocks them for this address' : words.dataset.words
}

async function change(b) {
  await kept[b.parentElement.dataset.set].set(b.dataset.value)
  show()
}

const states = { ready: (s) => (s.tools.length ? s.tools.map((t) => t.shown).join(', ') : 'it has no tools'), changed: () => 'it has changed' }

/** The MCP servers; one that has changed waits to be allowed. */
async function servers() {
  const { servers: list } = await getJSON('/api/mcp')
  const rows = list.map((s) => {
    const li = document.createElement('li')
    const name = Object.assign(document.createElement('b'), { textContent: s.name })
    const about = Object.assign(document.createElement('span'), { className: 'ex', textContent: s.failure || states[s.state]?.(s) || 'does not answer' })
    li.append(name, about)
    if (s.state === 'changed') {
      const allow = Object.assign(document.createElement('button'), { type: 'button', className: 'btn', textContent: 'Allow' })
      allow.dataset.server = s.name
      li.append(allow)
    }
    return li
  })
  if (!rows.length) rows.push(Object.assign(document.createElement('li'), { className: 'ex', textContent: 'None: name them under mcpServers in the configuration file' }))
  part('servers').replaceChildren(...rows)
}

async function click(e) {
  const b = e.target.closest('button')
  if (b?.matches('[role=radio]')) return change(b)
  if (b?.dataset.act === 'set-consent') {
    dialog.close()
    return consent('permissions')
  }
  if (b?.dataset.act === 'set-copy') {
    await navigator.clipboard.writeText(part('file').textContent)
    return toast('Copied the path')
  }
  if (!b?.dataset.server) return null
  await post(`/api/mcp/${encodeURIComponent(b.dataset.server)}/allow`)
  return servers()
}

dialog?.addEventListener('click', (e) => { Promise.resolve(click(e)).catch(failed) })
dialog?.addEventListener('keydown', (e) => {
  const next = e.target.matches('[role=radio]') && beside(e.target, e.key)
  if (!next) return
  e.preventDefault()
  next.focus()
  change(next).catch(failed)
})

/** Opens them. */
export function openSettings() {
  show()
  dialog.showModal()
  servers().catch(failed)
}
