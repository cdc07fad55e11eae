// Attachments: pictures and text that are pasted, dropped or chosen. A large
// paste becomes a chip and never enters the field.

import { clone, some } from './html.js'
import { newID, post, uploadOnce } from './api.js'
import { draft, told } from './drafts.js'
import { failed } from './toast.js'

const chips = document.getElementById('chips')
const large = 4000 // characters of a paste that stay text
const most = 20 << 20
const mostKept = 100_000 // characters of lines that outlive the page
const list = new Map() // chip element → {attachment or what makes it, onRemove, kept}

export const hasAttachments = () => list.size > 0

/** Adds a chip for something that goes with the next prompt; dress gets its root and parts before it is shown. */
export function add(label, attachment, { cost = 0, onRemove, dress, kept } = {}) {
  const { root, parts } = clone('tpl-chip')
  parts.name.textContent = label
  if (cost) priced(root, parts, cost)
  const one = { attachment, onRemove, kept }
  const gone = (elsewhere = false) => {
    drop(root, elsewhere)
    chips.dispatchEvent(new Event('change', { bubbles: true }))
  }
  one.gone = gone
  const remove = root.querySelector('[data-act=unchip]')
  remove.addEventListener('click', () => gone())
  remove.setAttribute('aria-label', `Remove ${label}`)
  list.set(root, one)
  dress?.(root, parts)
  chips.append(root)
  chips.dispatchEvent(new Event('change', { bubbles: true }))
  return gone
}

/** Takes a chip away; elsewhere: since another page did. */
function drop(root, elsewhere = false) {
  const one = list.get(root)
  if (!one) return
  list.delete(root)
  root.remove()
  if (one.kept) forget(one.kept)
  one.onRemove?.(elsewhere)
}

const keep = (...more) => draft.saveList('chips', [...draft.list('chips'), ...more.filter(({ text }) => !(text?.length > mostKept))])
const forget = ({ id }) => draft.saveList('chips', draft.list('chips').filter((kept) => kept.id !== id))

/** Lets a new session have the chips that are kept; go makes it that of this page. */
export function moveTo(go) {
  const moved = [...list.values()].map(({ kept }) => kept).filter(Boolean)
  moved.forEach(forget)
  go()
  keep(...moved)
}

/** Keeps a chip for the page of this session that opens next. */
export const forNext = (label, attachment, cost) => keep({ id: newID(), label, attachment, cost, icon: '#i-read' })

/** Adds a chip of lines that go with the next prompt. It is kept with the draft; about is for who made it, as data. */
export async function addLines({ label, text, icon, about, name = label }, onRemove) {
  const { tokens } = await post('/api/price', { text }).catch(() => ({ tokens: 0 })) // it goes without a price
  const kept = { id: newID(), label, name, text, icon, about, cost: tokens }
  keep(kept)
  return { tokens, remove: put(kept, onRemove) }
}

function put(kept, onRemove) {
  const { label, name, text, cost, icon } = kept
  const upload = text && uploadOnce('lines.txt', new Blob([text], { type: 'text/plain' }))
  const attachment = kept.attachment ?? (async () => ({ id: (await upload()).id, name }))
  return add(label, attachment, { cost, onRemove, kept, dress: (root) => {
    root.querySelector('use').setAttribute('href', icon)
    root.title = text?.slice(0, 1000) ?? ''
  } })
}

/** Puts the chips where they were that are kept with the draft. */
export function restore() {
  for (const kept of draft.list('chips')) put(kept, (elsewhere) => { if (!elsewhere) told(kept.about?.undone ?? []) })
  draft.elsewhere('chips', (old, now) => { // what went with a prompt of another page does not go again
    const went = old.map(({ id }) => id).filter((id) => !now.some((kept) => kept.id === id))
    for (const { kept, gone } of [...list.values()]) if (kept && went.includes(kept.id)) gone(true)
  })
}

/** The chips that are kept and about that; their maker sets onRemove anew. */
export const waiting = (what) => [...list.values()].filter(({ kept }) => kept?.about?.[what])

function priced(root, parts, cost) {
  parts.tokens.hidden = false
  parts.tokens.textContent = some(cost, 'token')
  root.querySelector(':scope > .i use')?.setAttribute('href', '#i-read') // there is none beside a picture
  root.classList.add('cost')
  root.dataset.cost = cost
}

/** Puts a picture on its chip, and its price once its size is known; what the browser cannot draw has neither. */
async function pictured(root, parts, url) {
  const img = new Image()
  img.alt = ''
  img.src = url
  try {
    await img.decode()
  } catch { return }
  root.querySelector('.i').replaceWith(img)
  const picture = { width: img.naturalWidth, height: img.naturalHeight }
  const { tokens } = await post('/api/price', { picture }).catch(() => ({ tokens: 0 })) // it goes without a price
  if (tokens && parts.tokens.hidden) priced(root, parts, tokens)
}

/** Hands out what is attached, uploading files, and clears the chips when kept is called. */
export async function collect() {
  const all = [...list]
  const attachments = await Promise.all(all.map(([, { attachment: a }]) => (typeof a === 'function' ? a() : a)))
  const clear = () => {
    for (const [root] of all) drop(root)
  }
  return { attachments: attachments.filter(Boolean), clear }
}

/** Adds a chip for a file that goes with the next prompt. */
export function addFile(file) {
  if (file.size > most) return failed(new Error(`${file.name || 'The paste'} is over the limit of 20 MiB for attachments.`))
  const upload = uploadOnce(file.name, file)
  let agreed = false // that it goes although it may hold secrets
  const url = /^image\/(?!svg)/.test(file.type) && URL.createObjectURL(file) // a model reads an SVG as text
  let ask
  add(file.name || (file.type.startsWith('image/') ? 'picture' : `${Math.ceil(file.size / 1000)} kB of text`), async () => {
    const done = await upload()
    if (done.sensitive && !agreed) {
      ask(done.looks)
      throw new Error(`${file.name} ${done.looks}. Choose “Send it” on its chip, or remove it.`)
    }
    return { id: done.id, name: file.name || undefined, sensitive: done.sensitive }
  }, {
    onRemove: () => { if (url) URL.revokeObjectURL(url) },
    dress: (root, parts) => {
      if (url) pictured(root, parts, url)
      const { way, tokens } = parts
      ask = (looks) => {
        Object.assign(tokens, { hidden: false, textContent: looks })
        Object.assign(way, { hidden: false, textContent: 'Send it' })
      }
      way.addEventListener('click', () => { agreed = way.hidden = true; document.getElementById('prompt').focus() })
    },
  })
}

export function attach(composer, field) {
  field.addEventListener('paste', (e) => {
    const files = [...e.clipboardData.files]
    const text = e.clipboardData.getData('text/plain')
    if (files.length) {
      e.preventDefault()
      files.forEach(addFile)
    } else if (text.length > large) {
      e.preventDefault()
      addFile(new File([text], `pasted, ${text.split('\n').length.toLocaleString('en')} lines`, { type: 'text/plain' }))
    }
  })
  for (const type of ['dragover', 'drop']) {
    document.addEventListener(type, (e) => {
      if (!e.dataTransfer?.types.includes('Files')) return
      e.preventDefault()
      composer.classList.toggle('is-over', type === 'dragover')
      if (type === 'drop') [...e.dataTransfer.files].forEach(addFile)
    })
  }
  document.addEventListener('dragleave', (e) => { if (!e.relatedTarget) composer.classList.remove('is-over') })
  const input = document.getElementById('attach')
  input?.addEventListener('change', () => {
    [...input.files].forEach(addFile)
    input.value = ''
    field.focus()
  })
}
