// A tree of values: the path and the line of the chosen one stand above it, and what is
// around it can be handed over.

import { getText } from './api.js'
import { clone } from './html.js'
import { scope } from './give.js'
import { ask } from './reading.js'
import { failed, toast } from './toast.js'
import { asShown } from './veil.js'

const at = (li) => (li.dataset.at ? `&at=${encodeURIComponent(li.dataset.at)}` : '')

/** Opens or folds a value; reads on in one that has many. */
export async function fold(li, pane) {
  if (li.matches('.range')) {
    const next = await ask(pane, 'tree', li.dataset.from, 100, { extra: at(li.closest('ul')) })
    return li.replaceWith(next.html)
  }
  select(li, pane)
  if (!li.hasAttribute('aria-expanded')) return
  const open = li.getAttribute('aria-expanded') === 'true'
  li.setAttribute('aria-expanded', String(!open))
  const had = li.querySelector(':scope > ul')
  if (had) had.hidden = open
  if (open || had) return
  const list = document.createElement('ul')
  list.setAttribute('role', 'group')
  list.dataset.at = li.dataset.at
  list.dataset.close = li.querySelector(':scope > .held').textContent.slice(1)
  li.append(list)
  list.append((await ask(pane, 'tree', 1, 100, { extra: at(li) })).html)
}

/** Folds what was opened at first until all fits, the deepest and last of it first. */
function fit(root) {
  const depth = (li) => { let n = 0; for (let el = li; (el = parent(el)); n++); return n }
  const open = [...root.querySelectorAll('li li[aria-expanded=true]')].map((li) => ({ li, n: depth(li) })).sort((a, b) => a.n - b.n)
  while (open.length && root.scrollHeight > root.clientHeight) {
    const { li } = open.pop()
    li.setAttribute('aria-expanded', 'false')
    li.querySelector(':scope > ul').hidden = true
  }
}

const parent = (li) => li.parentElement.closest('li')

function pathOf(li) {
  let path = ''
  for (let el = li; el; el = parent(el)) path = (el.dataset.step ?? '…') + path
  return path
}

/** Chooses a value. */
function select(li, pane) {
  const root = li.closest('.other')
  for (const old of root.querySelectorAll('[aria-selected]')) {
    old.removeAttribute('aria-selected')
    old.tabIndex = -1
  }
  li.setAttribute('aria-selected', 'true')
  li.tabIndex = 0
  li.focus({ preventScroll: true })
  const bar = pane.querySelector('.vbar')
  if (!bar) return // on a card
  const path = pathOf(li)
  const [from, to] = li.dataset.lines.split('-').map(Number)
  const above = document.createElement('span')
  above.textContent = path.slice(0, path.length - (li.dataset.step?.length ?? 1))
  bar.querySelector('[data-part=path]').replaceChildren(above, li.dataset.step ?? '…')
  bar.querySelector('[data-part=where]').textContent = `line ${from.toLocaleString('en')} of the file`
  for (const b of bar.querySelectorAll('button')) b.hidden = false
  bar.dataset.lines = `${from}-${to}`
  const around = li.matches('[aria-expanded]') ? li : parent(li)
  const [a, b] = (around?.dataset.lines ?? '').split('-').map(Number)
  const name = around && pathOf(around).replace(/^\$\.?/, '')
  scope(pane, name && a !== 1 ? { words: name, lines: Array.from({ length: Math.min(b - a + 1, 100_000) }, (_, i) => a + i) } : null)
}

const copies = {
  'copy-path': (bar) => bar.querySelector('[data-part=path]').textContent,
  'copy-value': async (bar, pane) => {
    const li = pane.querySelector('.other [aria-selected=true]')
    if (!li.matches('[aria-expanded]')) return li.querySelector(':scope > :is(.s, .m, .k)')?.textContent ?? ''
    return getText(`/api/outputs/${pane.dataset.output}?${asShown(pane.dataset.output, bar.dataset.lines)}`)
  },
}

function key(e, pane) {
  const li = e.target.closest('li')
  if (!li) return e.key === 'ArrowDown' ? pane.querySelector('.other li') : null
  const all = [...li.closest('.other').querySelectorAll('li')].filter((el) => el.checkVisibility())
  const open = li.getAttribute('aria-expanded')
  switch (e.key) {
    case 'ArrowDown': return all[all.indexOf(li) + 1] ?? li
    case 'ArrowUp': return all[all.indexOf(li) - 1] ?? li
    case 'Home': return all[0]
    case 'End': return all.at(-1)
    case 'ArrowRight':
      if (open !== 'false') return li.querySelector('li') ?? li
      fold(li, pane).catch(failed)
      return li
    case 'ArrowLeft':
      if (open !== 'true') return parent(li) ?? li
      fold(li, pane).catch(failed)
      return li
    case 'Enter':
      fold(li, pane).catch(failed)
      return li
  }
  return null
}

export function tree(state) {
  const { pane, root } = state
  const { root: bar } = clone('tpl-path')
  pane.querySelector('.view').before(bar)
  bar.addEventListener('click', async (e) => {
    const act = e.target.closest('[data-act]')?.dataset.act
    if (!copies[act]) return
    e.stopPropagation()
    try {
      await navigator.clipboard.writeText(await copies[act](bar, pane))
      toast(act === 'copy-path' ? 'Copied the path' : 'Copied the value')
    } catch (err) { failed(err) }
  })
  root.addEventListener('keydown', (e) => {
    const to = key(e, pane)
    if (!to) return
    e.preventDefault()
    e.stopPropagation()
    if (to.matches('.range')) return to.click()
    select(to, pane)
    to.scrollIntoView({ block: 'nearest' })
  })
  state.loaded = () => {
    const broken = state.head.get('Webchat-Broken')
    bar.querySelector('[data-part=path]').textContent = '$'
    bar.querySelector('[data-part=where]').textContent = broken ? `Not JSON from line ${Number(broken).toLocaleString('en')} on` : ''
    const first = root.querySelector('li')
    if (first) first.tabIndex = 0
    fit(root)
  }
}
