// Files that a prompt names, as in @main.go:10-40: a chip says for each what goes with
// the prompt and what that costs. The content goes, or only the name; of a file that may
// hold secrets the content goes only after a second click.

import { add } from './attach.js'
import { folder, getJSON } from './api.js'
import { range } from './commands.js'

const wait = 150 // milliseconds after the last key
const life = 2000 // milliseconds that an answer holds
const answers = new Map() // what was typed → the server's answer; null: there is no such file
const chips = new Map() // what was typed → {remove, root, parts, found, content}
const off = new Set() // what stays text
const field = document.getElementById('prompt')
/** When names are looked for. */
const soon = {
  timer: 0,
}

/** A path as a prompt names it. */
export const at = (path) => (/\s/.test(path) ? `@"${path}"` : `@${path}`)

/** What stands behind each @ of a text. */
const named = (text) => [...new Set([...text.matchAll(/(?:^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g)].map((m) => m[1] ?? m[2]))]

/** Whether a text names what an attachment is of. */
export const names = (text, { path }) => Boolean(path) && named(text).some((word) => range(plain(word)).path.replace(/^\.\//, '').replace(/\/$/, '') === path.replace(/\/$/, ''))

const plain = (word) => word.replace(/[.,;:!?)]+$/, '')

/** Asks what words name; the end of a sentence is not part of a name. */
async function look(words) {
  const fresh = words.filter((word) => !answers.has(word))
  if (!fresh.length) return
  const asked = new Set(fresh.flatMap((word) => [word, plain(word)]).filter(Boolean))
  const { files } = await getJSON(`/api/files/price?workspace=${encodeURIComponent(folder())}${[...asked].slice(0, 100).map((word) => `&name=${encodeURIComponent(word)}`).join('')}`)
  for (const word of fresh) {
    answers.set(word, files[word] ?? files[plain(word)] ?? null)
    setTimeout(() => answers.delete(word), life) // by then the file may have changed
  }
}

const label = ({ path, lines }) => `${path}${lines ? `:${lines.replace('-', '–')}` : ''}`

function paint(chip) {
  const { root, parts, found, content } = chip
  const price = `${found.estimated ? '≈ ' : ''}${found.tokens?.toLocaleString('en')}`
  root.classList.toggle('cost', content)
  if (content && found.tokens) root.dataset.cost = found.tokens
  else delete root.dataset.cost
  root.title = found.refused ?? found.why ?? ''
  root.querySelector('use').setAttribute('href', content ? '#i-read' : '#i-eye')
  parts.tokens.textContent = content ? `${price} token${found.tokens === 1 ? '' : 's'}` : found.refused ? 'no such lines' : found.sensitive ? `${found.looks || 'may hold secrets'}: name only` : ''
  parts.tokens.hidden = !parts.tokens.textContent
  parts.way.hidden = found.what === 'other'
  parts.way.textContent = content ? 'Just its name' : found.sensitive ? `Send it +${price}` : `Content +${price}`
  root.dispatchEvent(new Event('change', { bubbles: true }))
}

function put(word, found) {
  const chip = { found, content: found.what !== 'other' && !found.sensitive }
  const attachment = () => {
    const { path, lines, sensitive } = chip.found
    return { path, lines: lines || undefined, mention: (!chip.content && !chip.found.refused) || undefined, sensitive: (chip.content && sensitive) || undefined }
  }
  chips.set(word, chip)
  chip.remove = add(label(found), attachment, {
    onRemove: () => { chips.delete(word) },
    dress: (root, parts) => {
      Object.assign(chip, { root, parts })
      root.querySelector('[data-act=unchip]').addEventListener('click', () => off.add(word))
      parts.way.addEventListener('click', () => { chip.content = !chip.content; paint(chip); field.focus() })
    },
  })
  paint(chip)
}

/** Makes the chips those of what the field names. */
function sync() {
  const words = named(field.value)
  for (const word of off) if (!words.includes(word)) off.delete(word)
  for (const [word, chip] of chips) if (!words.includes(word)) chip.remove()
  const shown = new Set([...chips.values()].map(({ found }) => label(found)))
  for (const word of words) {
    const found = answers.get(word)
    const chip = chips.get(word)
    if (chip && found && chip.found !== found) { // the file may be another one now
      const allowed = found.what !== 'other' && (!found.sensitive || chip.found.sensitive)
      paint(Object.assign(chip, { found, content: chip.content && allowed }))
    }
    if (!found || off.has(word) || chip || shown.has(label(found))) continue
    shown.add(label(found))
    put(word, found)
  }
}

/** Waits until it is known what the field names. */
export async function settle() {
  clearTimeout(soon.timer)
  await look(named(field.value))
  sync()
}

/** Looks a moment after the field changed. */
export function mentioned() {
  clearTimeout(soon.timer)
  if (!chips.size && !off.size && !field.value.includes('@')) return
  soon.timer = setTimeout(() => settle().catch(() => {}), wait) // when it is sent, an error is shown
}
