// The picker: who answers a session to come, and by which model; in a session its
// agent's mode, model and effort, and other agents, with what each lacks.

import { folder, getJSON, patch, path, post, session, upload } from './api.js'
import { forNext } from './attach.js'
import { visit } from './base.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

const agents = async (signal) => (await getJSON('/api/backends', { signal })).filter((b) => b.available)
const account = (b) => b?.account && `signed in as ${b.account}`
const about = (b) => [b.version, account(b), ...(b.lacks ?? [])].filter(Boolean).join(', ')
const named = (m) => ({ label: m.name || m.id, note: m.about ?? (m.name === m.id ? '' : m.id), icon: 'chip' })

/** Opens the picker for a field. */
export async function pick(field, composer) {
  field.focus() // it has the keys of the menu
  try { await (session() ? within(field, composer) : before(field, composer)) } catch (err) { failed(err) }
}

/** What leads to a model where no agent has one: the start page, which says how. */
const leadsOn = (composer, list) => (list.every((b) => composer.dataset.noModel.split(' ').includes(b.name))
  ? [{ label: 'Connect a model', note: 'GitHub Copilot, Claude Code, your endpoint, Ollama', icon: 'plus', take: connect }] : [])

function connect() {
  const here = document.querySelector('#hello:not([hidden]) [data-connect] [aria-checked=true]')
  if (here) here.focus()
  else visit('/')
}

/** Before a session: an agent, then one of its models. */
function before(field, composer) {
  const all = async (signal) => {
    const list = await agents(signal)
    return [...list.map((b) => ({ label: b.name, note: about(b), icon: 'chip', group: 'Agent', value: b.name })), ...leadsOn(composer, list)]
  }
  return menu.ask(all, field, ({ value, take }) => {
    if (take) return take()
    use(composer, value)
    const its = async (signal) => (await getJSON(`/api/models?backend=${encodeURIComponent(value)}`, { signal })).map((m) => ({ ...named(m), group: 'Model', value: m.id }))
    return menu.ask(its, field, (item) => use(composer, value, item.value)).catch(failed)
  })
}

/** In a session: what its agent lets choose, then the other agents. */
const within = (field, composer) => menu.ask((signal) => choices(field, composer, signal), field, (item) => Promise.resolve(item.take?.()).catch(failed))

async function choices(field, composer, signal) {
  const [c, others] = await Promise.all([getJSON(path('/choices'), { signal }), agents(signal)])
  const group = (list, heading, now, key) => list.map((m) => ({ ...named(m), group: heading, end: m.id === now ? 'now' : '', take: () => patch(path(), { [key]: m.id }) }))
  const items = [
    ...group(c.modes.map((m) => (m.unasked ? { ...m, about: `acts without asking you. ${m.about ?? ''}` } : m)), 'Mode', c.mode, 'mode'),
    ...group(c.models, 'Model', c.model, 'model'),
    ...group(c.efforts, 'Effort', c.effort, 'effort'),
    ...others.filter((b) => b.name !== composer.dataset.backend).map((b) => ({ label: b.name, note: about(b), icon: 'chip', group: 'Another agent', take: () => branch(field, b) })),
    ...leadsOn(composer, others),
  ]
  const who = account(others.find((b) => b.name === composer.dataset.backend))
  if (who) items.push({ label: composer.dataset.backend, note: who, icon: 'chip', group: 'This agent' })
  if (!items.length) items.push({ label: composer.dataset.backend, note: 'has no models to choose from', icon: 'chip' })
  return items
}

/** Chooses who answers the session that this page will make. */
export function use(composer, backend, model = '') {
  composer.dataset.backend = backend
  composer.dataset.model = model
  const name = document.getElementById('pick-backend')
  const modelless = composer.dataset.noModel.split(' ').includes(backend)
  name.textContent = backend
  name.parentElement.hidden = modelless
  document.getElementById('pick-model').textContent = model || (modelless ? 'No model' : 'the default model')
  document.getElementById('stays')?.toggleAttribute('hidden', modelless)
  const field = document.getElementById('prompt')
  field.placeholder = modelless ? field.dataset.freeWords : field.dataset.modelWords
}

/** Says what another agent means, and does it once that is chosen. */
const branch = (field, b) => menu.ask(async () => {
  const text = await said()
  const cost = Math.ceil(text.length / 4)
  return [
    { label: `Begin a branch with ${b.name}`, note: `a new session; the text of this one goes with your first prompt, about ${cost.toLocaleString('en')} tokens`, icon: 'chip', go: () => begin(b.name, text, cost) },
    { label: 'Stay', note: 'nothing changes', icon: 'left' },
  ]
}, field, (item) => item.go?.().catch(failed))

/** The conversation of user and agent, without anything that was only shown. */
async function said() {
  const parts = []
  for (let after = 0; ;) {
    const { events, cursor } = await getJSON(path(`/events?limit=5000&after=${after}`))
    for (const { type, data } of events) {
      if (type === 'user.message') parts.push(`User: ${data.content}`)
      if (type === 'assistant.message' && data.content && !data.parentToolCallId) parts.push(`Agent: ${data.content}`)
    }
    if (!events.length || cursor === after) return parts.join('\n\n')
    after = cursor
  }
}

async function begin(backend, text, cost) {
  const title = document.getElementById('title').textContent.trim()
  const made = await post('/api/sessions', { workspace: folder() || undefined, backend, title: `${title.slice(0, 150)} (with ${backend})` })
  if (text) {
    const { id } = await upload(`/api/sessions/${made.id}/attachments`, new Blob([text], { type: 'text/plain' }))
    document.body.dataset.session = made.id
    forNext('the conversation so far', { id, name: 'the conversation so far' }, cost)
  }
  visit(`/sessions/${made.id}`)
}
