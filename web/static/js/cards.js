// The buttons of output cards.

import { nextView } from './cardviews.js'
import { confirmed } from './confirm.js'
import { getText, path, post } from './api.js'
import { base } from './base.js'
import { display } from './display.js'
import { expire } from './expire.js'
import { find } from './find.js'
import { holdKeys } from './hold.js'
import { close as closeLines, isOpen, line, open, reveal, rowsOf, wrapped } from './lines.js'
import { togglePause } from './live.js'
import * as picture from './picture.js'
import { pinNew } from './pins.js'
import { read, receipts } from './receipt.js'
import { save } from './save.js'
import { choose, selection } from './select.js'
import { tools } from './tables.js'
import { asShown } from './veil.js'
import { done, failed, toast } from './toast.js'
import { clone, fragment, some } from './html.js'
import { popup } from './popup.js'

const raw = (card) => `/api/outputs/${card.dataset.output}`

/** A picture goes to the clipboard as PNG, the one kind that browsers take. */
async function copyPicture(card) {
  const img = card.querySelector('.pic img')
  const canvas = new OffscreenCanvas(img.naturalWidth, img.naturalHeight)
  canvas.getContext('2d').drawImage(img, 0, 0)
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': canvas.convertToBlob() })])
  done(card.querySelector('[data-act=copy]'))
  toast('Copied the picture')
}

async function copy(card) {
  if (card.dataset.kind === 'image') return copyPicture(card)
  const s = selection(card)
  // The text is asked for inside of the click: browsers grant the clipboard for that.
  const text = getText(`${raw(card)}?${asShown(card.dataset.output, s ? `${s.from}-${s.to}` : '1-')}`)
  if (globalThis.ClipboardItem && navigator.clipboard?.write) {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text.then((t) => new Blob([t], { type: 'text/plain' })) })])
  } else if (navigator.clipboard) await navigator.clipboard.writeText(await text)
  else throw new Error('The browser allows copying only on https or localhost. Download the output instead.')
  done(card.querySelector('[data-act=copy]'))
  const { first, last, lines } = card.dataset // the last belongs to a running command
  toast(`Copied ${some(s ? s.to - s.from + 1 : Number(lines ?? last - first + 1), 'line')}`)
}

const download = (card) => save(raw(card), card.dataset.name?.split('/').pop())

function wrap(card) {
  const on = 'pane' in card.dataset ? !card.querySelector('.code').classList.contains('wrap') : card.querySelector('.code')?.classList.toggle('wrap')
  card.querySelector('[data-act=wrap]')?.setAttribute('aria-pressed', String(Boolean(on)))
  wrapped(card, on)
}

/** Shows all lines. */
function unfold(card) {
  const button = card.querySelector('[data-act=fold]')
  open(card)
  button.setAttribute('aria-expanded', 'true')
  const words = button.querySelector('[data-label]')
  button.dataset.more = words.textContent
  words.textContent = `Show fewer of ${some(Number(card.dataset.last) - Number(card.dataset.first) + 1, 'line')}`
}

/** Shows the lines again that the server had put into the card. */
async function refold(card) {
  const button = card.querySelector('[data-act=fold]')
  const [from, to] = card.dataset.shown.split('-')
  const rows = fragment(await rowsOf(card.dataset.output, from, to))
  closeLines(card)
  card.querySelector('.lines').replaceChildren(rows)
  card.dispatchEvent(new CustomEvent('webchat:lines'))
  button.setAttribute('aria-expanded', 'false')
  button.querySelector('[data-label]').textContent = button.dataset.more
}

async function fold(card) {
  if (isOpen(card)) {
    await refold(card)
    return card.scrollIntoView({ block: 'nearest' })
  }
  unfold(card)
  if (card.querySelector('.card-head + .card-fold')) (await line(card, Number(card.dataset.last)))?.scrollIntoView({ block: 'nearest' })
}

/** Repeats a display without any model; a command after one confirmation, and a file that is gone in its place. */
async function again(card) {
  if (card.dataset.state === 'expired' && 'reread' in card.dataset) {
    const shown = await post(path(`/outputs/${card.dataset.output}/reread`))
    if (shown.output) return shown
  }
  const { asks, repeats } = tools.get(card.dataset.tool) ?? {}
  if (asks && !await confirmed(asks, card.dataset.name, repeats)) return null
  return display({ tool: card.dataset.tool, arguments: JSON.parse(card.dataset.args) })
}

