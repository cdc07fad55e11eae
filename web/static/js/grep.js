// Search of the text of the folder, live on the Desk while one types. It asks no model;
// only what is made a chip by "Ask about these hits" goes to one.

import { folder, get, post, session } from './api.js'
import { announce } from './announce.js'
import { addLines } from './attach.js'
import { close, openOutput, openOwn } from './desk.js'
import { Hits } from './hits.js'
import { holdKeys } from './hold.js'
import { clone, plain, some } from './html.js'
import { asker } from './latest.js'
import { openFile } from './filerow.js'
import { ofOthers } from './otherkeys.js'
import { beside, turnOn } from './radio.js'
import { keep, recent } from './searches.js'
import { beside as secondTab, desk, open } from './tabs.js'
import { failed } from './toast.js'

const tab = { key: 'search', name: 'Search', base: 'Search', icon: 'search', kind: 'search', outs: [], out: 'search', state: 'search' }
const question = asker()
const pricing = asker()
const many = 10_000 // hits; there may be more

/** The one search of texts on the Desk. */
const texts = {
  pane: null,
  parts: {},
  hits: null,
  globs: [],
  given: null, // what goes with the next prompt: {remove}
  coming: null, // until something is found of what is searched for now
}

const flag = (name) => texts.pane.querySelector(`[data-flag=${name}]`).getAttribute('aria-pressed') === 'true'
const place = () => texts.pane.querySelector('[data-in][aria-checked=true]').dataset.in

/** The address of a search; null: nothing of that kind is there. */
function address(text, { anyCase } = {}) {
  const q = new URLSearchParams({ q: text })
  for (const name of ['case', 'word', 'expression']) if (flag(name) && !(anyCase && name === 'case')) q.set(name, '1')
  for (const glob of texts.globs) q.append('glob', glob)
  if (place() === 'workspace') q.set('workspace', folder())
  else {
    const outs = open().filter((t) => !t.own && !t.call && !t.look && t.state !== 'gone').map((t) => t.out)
    if (!session() || (place() === 'desk' && !outs.length)) return null
    q.set('session', session())
    if (place() === 'desk') for (const out of outs) q.append('output', out)
  }
  return `/api/search?${q}`
}

/** Calls take with lines of the answer, as they come. */
async function stream(url, signal, take) {
  const reply = await get(url, { signal })
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part; !(part = await reader.read()).done;) {
    const lines = (rest + part.value).split('\n')
    rest = lines.pop()
    if (lines.length) take(lines.map((line) => JSON.parse(line)))
  }
}

const count = (text, bad = false) => {
  texts.parts.count.replaceChildren(text)
  texts.parts.count.classList.toggle('is-bad', bad)
}

/** Searches anew; what was under way is dropped. What stands there stays until something is found. */
function search() {
  const { promise, resolve } = Promise.withResolvers()
  texts.coming = promise
  promise.then(() => { if (texts.coming === promise) texts.coming = null })
  return run(resolve).finally(resolve)
}

async function run(found) {
  const signal = question.begin()
  const text = texts.parts.q.value
  Object.assign(tab, { name: text || 'Search', base: text || 'Search' })
  texts.pane.dataset.base = tab.base
  document.dispatchEvent(new Event('webchat:tabs'))
  texts.pane.classList.remove('is-old')
  let fresh = true
  const begin = () => {
    if (!fresh) return
    fresh = false
    texts.hits.clear()
  }
  const url = address(text)
  if (!text || !url) {
    begin()
    texts.parts.left.textContent = ''
    count(url ? '' : place() === 'desk' ? 'Nothing is on the Desk' : 'Nothing was shown yet')
    if (url) offer()
    moved()
    if (url) await stream(url, signal, () => {}).catch(() => {}) // the names are known before the first letter
    return
  }
  try {
    await stream(url, signal, (lines) => {
      begin()
      texts.hits.take(lines.flatMap(({ file }) => file ?? []))
      if (texts.hits.all.length) found()
      const { done } = lines.at(-1)
      if (done) ended(done, text, signal)
      else count(`${some(texts.hits.all.length, 'hit')} so far`)
    })
  } catch (err) {
    if (err.name === 'AbortError') return
    texts.pane.classList.add('is-old')
    count(err.message, true)
  }
  if (!signal.aborted) moved()
}

