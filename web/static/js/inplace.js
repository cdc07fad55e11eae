// A file that was read again is drawn with what changed in its place: new lines have a tint and an edge,
// the old ones are folded above them. The line one reads stays at its height on the screen. A line
// above the rows says when the file was shown, and changed by whom.

import { clone, some } from './html.js'
import { ask, rowsOf } from './reading.js'
import { choose, selection } from './select.js'
import { tabOf } from './tabs.js'
import { failed } from './toast.js'
import { rowHeight, viewerOf } from './viewer.js'

const most = 8 // comparisons that are kept
const known = new Map() // "was now" → runs of lines that differ; null: too many
const states = new WeakMap() // pane → {was, runs}

/** The revisions of the file of a pane that can be read, oldest first; the last is the pane's. */
const revisions = (pane) => (pane.dataset.revisions ?? '').split(';').filter(Boolean).map((text) => {
  const [out, at, by] = text.split(' ')
  return { out, at, by }
})

const numberIn = (row, i) => Number(row.querySelectorAll(':scope > .ln')[i]?.textContent || 0)

/** Rows of a comparison as runs: {line, fresh, old, open}; line is that of the newer text which the run begins at. */
function read(html) {
  const runs = []
  let run = null
  let last = 0 // line of the newer text
  for (const row of html.children) {
    if (row.matches('.del, .add')) {
      run ??= { line: last + 1, fresh: [], old: [], open: false }
      if (row.matches('.del')) run.old.push(row)
      else run.fresh.push(last = numberIn(row, 1))
      continue
    }
    if (run) runs.push(run)
    run = null
    last = row.dataset.lines ? Number(row.dataset.lines.split('-')[1]) : numberIn(row, 1) || last
  }
  return run ? [...runs, run] : runs
}

async function differ(pane, was, now) {
  const key = `${was} ${now}`
  if (!known.has(key)) {
    const { html, to, total } = await ask(pane, 'diff', 1, rowsOf('diff'), { of: now, extra: `&with=${was}` })
    known.set(key, to < total ? null : read(html))
    if (known.size > most) known.delete(known.keys().next().value)
  }
  return known.get(key)
}

/** Where a line of the older text stands in the newer one; exact: it is the same. */
function carried(runs, n) {
  let by = 0
  for (const { line, fresh, old } of runs) {
    const at = line - by // in the older text
    if (n < at) break
    if (n < at + old.length) return { n: line + Math.max(0, Math.min(n - at, fresh.length - 1)), exact: false }
    by += fresh.length - old.length
  }
  return { n: n + by, exact: true }
}

/** Learns what changed before a pane is drawn again as output now, and where one reads. */
export async function expect(pane, now) {
  const tab = tabOf(pane.dataset.key)
  if (!pane.dataset.revisions) return // too long to be compared
  const runs = await differ(pane, pane.dataset.output, now).catch(() => null) // it is drawn without
  const v = viewerOf(pane)
  if (!runs || !v?.viewHeight || v.only) return
  const row = Math.floor(v.pos)
  const line = v.lineAt(row)
  tab.reads = { was: pane.dataset.output, now, line, off: v.pos - v.place(line), top: v.code.getBoundingClientRect().top, chosen: selection(pane), lent: new Map([...v.rows.children].map((el) => [v.numberOf(el), el.cloneNode(true)])) }
}

/** The row above old lines, which it shows and hides. */
function fold(pane, run) {
  const { root, parts } = clone('tpl-was')
  const { at } = revisions(pane).at(-1) // when they became others
  const say = () => {
    parts.words.textContent = `${some(run.old.length, 'line')} before${run.open ? `, until ${at}` : ''}`
    root.setAttribute('aria-expanded', String(run.open))
  }
  say()
  const toggle = () => {
    run.open = !run.open
    say()
    put(pane)
    root.focus({ preventScroll: true })
  }
  root.addEventListener('click', toggle)
  root.addEventListener('keydown', (e) => {
    if (e.key !== 'Enter') return
    e.preventDefault()
    e.stopPropagation()
    toggle()
  })
  return root
}

function old(row) {
  const el = row.cloneNode(true)
  el.querySelectorAll(':scope > :is(.ln + .ln, .sg)').forEach((x) => x.remove())
  el.className = 'line was'
  return el
}

function put(pane) {
  const { runs, heads } = states.get(pane)
  const v = viewerOf(pane)
  const list = runs.filter((run) => run.old.length)
  v.insert(list.map((run) => ({ line: run.line, rows: [heads.get(run), ...(run.open ? run.old.map(old) : [])] })), new Set(runs.flatMap((run) => run.fresh)))
}

