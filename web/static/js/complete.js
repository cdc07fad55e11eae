// What the menu offers while one types: commands after /, paths after @ and
// after /show and /image.

import { look, offered } from './abilities.js'
import { filesLike } from './api.js'
import { commands } from './commands.js'
import { at as name } from './mentions.js'
import * as menu from './menu.js'

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
    // A folder is meant itself, too: with its name in the field, Enter takes that, and Tab goes into it.
    const folder = q && q.replace(/\/?$/, '/')
    menu.open(names.slice(0, 12).map((f, i) => ({ label: f, value: f, same: wrap(f) === q || (!i && folder && (folder === './' || f.startsWith(folder))) })), field, (item) => replaceWord(field, from, wrap(item.value)))
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
    if (before === '/') look().then((news) => { if (news && field.value.slice(0, field.selectionEnd) === '/') suggest(field) }, () => {}) // without it our own are offered
    const theirs = offered()
    const ours = commands.filter((c) => !theirs.some((t) => t.does && t.name === c.name))
    const fits = [...ours, ...theirs.filter((t) => !ours.some((c) => c.name === t.name))].filter((c) => c.name.startsWith(before.toLowerCase()))
    return menu.open(fits.map((c) => ({ label: c.name, note: c.what, icon: c.icon, free: c.free, end: c.end, same: c.name === before && !c.hint, value: c })), field,
      (item) => replaceWord(field, 0, item.value.hint ? `${item.value.name} ` : item.value.name))
  }
  const shown = /^\/(?:show|image)\s+(\S*)$/i.exec(before)
  if (shown) return files(field, shown[1], before.length - shown[1].length, (p) => p)
  const at = /(?:^|\s)@(\S*)$/.exec(before)
  if (at) return files(field, at[1], before.length - at[1].length - 1, (p) => `${name(p)} `)
  forget()
  menu.close()
}