async function againPinned(card) {
  const shown = await again(card)
  if (shown?.output) pinNew(shown.output.id)
}

function goTo(card) {
  if (card.querySelector('.find')) return card.querySelector('.find input').focus()
  const { root, parts } = clone('tpl-goto')
  const input = root.querySelector('input')
  parts.count.textContent = `${card.dataset.first} to ${card.dataset.last}`
  const shut = () => { root.remove(); (card.querySelector(':is(.code, .other):not([hidden])') ?? card).focus({ preventScroll: true }) }
  root.addEventListener('submit', (e) => {
    e.preventDefault()
    const [n, to = n] = input.value.split(/[-–]/).map(Number)
    holdKeys(line(card, n).then((row) => {
      if (!row) return toast(`There is no line ${input.value}`)
      shut()
      choose(card, n, Math.max(n, Math.min(to, Number(card.dataset.last) || to)))
      reveal(card, row)
    })).catch(failed)
  })
  root.addEventListener('keydown', (e) => { e.stopPropagation(); if (e.key === 'Escape') shut() })
  root.querySelector('[data-act=find-close]').addEventListener('click', shut)
  card.querySelector('.card-head, .dhead').after(root)
  input.focus()
}

/** Opens a card's output on the Desk. */
function alone(card) {
  const s = selection(card)
  const detail = { target: card.dataset.output ?? card.querySelector('[data-slip]')?.dataset.slip, lines: s && `${s.from}-${s.to}` }
  card.dispatchEvent(new CustomEvent('webchat:open', { bubbles: true, detail }))
}

const acts = {
  copy, download, wrap, fold, again, alone, read, goTo, view: nextView, find: (card) => find(card),
  'read-all': read, 'read-hits': read,
  compare: again, 'again-pin': againPinned,
  'stop-tool': (card) => post(path(`/tools/${card.dataset.call}/abort`)),
  pause: (card, button) => ('pane' in card.dataset ? null : togglePause(card, button)),
  more: (card, button) => popup(button, Object.entries({ find: 'search', copy: 'copy', wrap: 'wrap', download: 'down' })
    .map(([name, icon]) => [name, icon, card.querySelector(`.card-head [data-act=${name}]`)]).filter(([, , b]) => b && !b.hidden && !b.checkVisibility())
    .map(([name, icon, b]) => ({ label: b.title.replace(/ \(.\)$/, ''), icon, run: () => run(name, card, b) }))),
  'zoom-in': picture.zoomIn, 'zoom-out': picture.zoomOut, 'zoom-fit': picture.fit, 'zoom-one': picture.one,
}

const keys = { f: 'find', w: 'wrap', c: 'copy', d: 'download', o: 'alone', l: 'goTo', r: 'read', s: 'stop-tool', v: 'view', x: 'fold' }

const picks = { '-': 'zoom-out', '+': 'zoom-in', '=': 'zoom-in', 0: 'zoom-fit', 1: 'zoom-one' } // on pictures

/** Does what a button of a card does. */
export function run(name, card, button) {
  const needs = { fold: '[data-act=fold]', read: '[data-act=read]', 'stop-tool': '[data-act=stop-tool]', wrap: '.line > a.ln', find: '[data-act=find]:not([hidden])', goTo: '[data-act=find]:not([hidden])', copy: '[data-act=copy]' }[name]
  if (needs && !card.querySelector(needs)) return
  Promise.resolve().then(() => acts[name](card, button)).catch((err) => {
    if (err.status === 404 && card.dataset.state === 'done') expire(card) // sooner than its time, for want of memory
    failed(err)
  })
}

export function cards() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('[data-act]')
    const card = button?.closest('[data-card]')
    if (card && Object.hasOwn(acts, button.dataset.act)) {
      e.preventDefault() // download is a link that works without scripts, too
      run(button.dataset.act, card, button)
    }
  })
  document.addEventListener('keydown', (e) => {
    const card = e.target.closest?.('[data-card]')
    if (!card || 'pane' in card.dataset || e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input, textarea, button')) return
    const act = card.dataset.kind === 'image' && picks[e.key] ? picks[e.key] : keys[e.key]
    if (act && card.querySelector('.code, .pic, .other')) {
      e.preventDefault()
      run(act, card, card.querySelector(`[data-act=${act}]`))
    }
  })
  document.addEventListener('toggle', (e) => { if (e.target.matches?.('details.tool, details.steps, details.did')) e.target.dataset.touched = '' }, true)
  picture.pictures()
  receipts()
}
