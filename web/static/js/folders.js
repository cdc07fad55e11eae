// The parts of the list of sessions: folders that open and close, rows that follow,
// and the filter. The server draws all of it.

import { folder, getText, inFolder, post, remove, session } from './api.js'
import { visit } from './base.js'
import { fragment } from './html.js'
import { announce } from './announce.js'
import { holdKeys } from './hold.js'
import { popup } from './popup.js'
import { failed, toast } from './toast.js'

const list = document.getElementById('sessions')
const filter = document.getElementById('filter')
const page = 30 // rows of a part at first
/** The one dialog of folders. */
const dialog = {
  redraw: () => {},
  timer: 0,
}

const next = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) more(one.target).catch(failed)
}, { root: list })

/** The address of the list, or of the next rows of a part. */
function address(part, cursor) {
  const q = new URLSearchParams({ current: session(), workspace: folder() })
  for (const [name, value] of new FormData(filter)) if (value.trim()) q.append(name, value.trim())
  if (part) q.append('part', part)
  if (cursor) q.append('cursor', cursor)
  return q
}

/** The address of the list as it is now: with as many rows, and with the same folders open. */
export function listed() {
  const q = address()
  for (const ul of list.querySelectorAll('ul[data-part]:not([data-part=""])')) {
    const head = ul.closest('.folder')?.querySelector('[aria-expanded]')
    if (head?.ariaExpanded === 'false') {
      if (ul.closest('.folder').dataset.folder === folder()) q.append('rows', `${ul.dataset.part}:0`)
    } else q.append('rows', `${ul.dataset.part}:${Math.max(page, ul.querySelectorAll('li:not(.next, .day)').length)}`)
  }
  return `/sessions?${q}`
}

/** Looks for the ends of parts in a list that was drawn anew. */
export function ends() {
  next.disconnect()
  for (const li of list.querySelectorAll('.next')) next.observe(li)
}

/** Puts the rows that follow in the place of the button that asks for them. */
async function more(li) {
  next.unobserve(li)
  if (li.dataset.asked) return
  li.dataset.asked = ''
  const had = li.contains(document.activeElement)
  const rows = fragment(await getText(`/sessions?${address(li.closest('ul').dataset.part, li.firstElementChild.dataset.cursor)}`))
  const first = rows.querySelector('a')
  const day = rows.querySelector('.day')
  if (day && day.textContent === [...li.closest('ul').querySelectorAll('.day')].at(-1)?.textContent) day.remove() // it goes on
  li.replaceWith(rows)
  if (had) first?.focus()
  ends()
}

async function fold(button) {
  const open = button.ariaExpanded !== 'true'
  const ul = button.closest('.folder').querySelector('ul')
  button.ariaExpanded = String(open)
  ul.replaceChildren(...open ? [fragment(await getText(`/sessions?${address(ul.dataset.part)}`))] : [])
  ends()
}

const begin = (path) => visit(inFolder(path))

/** Hides a folder and its sessions; nothing is deleted. */
async function close({ workspace, folder: path }) {
  await remove(`/api/workspaces/${workspace}`)
  if (path === folder()) return visit('/')
  toast('Closed. The folder and its sessions are kept', { act: { label: 'Undo', run: () => post('/api/workspaces', { path }).then(dialog.redraw).catch(failed) } })
  dialog.redraw()
}

function menu(button) {
  const { dataset } = button.closest('.folder')
  popup(button, [
    { label: 'New session here', icon: 'pen', run: () => begin(dataset.folder) },
    { label: 'Close this folder', icon: 'x', run: () => close(dataset).catch(failed) },
  ])
}

const acts = {
  'fold-folder': fold, 'folder-menu': menu, 'more-sessions': (b) => more(b.closest('li')),
  'open-folder': () => holdKeys(import('./openbar.js').then((m) => m.openBar('~/')).catch(failed)),
}

async function filtered() {
  await dialog.redraw()
  const n = list.querySelectorAll('a[data-session]').length
  announce(`${n}${list.querySelector('.next') ? ' or more' : ''} ${n === 1 ? 'session' : 'sessions'}`)
}

/** draw reads the list again. */
export function folders(draw) {
  dialog.redraw = draw
  ends()
  filter.addEventListener('submit', (e) => e.preventDefault())
  filter.addEventListener('input', () => { clearTimeout(dialog.timer); dialog.timer = setTimeout(filtered, 150) })
  document.getElementById('side').addEventListener('click', (e) => {
    const b = e.target.closest('[data-act]')
    if (b && Object.hasOwn(acts, b.dataset.act)) Promise.resolve(acts[b.dataset.act](b)).catch(failed)
  })
}
