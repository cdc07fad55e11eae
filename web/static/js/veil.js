// What looks like a secret stands as dots, which the server puts there: the page does not have it. A
// click, Enter or Space on them asks for that row as it is, until the page is loaded again. What is
// copied or handed over has dots for the others.

import { get, getText } from './api.js'
import { fragment } from './html.js'
import { failed } from './toast.js'

const lifted = new Map() // output → numbers of its lines

/** Which lines of an output were lifted, as "3,7". */
export const liftedOf = (output) => [...lifted.get(output) ?? []].sort((a, b) => a - b).join(',')

/** The query for lines of an output as they are shown. */
export const asShown = (output, lines) => `lines=${lines}&veil=1${lifted.has(output) ? `&lifted=${liftedOf(output)}` : ''}`

function note(output, n) {
  if (!n) return
  if (!lifted.has(output)) lifted.set(output, new Set())
  lifted.get(output).add(n)
}

/** Puts the text of a line into its row. */
async function uncover(output, row, n) {
  const html = fragment(await getText(`/api/outputs/${output}?format=html&lines=${n}-${n}&veil=0`))
  const text = html.querySelector('.cl')
  if (text) row.querySelector('.cl').replaceWith(text)
}

/** Rows of an output that came again: those that were lifted stay so. */
export function keepLifted(output, row, n) {
  if (lifted.get(output)?.has(n) && row.querySelector('.veil')) uncover(output, row, n).catch(() => { /* it stays veiled */ })
}

const numberOf = (ln) => Number(ln?.getAttribute('href')?.slice(2) || ln?.textContent.replaceAll(',', '') || 0)

/** The row of a view in which dots stand, and what to ask for to get it alone. */
function place(dots) {
  const root = dots.closest('.other')
  const { shows: view, extra = '' } = root.dataset
  const li = dots.closest('li[data-at], li[data-step]')
  if (view === 'tree') {
    const { at } = li.parentElement.closest('li')?.dataset ?? {}
    return { row: li, view, from: [...li.parentElement.children].indexOf(li) + 1, extra: at ? `&at=${encodeURIComponent(at)}` : '' }
  }
  const row = view === 'table' ? dots.closest('tbody > tr') : [...root.children].find((el) => el.contains(dots))
  return { row, view, from: [...row.parentElement.children].indexOf(row) + 1, extra, pick: view === 'table' ? 'tbody > tr' : ':scope > *' }
}

async function liftInView(dots, pane) {
  const { output } = pane.dataset
  const { row, view, from, extra, pick = 'li' } = place(dots)
  if (view === 'diff') {
    const [old, now] = [...row.querySelectorAll(':scope > .ln')].map((ln) => Number(ln.textContent.replaceAll(',', '')))
    const of = row.matches('.del') ? dots.closest('.other').dataset.was : dots.closest('.other').dataset.now
    note(of, row.matches('.del') ? old : now)
    return uncover(of, row, row.matches('.del') ? old : now)
  }
  const reply = await get(`/api/outputs/${output}?format=html&view=${view}&from=${from}&rows=1${extra}&veil=0`)
  const html = fragment(await reply.text())
  const bare = pick === ':scope > *' ? html.firstElementChild : html.querySelector(pick)
  if (!bare) return null
  if (view === 'table' && numberOf(bare.querySelector('.ln')) !== numberOf(row.querySelector('.ln'))) throw new Error('The order or filter depends on what is hidden. Take it away to show this row.')
  note(output, view === 'hex' ? 0 : Number(bare.dataset.line ?? bare.dataset.lines?.split('-')[0] ?? numberOf(bare.querySelector('a.ln'))))
  return row.replaceWith(bare)
}

/** Lifts the veil of the row in which these dots stand. */
async function lift(dots) {
  const pane = dots.closest('[data-output]')
  if (!pane) return null
  if (dots.closest('.other')) return liftInView(dots, pane)
  const row = dots.closest('.line')
  const n = numberOf(row?.querySelector('.ln'))
  if (!n || !row.querySelector('a.ln')) return null
  await uncover(pane.dataset.output, row, n)
  note(pane.dataset.output, n)
  row.closest('.code')?.focus({ preventScroll: true })
  return null
}

export function veils() {
  document.addEventListener('click', (e) => {
    const dots = e.target.closest?.('.veil[role]')
    if (!dots) return
    e.preventDefault()
    e.stopPropagation()
    lift(dots).catch(failed)
  }, true)
  document.addEventListener('keydown', (e) => {
    if ((e.key !== 'Enter' && e.key !== ' ') || !e.target.matches?.('.veil[role]')) return
    e.preventDefault()
    e.stopPropagation()
    lift(e.target).catch(failed)
  }, true)
}
