// Attachments: pictures and text that are pasted, dropped or chosen. A large
// paste becomes a chip and never enters the field.

import { clone, some } from './html.js'
import { post, uploadOnce } from './api.js'
import { failed } from './toast.js'

const chips = document.getElementById('chips')
const large = 4000 // characters of a paste that stay text
const most = 20 << 20
const list = new Map() // chip element → {attachment or what makes it, onRemove}

export const hasAttachments = () => list.size > 0

/** Adds a chip for something that goes with the next prompt; dress gets its root and parts before it is shown. */
export function add(label, attachment, { cost = 0, onRemove, dress } = {}) {
  const { root, parts } = clone('tpl-chip')
  parts.name.textContent = label
  if (cost) priced(root, parts, cost)
  const gone = () => { list.delete(root); root.remove(); onRemove?.(); chips.dispatchEvent(new Event('change', { bubbles: true })) }
  const remove = root.querySelector('[data-act=unchip]')
  remove.addEventListener('click', gone)
  remove.setAttribute('aria-label', `Remove ${label}`)
  list.set(root, { attachment, onRemove })
  dress?.(root, parts)
  chips.append(root)
  chips.dispatchEvent(new Event('change', { bubbles: true }))
  return gone
}

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
    for (const [root, { onRemove }] of all) {
      list.delete(root)
      root.remove()
      onRemove?.()
    }
  }
  return { attachments: attachments.filter(Boolean), clear }
}

function addFile(file) {
  if (file.size > most) return failed(new Error(`${file.name || 'The paste'} is over the limit of 20 MiB for attachments.`))
  const upload = uploadOnce(file.name, file)
  let agreed = false // that it goes although it may hold secrets
  const url = /^image\/(?!svg)/.test(file.type) && URL.createObjectURL(file) // a model reads an SVG as text
  let ask
  add(file.name || (file.type.startsWith('image/') ? 'picture' : `${Math.ceil(file.size / 1000)} kB of text`), async () => {
    const done = await upload()
    if (done.sensitive && !agreed) {
      ask()
      throw new Error(`${file.name} may hold secrets. Choose “Send it” on its chip, or remove it.`)
    }
    return { id: done.id, name: file.name || undefined, sensitive: done.sensitive }
  }, {
    onRemove: () => { if (url) URL.revokeObjectURL(url) },
    dress: (root, parts) => {
      if (url) pictured(root, parts, url)
      const { way, tokens } = parts
      ask = () => {
        Object.assign(tokens, { hidden: false, textContent: 'may hold secrets' })
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
