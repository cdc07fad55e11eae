// The views of an output beside its rows: preview, table, tree, bytes, names, changes.
// The server makes all of them; here they are chosen, shown and read on.

import { get } from './api.js'
import { clone, fragment } from './html.js'
import { display } from './display.js'
import { openOutput } from './desk.js'
import { rowOf, tabOf, desk } from './tabs.js'
import { failed } from './toast.js'
import { viewerOf } from './viewer.js'

const names = { source: 'Source', terminal: 'Terminal', preview: 'Preview', table: 'Table', tree: 'Tree', hex: 'Hex', list: 'List', diff: 'Changes' }
const rows = { preview: 5000, table: 500, tree: 100, hex: 4096, list: 5000, diff: 5000 }
const near = 800 // pixels from the end from which on more is read

const lined = (view) => view === 'source' || view === 'terminal'

async function ask(pane, view, more = '') {
  const reply = await get(`/api/outputs/${pane.dataset.output}?format=html&view=${view}${more}`)
  const [, from, to, total] = /(\d+)-(-?\d+)\/(\d+)/.exec(reply.headers.get('Webchat-Rows')) ?? []
  return { head: reply.headers, from: Number(from), to: Number(to), total: Number(total), html: fragment(await reply.text()) }
}

/** The revision before the one that a pane shows, while it can be read. */
function before(pane) {
  const outs = tabOf(pane.dataset.key)?.outs ?? []
  return outs.slice(0, outs.indexOf(pane.dataset.output)).findLast((out) => rowOf(out)?.dataset.state === 'done')
}

async function offer(pane) {
  if (pane.dataset.state !== 'done' || !pane.dataset.output || pane.dataset.kind === 'image') return
  const { head } = await ask(pane, 'default', '&from=1&rows=1')
  const views = head.get('Webchat-Views').split(' ').filter((v) => names[v] && (v !== 'diff' || before(pane)))
  const kept = tabOf(pane.dataset.key)?.place?.view
  if (views.length > 1) {
    const { root, parts } = clone('tpl-views')
    parts.one.remove()
    for (const view of views) {
      const button = parts.one.cloneNode(true)
      button.textContent = names[view]
      button.dataset.view = view
      root.append(button)
    }
    pane.querySelector('.dhead > .sp').after(root)
  }
  await choose(pane, views.includes(kept) ? kept : views[0])
  if (pane.querySelector('.exit.no')) await failure(pane)
}

async function choose(pane, view) {
  for (const b of pane.querySelectorAll('[data-view]')) b.setAttribute('aria-checked', String(b.dataset.view === view))
  const box = pane.querySelector('.view')
  const own = lined(view) && pane.querySelector('.tall')
  for (const el of box.querySelectorAll(':scope > :is(.code, .map)')) el.toggleAttribute('hidden', !own) // also of what is drawn as SVG
  box.querySelector('.other')?.remove()
  const tab = tabOf(pane.dataset.key)
  if (tab) tab.place = { ...tab.place, view }
  if (own) return viewerOf(pane).fit()
  const { root } = clone('tpl-other')
  root.dataset.shows = view
  root.setAttribute('aria-label', `${names[view]} of ${pane.dataset.base}`)
  box.prepend(root)
  const into = view === 'tree' ? root.querySelector('ul') : root
  if (view !== 'tree') root.querySelector('ul').remove()
  if (view === 'preview') root.classList.add('said')
  if (view === 'diff') root.classList.add('code', 'diff')
  if (view === 'hex' || view === 'list') root.classList.add('code')
  const extra = view === 'diff' ? `&with=${before(pane)}` : ''
  const first = await ask(pane, view, `&from=1&rows=${rows[view]}${extra}`)
  into.append(first.html)
  let { to } = first
  let busy = false
  root.addEventListener('scroll', async () => {
    if (busy || view === 'tree' || to >= first.total || root.scrollHeight - root.scrollTop - root.clientHeight > near) return
    busy = true
    try {
      const next = await ask(pane, view, `&from=${to + 1}&rows=${rows[view]}${extra}`)
      const body = root.querySelector('tbody')
      if (body) body.append(...next.html.querySelectorAll('tbody > tr'))
      else into.append(next.html)
      to = next.to
    } catch (err) { failed(err) }
    busy = false
  }, { passive: true })
}

/** Opens or folds a value of a tree; reads on in one that has many. */
async function unfold(li, pane) {
  if (li.matches('.range')) {
    const at = li.closest('ul').dataset.at
    const next = await ask(pane, 'tree', `&from=${li.dataset.from}&rows=100${at ? `&at=${encodeURIComponent(at)}` : ''}`)
    return li.replaceWith(next.html)
  }
  if (!li.hasAttribute('aria-expanded')) return
  const open = li.getAttribute('aria-expanded') === 'true'
  li.setAttribute('aria-expanded', String(!open))
  const had = li.querySelector(':scope > ul')
  if (had) had.hidden = open
  if (open || had) return
  const list = document.createElement('ul')
  list.setAttribute('role', 'group')
  list.dataset.at = li.dataset.at
  li.append(list)
  list.append((await ask(pane, 'tree', `&from=1&rows=100&at=${encodeURIComponent(li.dataset.at)}`)).html)
}

/** Puts the first failure of a command above it, and goes there. */
async function failure(pane) {
  if (pane.querySelector('.failure')) return
  const { html, head } = await ask(pane, 'failure', '&from=1&rows=1')
  const about = head.get('Webchat-Failure')
  if (!about || !html.firstElementChild) return
  const { root, parts } = clone('tpl-first')
  root.dataset.lines = about
  parts.what.append(html)
  pane.querySelector('.view').before(root)
  if (!tabOf(pane.dataset.key)?.place?.read) await viewerOf(pane)?.line(Number(about.split('-')[0]))
}

/** Opens the file that a command names, at its line: as it stands on the Desk, else as it is now. */
function source(a, e) {
  const { path: file, line } = a.dataset
  const tab = desk.tabs.find((t) => t.name === file && t.state === 'done')
  if (tab) return openOutput(tab.out, { lines: line, other: e.ctrlKey || e.metaKey })
  return display({ tool: 'render_file_contents', arguments: { path: file } }, line)
}

export function paneViews() {
  document.addEventListener('webchat:pane', (e) => offer(e.target).catch((err) => { if (err.status !== 404) failed(err) }))
  document.addEventListener('click', (e) => {
    const pane = e.target.closest?.('[data-pane]')
    if (!pane) return
    const view = e.target.closest('[data-view]')
    const li = e.target.closest('.other li')
    const a = e.target.closest('a.at-src')
    const go = e.target.closest('[data-act=to-failure]')
    const entry = e.target.closest('.other .entry')
    let what = null
    if (view) what = choose(pane, view.dataset.view)
    else if (a) { e.preventDefault(); what = source(a, e) }
    else if (go) what = viewerOf(pane).line(Number(go.closest('.failure').dataset.lines.split('-')[0]))
    else if (entry) what = display({ tool: 'render_file_contents', arguments: { path: `${pane.dataset.name.replace(/\/$/, '')}/${entry.querySelector('.cl').textContent.replace(/\/$/, '')}`.replace(/^\.\//, '') } })
    else if (li && !e.target.closest('a')) what = unfold(li, pane)
    Promise.resolve(what).catch(failed)
  })
}

/** To the view after the one that a pane shows. */
export function nextView(pane) {
  const all = [...pane.querySelectorAll('[data-view]')]
  const now = all.findIndex((b) => b.getAttribute('aria-checked') === 'true')
  if (all.length) choose(pane, all[(now + 1) % all.length].dataset.view).catch(failed)
}
