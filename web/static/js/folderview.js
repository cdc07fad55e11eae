// The names in a folder, below the way up: arrows go through them, Enter opens one, and the
// heads of the columns sort them as those of a table do. Those in an archive are only listed.

import { display } from './display.js'
import { clone } from './html.js'
import { iconOf } from './tabs.js'
import { failed } from './toast.js'

const columns = { 1: 'name', 2: 'size', 3: 'time' }
const ends = { 1: ['Z to A', 'A to Z'], 2: ['largest first', 'smallest first'], 3: ['newest first', 'oldest first'] }

/** Makes the view of a folder of state, as paneviews.js has it. */
export function folder(state) {
  const { root, pane } = state
  const { root: head } = clone('tpl-entries')
  state.into = document.createElement('div')
  root.append(head, ...(above(pane) ? [up()] : []), state.into)
  let sort = ''
  state.loaded = () => {
    for (const row of state.into.querySelectorAll('.entry:not([role])')) dress(row)
  }
  head.addEventListener('click', (e) => {
    const col = e.target.closest('[data-sort]')?.dataset.sort
    if (!col) return
    sort = { '': col, [col]: `-${col}` }[sort] ?? (sort === `-${col}` ? '' : col)
    state.extra = sort && `&sort=${sort}`
    for (const b of head.querySelectorAll('[data-sort]')) b.dataset.order = b.dataset.sort === sort ? 'rising' : `-${b.dataset.sort}` === sort ? 'falling' : ''
    pane.dataset.where = sort ? `By ${columns[col]}, ${ends[col][sort.startsWith('-') ? 0 : 1]}` : ''
    pane.querySelector('.dfoot [data-at]').textContent = pane.dataset.where
    state.load().then(() => root.scrollTo({ top: 0 })).catch(failed)
  })
  root.addEventListener('click', (e) => {
    const row = e.target.closest('.entry:not(.member)')
    if (row) open(pane, row).catch(failed)
  })
  root.addEventListener('keydown', keydown)
}

/** The folder that holds the one of a pane; none above the workspace, and none of an archive. */
function above({ dataset: { name, base } }) {
  if (!base.endsWith('/') || name === '.' || /^(?:\/|\.\.|[A-Za-z]:)/.test(name)) return ''
  return name.replace(/\/?[^/]*\/?$/, '') || '.'
}

/** The row that leads there. */
function up() {
  const { root } = clone('tpl-up')
  dress(root)
  return root
}

/** A row is a link, with the mark of what it names in the place of its number. */
function dress(row) {
  const name = row.querySelector('.cl').textContent
  const { root } = clone('tpl-entry-icon')
  root.querySelector('use').setAttribute('href', `#i-${row.matches('.dir') ? 'folder' : row.matches('.link') ? 'open' : iconOf('', name)}`)
  row.querySelector('.ln').replaceChildren(root)
  if (row.matches('.member')) return
  row.setAttribute('role', 'link')
  row.tabIndex = -1
}

const open = (pane, row) => display({ tool: 'render_file_contents', arguments: { path: row.matches('.up') ? above(pane) : `${pane.dataset.name.replace(/\/$/, '')}/${row.querySelector('.cl').textContent.replace(/\/$/, '')}`.replace(/^\.\//, '') } })

function keydown(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return
  const all = [...e.currentTarget.querySelectorAll('.entry:not(.member)')]
  if (!all.length) return
  const now = all.indexOf(e.target.closest('.entry'))
  const to = { ArrowDown: now + 1, ArrowUp: Math.max(0, now - 1), Home: 0, End: all.length - 1 }[e.key]
  if (to !== undefined) all[Math.min(to, all.length - 1)]?.focus()
  else if (e.key === 'Enter' && now >= 0) all[now].click()
  else return
  e.preventDefault()
  e.stopPropagation()
}
