// A table: a click on a column sorts falling, rising, not at all; what is typed above
// it becomes a filter, and the rows that are left can be handed over.

import { clone, some } from './html.js'
import { scope } from './give.js'
import { ask } from './reading.js'
import { failed } from './toast.js'

const most = 1000 // rows whose lines are handed over one by one

const tests = [
  [/^(?:is empty|empty)$/i, 'empty', 'is empty'], [/^(?:is filled|filled|is not empty)$/i, 'filled', 'is filled'],
  [/^(?:is not\s|not\s|!=)\s*(.+)$/i, 'not', 'is not'], 
  [/^(?:starts with|starts)\s+(.*)$/i, 'starts', 'starts with'], [/^(?:ends with|ends)\s+(.*)$/i, 'ends', 'ends with'],
  [/^(?:has|contains)\s+(.+)$/i, 'has', 'has'], [/^(?:matches|~)\s*(.*)$/i, 'matches', 'matches'],
  [/^(?:above|over|>)\s*(.*)$/i, 'above', 'above'], [/^(?:below|under|<)\s*(.*)$/i, 'below', 'below'], [/^(?:is\s|=)\s*(.+)$/i, 'is', 'is'],
]

/** What a filter means: {query, words}. "region starts with eu" is of a column, all else is looked for in every cell. */
export function parseFilter(text, columns) {
  const lower = text.toLowerCase()
  const found = columns.map((name, i) => [name, i + 1]).filter(([name]) => name && lower.startsWith(name.toLowerCase()))
    .sort((a, b) => b[0].length - a[0].length)[0]
  const rest = found && text.slice(found[0].length).trim()
  if (rest) {
    for (const [form, test, words] of tests) {
      const m = form.exec(rest)
      if (m) return { query: `${found[1]}:${test}:${m[1] ?? ''}`, words: `${found[0]} ${words}${m[1] ? ` ${m[1]}` : ''}` }
    }
  }
  return { query: text, words: text }
}

const columnsOf = (root) => [...root.querySelectorAll('th[data-col]')].map((th) => th.textContent)

export function table(state) {
  const { pane, root } = state
  const { root: bar, parts } = clone('tpl-table')
  pane.querySelector('.view').before(bar)
  Object.assign(state, { bar, parts, filters: [], sort: '' })
  const again = () => {
    state.extra = (state.at ? `&at=${state.at}` : '') + state.filters.map((f) => `&filter=${encodeURIComponent(f.query)}`).join('') + (state.sort ? `&sort=${state.sort}` : '')
    state.load().catch((err) => {
      if (err.status !== 400 || !state.filters.length) return failed(err)
      take(state, state.filters.at(-1)) // one that cannot be used
      failed(err)
      return again()
    })
  }
  bar.querySelector('form').addEventListener('submit', (e) => {
    e.preventDefault()
    const input = bar.querySelector('input')
    if (!input.value.trim()) return
    put(state, parseFilter(input.value.trim(), columnsOf(root)), again)
    input.value = ''
    again()
  })
  bar.addEventListener('keydown', (e) => {
    const { target } = e
    e.stopPropagation()
    if (e.key === 'Backspace' && target.value === '' && state.filters.length) {
      take(state, state.filters.at(-1))
      again()
    } else if (e.key === 'Escape') root.focus({ preventScroll: true })
  })
  root.addEventListener('click', (e) => {
    const th = e.target.closest('th[data-col]')
    if (!th) return
    const { col } = th.dataset
    state.sort = { '': `-${col}`, [`-${col}`]: col, [col]: '' }[state.sort] ?? `-${col}`
    state.name = th.textContent
    state.back = col
    again()
  })
  parts.tables.addEventListener('change', () => {
    for (const f of state.filters) take(state, f)
    state.sort = ''
    state.at = parts.tables.value
    again()
  })
  root.addEventListener('scroll', () => { if (state.filters.length) soon(state) }, { passive: true })
  state.loaded = () => loaded(state)
}

function put(state, filter, again) {
  const { root, parts } = clone('tpl-filter')
  parts.words.textContent = filter.words
  const remove = root.querySelector('button')
  remove.setAttribute('aria-label', `Remove the filter ${filter.words}`)
  remove.addEventListener('click', () => { take(state, filter); again() })
  filter.chip = root
  state.filters.push(filter)
  state.parts.chips.append(root)
}

function take(state, filter) {
  state.filters = state.filters.filter((f) => f !== filter)
  filter.chip.remove()
}

/** Says how many rows are left, and how they are sorted. The heads of columns become buttons. */
function loaded(state) {
  const { pane, head, total } = state
  const list = state.root.querySelector('.tables')
  if (list) choices(state.parts.tables, list)
  for (const th of state.root.querySelectorAll('th[data-col]:not(:has(button))')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...th.childNodes)
    th.append(button)
  }
  const records = Number(head.get('Webchat-Records'))
  state.parts.count.textContent = `${total < records ? `${total.toLocaleString('en')} of ` : ''}${some(records, 'row')} × ${some(columnsOf(state.root).length, 'column')}`
  pane.dataset.where = state.sort ? `By ${state.name}, ${state.sort.startsWith('-') ? 'largest' : 'smallest'} first` : ''
  if (state.back) state.root.querySelector(`th[data-col="${state.back}"] button`)?.focus({ preventScroll: true })
  state.back = ''
  offer(state).catch(failed)
}

/** The tables of a database are chosen above the rows of one. */
function choices(select, list) {
  list.remove()
  if (!select.hidden) return
  select.append(...[...list.children].map((li) => new Option(li.textContent, li.dataset.at)))
  select.hidden = false
}

function soon(state) {
  if (state.total <= most) return
  clearTimeout(state.wait)
  state.wait = setTimeout(() => offer(state).catch(failed), 200)
}

const linesOf = (rows) => [...rows].map((tr) => tr.querySelector('.ln').textContent).map(Number).sort((a, b) => a - b)

/** What can be handed over: the rows that the filters leave, or of many those on the screen. */
async function offer(state) {
  const { pane, root, filters, total } = state
  if (!filters.length || !state.parts.tables.hidden) return scope(pane, null) // of a database there are no lines to hand over
  let numbers = []
  if (total > 0 && total <= most) {
    const only = filters.map((f) => `&filter=${encodeURIComponent(f.query)}`).join('')
    numbers = linesOf((await ask(pane, 'table', 1, most, { extra: only })).html.querySelectorAll('tbody > tr'))
  }
  if (state.filters !== filters) return null
  if (numbers.length === total && total) return scope(pane, { words: some(total, 'row'), lines: numbers })
  const { top, bottom } = root.getBoundingClientRect()
  const seen = [...root.querySelectorAll('tbody > tr')].filter((tr) => { const r = tr.getBoundingClientRect(); return r.bottom > top + 32 && r.top < bottom })
  return scope(pane, seen.length ? { words: seen.length === 1 ? 'the row in view' : `the ${some(seen.length, 'row')} in view`, lines: linesOf(seen) } : null)
}
