// What the session changed, file by file. A file opens on the Desk as what changed in
// it since the session began; no model is involved.

import { getJSON, path, session } from './api.js'
import { display } from './display.js'
import { drop } from './floating.js'
import { holdKeys } from './hold.js'
import { clone, plain, some } from './html.js'
import { failed, toast } from './toast.js'

const box = document.getElementById('changed')
const icons = { modified: 'pen', new: 'plus', deleted: 'x', renamed: 'right' }

const sign = (mark, n) => (n ? `${mark}${n.toLocaleString('en')}` : '')

/** What stands behind the numbers of a file. */
function end(f) {
  if (f.before) return 'before the session'
  if (f.binary) return 'binary'
  if (f.uncounted) return f.kind === 'modified' ? 'not counted' : f.kind
  return f.kind === 'modified' ? '' : f.kind
}

function row(f) {
  const { root, parts } = clone('tpl-changed')
  root.querySelector('use').setAttribute('href', `#i-${icons[f.kind]}`)
  root.classList.toggle('before', Boolean(f.before))
  parts.name.textContent = plain(f.from ? `${f.from} → ${f.path}` : f.path)
  parts.added.textContent = sign('+', f.added)
  parts.removed.textContent = sign('−', f.removed)
  parts.end.textContent = end(f)
  root.title = parts.name.textContent
  root.addEventListener('click', () => {
    box.hidePopover()
    display({ tool: 'show_change', arguments: { path: f.path, from: f.from || undefined } }).catch(failed)
  })
  return root
}

function draw(list) {
  const [head, rows, note] = box.children
  const counted = list.files.filter((f) => !f.before).length
  head.replaceChildren(list.files.length ? `${list.more ? 'More than ' : ''}${some(counted, 'file')} changed` : list.commit ? 'Nothing changed' : '')
  for (const [name, text] of [['added', sign('+', list.added)], ['removed', sign('−', list.removed)]]) {
    const el = document.createElement('span')
    el.className = name
    el.textContent = text
    head.append(el)
  }
  rows.replaceChildren(...[...list.files].sort((a, b) => Number(Boolean(a.before)) - Number(Boolean(b.before))).map(row))
  note.textContent = list.note
}

/** Asks the server, and shows the list below the session's title. */
export function openChanged() {
  return holdKeys(opened())
}

async function opened() {
  if (!session()) return toast('Nothing changed yet: a session begins with its first prompt')
  if (box.matches(':popover-open')) return box.hidePopover()
  try {
    draw(await getJSON(path('/changes')))
  } catch (err) { return failed(err) }
  box.showPopover()
  drop(box, document.querySelector('[data-act=title-menu]'))
  box.querySelector('.orow')?.focus()
}

export function changedList() {
  box?.addEventListener('keydown', (e) => {
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return
    const all = [...box.querySelectorAll('.orow')]
    all.at((all.indexOf(document.activeElement) + (e.key === 'ArrowDown' ? 1 : -1)) % all.length)?.focus()
    e.preventDefault()
  })
}
