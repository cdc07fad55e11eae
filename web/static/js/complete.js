// What the menu offers while one types: commands after /, paths after @ and
// after /show and /image.

import { look, offered } from './abilities.js'
import { filesLike } from './api.js'
import { commands, groups } from './commands.js'
import { at as name } from './mentions.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

function replaceWord(field, from, text) {
  field.setRangeText(text, from, field.selectionEnd, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

function files(field, q, from, wrap) {
  const find = async (signal) => {
    const theirs = /^[^/\s]+:/.test(q) && field.value[from] === '@' ? await import('./servertexts.js').then((m) => m.resources(q, signal)).catch(() => []) : []
    if (theirs.length) return theirs
    const { files: list, secret } = await filesLike(q, 20, { signal })
    return list.slice(0, 12).map((f) => (secret?.includes(f) ? { label: f, icon: 'key', end: 'may hold secrets' } : { label: f }))
  }
  menu.ask(find, field, (item) => {
    replaceWord(field, from, item.attach ? '' : wrap(item.label))
    item.attach?.(field).catch(failed)
  }).catch(() => {}) // one can type the name
}

/** Offers the commands that begin with what is typed. more: their agent's have come. */
function offer(field, typed, more) {
  const theirs = offered()
  const ours = commands.filter((c) => !theirs.some((t) => t.does && t.name === c.name))
  const all = [...ours, ...theirs.filter((t) => !ours.some((c) => c.name === t.name)).map((c) => ({ ...c, group: 'agent' }))].filter((c) => c.name.toLowerCase().startsWith(typed.toLowerCase()))
  const fits = Object.keys(groups).flatMap((group) => all.filter((c) => c.group === group))
  menu.open(fits.map((c) => ({ label: c.name, note: c.what, icon: c.icon, end: c.end, value: c, whole: !c.hint || c.group === 'agent', group: groups[c.group], cost: c.group === 'free' ? '0 tokens' : '' })), field,
    (item) => replaceWord(field, 0, item.value.hint ? `${item.value.name} ` : item.value.name), { more, first: typed.toLowerCase() })
}

/** Looks at the word before the caret and opens, changes or closes the menu. */
export function suggest(field) {
  const before = field.value.slice(0, field.selectionEnd)
  const [asks] = /^\/\S+:\S+(?=\n)/.exec(before) ?? []
  if (asks) {
    const c = offered().find((known) => known.name === asks)
    return c ? c.values?.(field) : look().then((news) => news && suggest(field), () => {}) // one can type what it asks for
  }
  const command = /^\/(\S*)$/.exec(before)
  if (command && !before.startsWith('//')) {
    if (before === '/') look().then((news) => { if (news && menu.isOpen() && field.value.slice(0, field.selectionEnd) === '/') offer(field, before, true) }, () => {}) // without it our own are offered
    return offer(field, before)
  }
  const shown = /^\/(?:show|image)\s+(\S*)$/i.exec(before)
  if (shown) return files(field, shown[1], before.length - shown[1].length, (p) => p)
  const at = /(?:^|\s)@(\S*)$/.exec(before)
  if (at) return files(field, at[1], before.length - at[1].length - 1, (p) => `${name(p)} `)
  menu.close()
}