function ended(done, text, signal) {
  texts.parts.left.textContent = done.closed ? `${some(done.closed, 'file')} by name only: may hold secrets` : ''
  if (done.hits) return count(done.more ? `${Math.min(done.hits, many).toLocaleString('en')} hits or more` : `${some(done.hits, 'hit')} in ${some(done.in, 'file')} · ${done.ms.toLocaleString('en')} ms`)
  if (done.more) return count('Nothing found in 30 seconds. Narrow it by a glob')
  count(`No hits in ${some(done.files, place() === 'workspace' ? 'file' : 'output')}`)
  if (flag('case')) without(text, signal).catch(() => {})
}

/** Offers the hits that upper and lower case keep away. */
async function without(text, signal) {
  let n = 0
  await stream(address(text, { anyCase: true }), signal, (lines) => { n = lines.at(-1).done?.hits ?? 0 })
  if (!n || signal.aborted) return
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'btn quiet'
  button.textContent = `Case is on: ${some(n, 'hit')} without it`
  button.addEventListener('click', () => press('case'))
  count(button)
}

/** The last queries, while nothing is typed. */
function offer() {
  texts.parts.hits.replaceChildren(...recent().map((text) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'orow mono'
    button.textContent = plain(text)
    button.addEventListener('click', () => { texts.parts.q.value = text; texts.parts.q.focus(); search() })
    return button
  }))
}

function press(name) {
  const button = texts.pane.querySelector(`[data-flag=${name}]`)
  button.setAttribute('aria-pressed', String(!flag(name)))
  search()
}

/** Says where one is, and what asking about it would cost. */
function moved() {
  const n = texts.hits.meant.length
  texts.parts.at.textContent = texts.given ? `${texts.given.label} with your next prompt` : texts.hits.at >= 0 ? `Hit ${(texts.hits.at + 1).toLocaleString('en')} of ${texts.hits.all.length.toLocaleString('en')}` : ''
  texts.pane.querySelector('.kept').hidden = Boolean(texts.given)
  texts.parts.ask.hidden = !texts.given && !n
  texts.parts.ask.querySelector('use').setAttribute('href', texts.given ? '#i-x' : '#i-hand')
  texts.parts.ask.querySelector('[data-label]').textContent = texts.given ? 'Keep them out' : texts.hits.chosen.size ? `Ask about ${n === 1 ? 'this hit' : `these ${some(n, 'hit')}`}` : 'Ask about this hit'
  texts.parts.price.hidden = Boolean(texts.given)
  texts.parts.hits.setAttribute('aria-label', some(texts.hits.all.length, 'hit'))
  if (!texts.given && n) price()
}

async function price() {
  const signal = pricing.begin()
  texts.parts.price.textContent = '+…'
  try {
    await new Promise((done) => setTimeout(done, 150)) // n and p pass by many
    if (signal.aborted) return
    const { tokens } = await post('/api/price', { text: texts.hits.text() }, { signal })
    if (!signal.aborted) texts.parts.price.textContent = `+${tokens.toLocaleString('en')}`
  } catch { /* it can be asked about all the same */ }
}

/** Hands the meant hits to the agent with the next prompt, or keeps them out again. */
async function ask() {
  if (texts.given) return texts.given.remove()
  const { meant } = texts.hits
  if (!meant.length) return
  keep(texts.parts.q.value)
  const label = `${some(meant.length, 'hit')} of ${plain(texts.parts.q.value)}`
  const { tokens, remove } = await addLines({ label, text: texts.hits.text(), icon: '#i-read' }, () => { texts.given = null; moved() })
  texts.given = { label: `${some(meant.length, 'hit')} ${meant.length === 1 ? 'goes' : 'go'}`, remove }
  announce(`${label} ${meant.length === 1 ? 'goes' : 'go'} with your next prompt, ${some(tokens, 'token')}`)
  moved()
  document.getElementById('prompt').focus()
}

/** Opens the file of the current hit at its line; in a split in the other pane, so that the hits stay. */
async function show({ other } = {}) {
  const hit = texts.hits.all[texts.hits.at]
  if (!hit) return
  keep(texts.parts.q.value)
  const lines = String(hit.line)
  if (secondTab()) other = desk.front === tab.key
  if (hit.file.output) openOutput(hit.file.output, { lines, other })
  else await openFile(hit.file.path, { lines, beside: other })
}

