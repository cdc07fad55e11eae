// What a reader does with one change of a file: takes it back on disk, brings it back, or
// writes about it. What was taken back goes with the next prompt as a chip, which can be
// removed; nothing else of it reaches a model.

import { path, post } from './api.js'
import { announce } from './announce.js'
import { addLines } from './attach.js'
import { fill } from './composer.js'
import { at } from './mentions.js'
import { refresh } from './pane.js'
import { tabOf } from './tabs.js'

/** The lines of a change, as they are shown, and where they stand in the newer text. */
function read(rows) {
  const side = (name) => rows.filter((row) => row.matches(name)).map((row) => row.querySelector('.cl').textContent)
  const numbers = rows.flatMap((row) => [...row.querySelectorAll('.ln')].at(-1).textContent || []).map(Number)
  return { was: side('.del'), now: side('.add'), lines: numbers.length ? `${numbers[0]}${numbers.length > 1 ? `-${numbers.at(-1)}` : ''}` : '' }
}

/** What the model is sent of a change that was taken back. */
const words = (name, { was, now, lines }) => [`I took back a change in ${name}${lines ? `, at line ${lines}` : ''}. The file has these lines no longer:`,
  ...now.map((text) => `- ${text}`), 'and these again:', ...was.map((text) => `+ ${text}`), ''].join('\n')

/** Takes change n since the output with back, which rows show. */
export async function undo(pane, { n, with: was, rows }) {
  const tab = tabOf(pane.dataset.key)
  const before = pane.dataset.output
  const change = read(rows)
  const shown = await post(path(`/outputs/${before}/undo`), { with: was, undone: [n] })
  const label = `Undone in ${pane.dataset.base}${change.lines ? `:${change.lines.replace('-', '–')}` : ''}`
  const { remove } = await addLines({ label, name: `undone in ${pane.dataset.base}`, text: words(pane.dataset.name, change), icon: '#i-undo' })
  tab.undone = [...tab.undone ?? [], { before, with: was, remove }]
  announce('Undone. The file is as it was there')
  return follow(tab, shown)
}

/** Brings the change back that was taken back last. */
export async function bringBack(pane) {
  const tab = tabOf(pane.dataset.key)
  const last = tab.undone.at(-1)
  const shown = await post(path(`/outputs/${last.before}/undo`), { with: last.with, undone: [] })
  tab.undone.pop()
  last.remove()
  announce('The change is back')
  return follow(tab, shown)
}

/** Goes on to the output that stands in the place of the one before. */
function follow(tab, { output }) {
  if (!output) return null
  tab.out = output.id
  if (!tab.outs.includes(output.id)) tab.outs.push(output.id)
  return refresh(tab)
}

/** Begins to write about a change. */
export function comment(pane, rows) {
  const field = document.getElementById('prompt')
  const { lines } = read(rows)
  fill(`${field.value}${field.value && !/\s$/.test(field.value) ? '\n' : ''}${at(`${pane.dataset.name}${lines ? `:${lines}` : ''}`)} `)
}