function apply(pane, runs) {
  const tab = tabOf(pane.dataset.key)
  const v = viewerOf(pane)
  if (!v || v.gap || v.only || !runs) return
  if (tab.reads?.now !== pane.dataset.output) tab.reads = null
  const was = tab.reads // stays until one scrolls: the pane may be drawn once more
  states.set(pane, { runs, heads: new Map(runs.map((run) => [run, fold(pane, run)])) })
  put(pane)
  const numbers = runs.flatMap((run) => run.fresh)
  pane.dataset.fresh = numbers.join(' ')
  delete pane.dataset.changed
  const bar = pane.querySelector('.timeline [data-part=sum]')
  if (bar) {
    const sign = (name, text) => Object.assign(document.createElement('span'), { className: name, textContent: text })
    bar.replaceChildren(sign('plus', `+${numbers.length.toLocaleString('en')} `), sign('minus', `−${runs.reduce((n, run) => n + run.old.length, 0).toLocaleString('en')}`))
  }
  if (!was) return
  for (const [n, row] of was.lent) {
    const to = carried(runs, n)
    if (n && to.exact) v.stand(to.n, row)
  }
  v.move(v.place(carried(runs, was.line).n) + was.off + (v.code.getBoundingClientRect().top - was.top) / rowHeight())
  if (was.chosen && !was.drawn) choose(pane, carried(runs, was.chosen.from).n, carried(runs, was.chosen.to).n)
  was.drawn = true
}

/** Draws the changes since a revision in a pane. */
async function since(pane, was) {
  const now = pane.dataset.output
  let between = false
  for (const el of pane.querySelectorAll('.timeline [data-out]')) {
    el.setAttribute('aria-pressed', String(el.dataset.out === was || el.dataset.out === now))
    el.classList.toggle('is-between', between)
    between ||= el.dataset.out === was
  }
  const key = `${was} ${now}`
  const runs = known.has(key) ? known.get(key) : await differ(pane, was, now)
  if (pane.isConnected) apply(pane, runs)
}

function offer(pane) {
  const all = revisions(pane)
  if (all.length < 2 || !viewerOf(pane)) return
  const { root, parts } = clone('tpl-timeline')
  const disk = parts.stops.firstElementChild
  for (const { out, at, by } of all) {
    const { root: el, parts: { at: words } } = clone('tpl-stop')
    words.textContent = `${by} ${at}`
    el.dataset.out = out
    el.addEventListener('click', () => { if (out !== pane.dataset.output) since(pane, out).catch(failed) })
    disk.before(el)
  }
  disk.hidden = tabOf(pane.dataset.key)?.disk !== 'changed'
  root.addEventListener('click', (e) => {
    const act = e.target.closest('[data-act]')?.dataset.act
    if (act === 'fresh-next' || act === 'fresh-before') toFresh(pane, act === 'fresh-next' ? 1 : -1)
  })
  const note = pane.querySelector('.pane-note')
  if (note) note.hidden = true // the line says it
  pane.querySelector('.view').before(root)
  viewerOf(pane).fit()
  since(pane, all.at(-2).out).catch(failed)
}

/** The number of the first changed line, if a pane shows changes and all of them are out of view. */
export function unseen(pane) {
  const v = viewerOf(pane)
  const runs = states.get(pane)?.runs
  if (!runs?.length || v.code.hidden) return 0
  const { from, to } = v.seen
  return runs.some(({ line, fresh }) => line <= to && (fresh.at(-1) ?? line) >= from) ? 0 : runs[0].line
}

/** To the next change or the one before; false: the pane shows none in its rows. */
export function toFresh(pane, by) {
  const v = viewerOf(pane)
  const runs = states.get(pane)?.runs
  if (!runs?.length || v?.code.hidden) return false
  const middle = v.lineAt(Math.floor(v.pos + v.screen / 2))
  const next = by > 0 ? runs.find((run) => run.line > middle) ?? runs[0] : runs.findLast((run) => run.line < middle) ?? runs.at(-1)
  v.touch(v.place(next.line) - v.screen / 2)
  return true
}

export function inPlace() {
  document.addEventListener('webchat:pane', (e) => { if (e.target.dataset.state === 'done') offer(e.target) })
  document.addEventListener('webchat:touched', (e) => {
    e.target.classList.add('has-moved')
    const tab = tabOf(e.target.dataset.key)
    if (tab?.reads?.drawn) tab.reads = null
  })
}