function drawGlobs() {
  texts.parts.globs.replaceChildren(...texts.globs.map((glob) => {
    const chip = clone('tpl-glob')
    chip.parts.name.textContent = glob.startsWith('!') ? `not ${glob.slice(1)}` : glob
    chip.root.classList.toggle('not', glob.startsWith('!'))
    chip.root.querySelector('button').addEventListener('click', () => { texts.globs = texts.globs.filter((g) => g !== glob); drawGlobs(); texts.parts.q.focus(); search() })
    return chip.root
  }))
}

function addGlob() {
  const typed = texts.parts.glob.value.replace(/\bnot\s+/g, '!').split(/[\s,]+/).filter(Boolean)
  texts.globs = [...new Set([...texts.globs, ...typed])]
  texts.parts.glob.value = ''
  texts.parts.glob.hidden = true
  texts.parts.add.hidden = false
  drawGlobs()
  texts.parts.q.focus()
  if (typed.length) search()
}

const toHits = () => texts.parts.hits.focus({ preventScroll: true })

const keys = {
  n: () => texts.hits.step(1), p: () => texts.hits.step(-1), j: () => texts.hits.step(1), k: () => texts.hits.step(-1),
  ' ': () => texts.hits.toggle(), a: () => ask().catch(failed), f: () => texts.parts.q.select(),
  g: () => { texts.parts.hits.scrollTop = 0 }, G: () => { texts.parts.hits.scrollTop = texts.parts.hits.scrollHeight },
}

function key(e) {
  const flag = { c: 'case', w: 'word', r: 'expression' }[(e.code.replace('Key', '') || e.key).toLowerCase()] // with Alt, some keyboards write ç
  if (flag && e.altKey && !e.ctrlKey && !e.metaKey) press(flag)
  else if (e.target.matches('[role=radio]') && beside(e.target, e.key)) {
    const next = beside(e.target, e.key)
    next.focus()
    next.click()
  } else if (e.target === texts.parts.glob) {
    if (e.key === 'Enter' || e.key === 'Escape') addGlob()
    else return
  } else if (e.target === texts.parts.q) {
    if (e.isComposing) return
    if (e.key === 'Enter' && texts.coming) return holdKeys(texts.coming, e)
    if (e.key === 'ArrowDown' || e.key === 'Escape' || (e.key === 'Enter' && texts.hits.all.length)) toHits()
    else return
  } else if (e.target === texts.parts.hits) {
    if (e.key === 'Escape') close(tab)
    else if (e.key === 'Enter') holdKeys(show({ other: e.ctrlKey || e.metaKey }).catch(failed))
    else if (e.ctrlKey || e.metaKey || e.altKey) return
    else if (Object.hasOwn(keys, e.key)) keys[e.key]()
    else if (!ofOthers(e.key)) return
  } else if (e.key === 'Escape') toHits()
  else return
  e.preventDefault()
  e.stopPropagation()
}

function click(e) {
  const by = e.target.closest('[data-step]')?.dataset.step
  const name = e.target.closest('[data-flag]')?.dataset.flag
  const where = e.target.closest('[data-in]')
  if (by) texts.hits.step(Number(by))
  else if (name) press(name)
  else if (where) {
    turnOn(where)
    search()
  }
}

function make() {
  const { root, parts: all } = clone('tpl-grep')
  texts.pane = root
  texts.parts = all
  tab.own = root
  texts.hits = new Hits(texts.parts.hits)
  texts.hits.changed = moved
  texts.parts.q.addEventListener('input', search)
  texts.parts.add.addEventListener('click', () => { texts.parts.add.hidden = true; texts.parts.glob.hidden = false; texts.parts.glob.focus() })
  texts.parts.glob.addEventListener('blur', addGlob)
  texts.parts.ask.addEventListener('click', () => ask().catch(failed))
  texts.parts.hits.addEventListener('dblclick', () => show().catch(failed))
  root.addEventListener('keydown', key)
  root.addEventListener('click', click)
}

/** Opens the search, with the selected text if there is any. */
export function openGrep(query = '') {
  if (document.querySelector('dialog[open]')) return
  const [selected] = (query || String(getSelection()).trim()).split('\n')
  const fresh = !texts.pane
  if (fresh) make()
  openOwn(tab)
  if (selected && selected.length <= 500) texts.parts.q.value = selected
  texts.parts.q.focus()
  texts.parts.q.select()
  if (fresh || selected) search()
}
