// A Markdown text on the Desk: links to places in it and to files beside it, and pictures of the
// workspace, which are made into outputs when they are seen.

import { get, path, post } from './api.js'
import { base } from './base.js'
import { diagram, page } from './frames.js'
import { clone, some } from './html.js'
import { source } from './source.js'
import { failed } from './toast.js'

const ids = 'user-content-' // what the server puts before each id
const wanted = new Map() // path → the place in it to go to once it is shown

/** What a part of an address stands for; as it is written where it is not text. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The path that an address in a file leads to, as seen from the workspace; null if it leaves it. */
function placeOf(name, to) {
  const [file] = to.split(/[?#]/)
  const parts = file.startsWith('/') ? [] : name.split('/').slice(0, -1)
  for (const part of decoded(file).split('/')) {
    if (part === '..' && !parts.length) return null
    if (part === '..') parts.pop()
    else if (part && part !== '.') parts.push(part)
  }
  return parts.join('/') || '.'
}

/** Goes to a place in a text, which is read on until it is there. */
async function go(root, hash) {
  const name = decoded(hash)
  if (name === '' || name === 'top') return root.scrollTo({ top: 0 })
  const find = () => root.querySelector(`[id="${CSS.escape(ids + name)}"]`) ?? root.querySelector(`[id="${CSS.escape(ids + name.toLowerCase())}"]`)
  let at = find()
  while (!at && await begun.get(root).readOn(root)) at = find()
  if (!at) return null
  for (let el = at.parentElement; el !== root; el = el.parentElement) if (el.matches('details')) el.open = true
  at.tabIndex = -1
  at.scrollIntoView({ block: 'start' })
  return at.focus({ preventScroll: true })
}

async function click(e, pane, root) {
  const button = e.target.closest('[data-html]')
  if (button) return button.replaceWith(...page(pane.dataset.output, 'What a cell wrote', button.dataset.html))
  const draw = e.target.closest('[data-diagram]')
  if (draw) return diagram(draw)
  const a = e.target.closest('a')
  if (!a || a.matches('.at-src, .ref, .ln, [target]')) return null
  e.preventDefault()
  const to = a.dataset.to
  if (to === undefined) return go(root, a.getAttribute('href').slice(1))
  const file = placeOf(pane.dataset.name, to)
  if (file === null) throw new Error('This link leads out of the workspace, so it is not followed.')
  const [, hash = ''] = to.split('#')
  const lines = /^L(\d+)(?:-L?(\d+))?$/.exec(hash)
  a.dataset.path = file
  if (lines) a.dataset.line = lines[2] ? `${lines[1]}-${lines[2]}` : lines[1]
  else if (hash) wanted.set(file, hash)
  await source(a, e)
  for (const shown of document.querySelectorAll('.pane:not([hidden])')) if (shown.dataset.name === file) arrive(shown, shown.querySelector('.other.said'))
}

/** Goes to the place that a link asked for, once what it is in is there. */
function arrive(pane, root) {
  const hash = wanted.get(pane.dataset.name)
  if (!hash || !('pane' in pane.dataset) || !root?.querySelector('.block')) return
  wanted.delete(pane.dataset.name)
  go(root, hash).catch(failed)
}

/** Pictures, one after the other. */
const pictures = {
  before: Promise.resolve(), // pictures come one after the other
}

/** Shows a picture of the workspace in the place of its description, or says why not. */
function picture(el, pane, known) {
  const file = placeOf(pane.dataset.name, el.dataset.to)
  if (file === null) return say(el, 'It leads out of the workspace, so it is not shown.')
  if (!known.has(file)) {
    pictures.before = pictures.before.catch(() => {}).then(() => post(path('/display'), { tool: 'display_image', part: true, arguments: { path: file } }))
    known.set(file, pictures.before)
  }
  return known.get(file).then(({ output }) => {
    const img = document.createElement('img')
    img.alt = el.textContent
    img.addEventListener('error', () => img.replaceWith(el))
    img.src = `${base}/api/outputs/${output.id}`
    el.replaceWith(img)
  }, (err) => say(el, err.message))
}

function say(el, sentence) {
  const why = document.createElement('span')
  why.className = 'href'
  why.textContent = ` ${sentence}`
  el.after(why)
}

/** Shows a picture that stands in a notebook itself. */
function shown(el) {
  const bytes = Uint8Array.from(atob(el.dataset.bytes), (c) => c.charCodeAt(0))
  const img = document.createElement('img')
  img.alt = el.textContent
  const url = URL.createObjectURL(new Blob([bytes], { type: el.dataset.picture }))
  for (const end of ['load', 'error']) img.addEventListener(end, () => URL.revokeObjectURL(url))
  img.src = url
  el.replaceWith(img)
}

const begun = new WeakMap() // the element of a text → what watches its pictures, and reads it on

const loaded = new Set() // outputs whose pictures of other sites were asked for

/** Says once in the head how many pictures of other sites the text has, and whom Load asks for them. */
function count(pane, root) {
  const all = [...root.querySelectorAll('.pic-ref:not([data-to], [data-bytes])')]
  const head = pane.querySelector(':scope > .dhead')
  const old = head?.querySelector('.pics')
  const hosts = [...new Set(all.map((el) => el.dataset.host).filter(Boolean))]
  if (!all.length || !head) return old?.remove()
  const { root: el, parts } = clone('tpl-pics')
  parts.words.textContent = `${some(all.length, 'picture')} of other sites`
  parts.from.textContent = hosts.join(', ')
  parts.from.title = hosts.join(', ')
  if (hosts.length) {
    parts.load.addEventListener('click', () => {
      loaded.add(pane.dataset.output)
      for (const one of all) delete one.dataset.failed
      far(pane, root).catch(failed)
    })
  } else parts.load.remove()
  const held = old?.contains(document.activeElement)
  if (old) old.replaceWith(el)
  else head.querySelector('.sp').before(el)
  if (held && parts.load.isConnected) parts.load.focus()
  return null
}

/** Loads pictures of other sites through the server, once Load was pressed: the page asks no other site. */
async function far(pane, root) {
  const waiting = [...root.querySelectorAll('.pic-ref[data-far]:not([data-failed], [aria-busy])')]
  for (const el of waiting) el.setAttribute('aria-busy', 'true')
  const next = async () => {
    for (let el = waiting.shift(); el; el = waiting.shift()) await fetched(el, pane, root)
  }
  await Promise.all([next(), next(), next(), next()])
  count(pane, root)
}

/** Puts a picture of another site in the place of its badge, or says there why not: a click tries again. */
async function fetched(el, pane, root) {
  try {
    const reply = await get(`/api/outputs/${pane.dataset.output}/pictures/${el.dataset.far}`)
    const url = URL.createObjectURL(await reply.blob())
    const img = document.createElement('img')
    img.alt = el.textContent
    for (const end of ['load', 'error']) img.addEventListener(end, () => URL.revokeObjectURL(url))
    img.src = url
    el.replaceWith(img)
  } catch (err) {
    el.dataset.failed = ''
    el.title = err.message
    el.tabIndex = 0
    el.setAttribute('role', 'button')
    el.addEventListener('click', (e) => {
      e.preventDefault()
      e.stopPropagation()
      delete el.dataset.failed
      far(pane, root).catch(failed)
    }, { once: true })
    el.addEventListener('keydown', (e) => { if (e.key === 'Enter') el.click() }, { once: true })
  }
  el.removeAttribute('aria-busy')
}

/** Makes a Markdown text, or more of it, live. readOn(root) reads the next piece; false: there is none. */
export function reading(pane, root, readOn = () => false) {
  let { seen } = begun.get(root) ?? {}
  if (!seen) {
    const known = new Map()
    seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue
        seen.unobserve(target)
        if (target.dataset.bytes) shown(target)
        else picture(target, pane, known)
      }
    }, { root, rootMargin: '200px' })
    begun.set(root, { seen, readOn })
    root.addEventListener('click', (e) => click(e, pane, root).catch(failed))
  }
  for (const el of root.querySelectorAll('.pic-ref:is([data-to], [data-bytes]):not([data-seen])')) {
    el.dataset.seen = ''
    seen.observe(el)
  }
  count(pane, root)
  if (loaded.has(pane.dataset.output)) far(pane, root).catch(failed)
  arrive(pane, root)
}
