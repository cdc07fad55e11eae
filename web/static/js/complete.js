// What the menu offers while one types: commands after /, paths after @ and
// after /show and /image, models and backends from the picker.

import { getJSON, patch, path, session } from './api.js'
import { commands } from './commands.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

let asking = null

function replaceWord(field, from, text) {
  field.setRangeText(text, from, field.selectionEnd, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

async function files(field, q, from, wrap) {
  asking?.abort()
  asking = new AbortController()
  try {
    const found = await getJSON(`/api/files?q=${encodeURIComponent(q)}`, { signal: asking.signal })
    const list = (found.files ?? found).slice(0, 12)
    menu.open(list.map((f) => ({ label: f.path ?? f, value: f.path ?? f })), field, (item) => replaceWord(field, from, wrap(item.value)))
  } catch (err) {
    if (err.name !== 'AbortError') menu.close()
  }
}

/** Looks at the word before the caret and opens, changes or closes the menu. */
export function suggest(field) {
  const before = field.value.slice(0, field.selectionEnd)
  const command = /^\/(\S*)$/.exec(before)
  if (command && !before.startsWith('//')) {
    const fits = commands.filter((c) => c.name.startsWith(before.toLowerCase()))
    return menu.open(fits.map((c) => ({ label: `${c.name} ${c.hint}`.trim(), note: c.what, free: c.free, value: c })), field,
      (item) => replaceWord(field, 0, item.value.hint ? `${item.value.name} ` : item.value.name))
  }
  const shown = /^\/(?:show|image)\s+(\S*)$/i.exec(before)
  if (shown) return files(field, shown[1], before.length - shown[1].length, (p) => p)
  const at = /(?:^|\s)@(\S*)$/.exec(before)
  if (at) return files(field, at[1], before.length - at[1].length - 1, (p) => `@${p} `)
  asking?.abort()
  menu.close()
}

/** The picker: backends for a session to come, models for the present one. */
export async function pick(field, composer) {
  try {
    if (!session()) {
      const list = await getJSON('/api/backends')
      const usable = (list.backends ?? list).filter((b) => b.available)
      return menu.open(usable.map((b) => ({ label: b.name, note: b.version, value: b.name })), field, (item) => {
        composer.dataset.backend = item.value
        document.getElementById('pick-backend').textContent = item.value
      })
    }
    const list = await getJSON(`/api/models?backend=${encodeURIComponent(composer.dataset.backend)}`)
    const models = list.models ?? list
    if (!models.length) return menu.open([{ label: composer.dataset.backend, note: 'has no models to choose from', value: null }], field, () => {})
    menu.open(models.map((m) => ({ label: m.id, note: m.name === m.id ? '' : m.name, value: m.id })), field,
      (item) => patch(path(), { model: item.value }).catch(failed))
  } catch (err) { failed(err) }
}
