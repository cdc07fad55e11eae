// What the menu offers while one types: commands after /, paths after @ and
// after /show and /image, models and backends from the picker.

import { filesLike, getJSON, patch, path, session } from './api.js'
import { commands } from './commands.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

let asking = null

function replaceWord(field, from, text) {
  field.setRangeText(text, from, field.selectionEnd, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

async function files(field, q, from, wrap) {
  forget()
  asking = new AbortController()
  const text = field.value
  try {
    const names = await filesLike(q, 20, { signal: asking.signal })
    if (field.value !== text) return // sent, or changed by other means than typing
    menu.open(names.slice(0, 12).map((f) => ({ label: f, value: f, same: wrap(f) === q })), field, (item) => replaceWord(field, from, wrap(item.value)))
  } catch (err) {
    if (err.name !== 'AbortError') menu.close()
  }
}

/** Lets go of a question under way, so that no menu opens when its answer comes. */
export function forget() { asking?.abort() }

/** Looks at the word before the caret and opens, changes or closes the menu. */
export function suggest(field) {
  const before = field.value.slice(0, field.selectionEnd)
  const command = /^\/(\S*)$/.exec(before)
  if (command && !before.startsWith('//')) {
    const fits = commands.filter((c) => c.name.startsWith(before.toLowerCase()))
    return menu.open(fits.map((c) => ({ label: c.name, note: c.what, icon: c.icon, free: c.free, end: c.end, same: c.name === before && !c.hint, value: c })), field,
      (item) => replaceWord(field, 0, item.value.hint ? `${item.value.name} ` : item.value.name))
  }
  const shown = /^\/(?:show|image)\s+(\S*)$/i.exec(before)
  if (shown) return files(field, shown[1], before.length - shown[1].length, (p) => p)
  const at = /(?:^|\s)@(\S*)$/.exec(before)
  if (at) return files(field, at[1], before.length - at[1].length - 1, (p) => `@${p} `)
  forget()
  menu.close()
}

const nothing = { note: 'has no models to choose from', same: true }

/** Offers the models of a backend; onTake gets the name of one. */
async function models(field, backend, onTake) {
  const list = await getJSON(`/api/models?backend=${encodeURIComponent(backend)}`)
  const items = list.map((m) => ({ label: m.id, note: m.name === m.id ? '' : m.name, icon: 'chip', value: m.id }))
  return { items, open: () => menu.open(items.length ? items : [{ label: backend, icon: 'chip', ...nothing }], field, (item) => item.value && onTake(item.value)) }
}

/** The picker: who answers a session to come, and by which model; later the model only. */
export async function pick(field, composer) {
  field.focus() // it has the keys of the menu
  try {
    if (session()) return (await models(field, composer.dataset.backend, (model) => patch(path(), { model }).catch(failed))).open()
    const list = (await getJSON('/api/backends')).filter((b) => b.available)
    menu.open(list.map((b) => ({ label: b.name, note: b.version, icon: 'chip', value: b.name })), field, async ({ value }) => {
      use(composer, value)
      const its = await models(field, value, (model) => use(composer, value, model)).catch(failed)
      if (its?.items.length) its.open()
    })
  } catch (err) { failed(err) }
}

/** Chooses who answers the session that this page will make. */
export function use(composer, backend, model = '') {
  composer.dataset.backend = backend
  composer.dataset.model = model
  document.getElementById('pick-backend').textContent = backend
  document.getElementById('pick-model').textContent = model || (composer.dataset.noModel.split(' ').includes(backend) ? 'no model' : 'the default model')
  const field = document.getElementById('prompt')
  field.placeholder = composer.dataset.noModel.split(' ').includes(backend) ? field.dataset.freeWords : field.dataset.modelWords
}
