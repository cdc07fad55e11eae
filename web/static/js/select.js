// Lines of a card chosen by their numbers: click, shift-click or drag. The
// choice stands in the address as #L62-L72@card and says what copy copies.

import { rested } from './fingers.js'
import { line, reveal } from './lines.js'
import { announce } from './announce.js'
import { viewerOf } from './viewer.js'

/** The lines that are selected. */
const selected = {
  chosen: null, // {card, from, to, anchor}
}

/** The lines chosen in card: {from, to}, or null. */
export const selection = (card) => (selected.chosen?.card === card ? { from: selected.chosen.from, to: selected.chosen.to } : null)

/** The address of an output on the Desk, and of lines in it. */
export const deskHash = (pane, from, to) => `#out/${pane.dataset.target}${from ? `:${from}${to > from ? `-${to}` : ''}` : ''}`

const numberOf = (el) => Number(el.getAttribute('href').slice(2))
const hash = ({ card, from, to }) => `#L${from}${to > from ? `-L${to}` : ''}@${card.closest('[id^="c-"]')?.id ?? card.id}`

function paint() {
  for (const el of document.querySelectorAll('.line.on')) el.classList.remove('on')
  if (!selected.chosen) return
  for (const ln of selected.chosen.card.querySelectorAll('a.ln')) {
    const n = numberOf(ln)
    if (n >= selected.chosen.from && n <= selected.chosen.to) ln.closest('.line')?.classList.add('on')
  }
}

export function choose(card, a, b, anchor = a) {
  selected.chosen = { card, from: Math.min(a, b), to: Math.max(a, b), anchor }
  if (!card.hidden && !('pane' in card.dataset)) history.replaceState(null, '', hash(selected.chosen)) // the Desk writes a pane's
  paint()
  card.dispatchEvent(new CustomEvent('webchat:chosen', { bubbles: true }))
}

export function unchoose() {
  if (!selected.chosen) return
  const { card } = selected.chosen
  selected.chosen = null
  if (!('pane' in card.dataset)) history.replaceState(null, '', location.pathname + location.search)
  paint()
  card.dispatchEvent(new CustomEvent('webchat:chosen', { bubbles: true }))
}

/** Makes the choice longer or shorter by a line; the first of them is on the screen. */
function extend(card, by) {
  const v = viewerOf(card)
  if (selected.chosen?.card !== card) choose(card, v.seen.from, v.seen.from)
  else {
    const { anchor, from, to } = selected.chosen
    const end = Math.min(v.last, Math.max(v.first, (anchor === from ? to : from) + by))
    choose(card, anchor, end, anchor)
    v.line(end)
  }
  announce(selected.chosen.to > selected.chosen.from ? `Lines ${selected.chosen.from} to ${selected.chosen.to} selected` : `Line ${selected.chosen.from} selected`)
}

/** Goes to the lines the address names. */
async function goToHash() {
  const m = /^#L(\d+)(?:-L?(\d+))?(?:@(.+))?$/.exec(decodeURIComponent(location.hash))
  if (!m) return
  const root = m[3] ? document.getElementById(m[3]) : document
  const card = root?.matches?.('[data-card]') ? root : root?.querySelector('[data-card]')
  if (!card) return
  const from = Number(m[1])
  const row = await line(card, from)
  choose(card, from, Number(m[2] ?? from))
  reveal(card, row ?? card)
}

/** A finger has no Shift: the second number it taps chooses all from the first one on. */
function tap(card, n) {
  const one = selected.chosen?.card === card && selected.chosen.from === selected.chosen.to
  if (one && selected.chosen.from === n) unchoose()
  else choose(card, one ? selected.chosen.from : n, n, one ? selected.chosen.from : n)
}

export function selecting() {
  let drag = null
  document.addEventListener('click', (e) => { if (e.target.closest?.('a.ln')) e.preventDefault() })
  document.addEventListener('pointerdown', (e) => {
    const ln = e.target.closest?.('a.ln')
    const card = ln?.closest('[data-card]')
    if (!card || e.button !== 0 || e.pointerType === 'touch') return // a finger may be about to scroll
    e.preventDefault()
    const n = numberOf(ln)
    if (e.shiftKey && selected.chosen?.card === card) choose(card, selected.chosen.anchor, n, selected.chosen.anchor)
    else if (selected.chosen?.card === card && selected.chosen.from === n && selected.chosen.to === n) unchoose()
    else choose(card, n, n)
    drag = { card, anchor: selected.chosen?.anchor ?? n }
  })
  document.addEventListener('pointermove', (e) => {
    if (!drag) return
    const ln = e.target.closest?.('.line')?.querySelector('a.ln')
    if (ln?.closest('[data-card]') === drag.card) choose(drag.card, drag.anchor, numberOf(ln), drag.anchor)
  })
  document.addEventListener('pointerup', (e) => {
    drag = null
    const ln = e.pointerType === 'touch' && !rested() && e.target.closest?.('a.ln')
    const card = ln && ln.closest('[data-card]')
    if (card) tap(card, numberOf(ln))
  }, true) // before what is offered for the choice
  document.addEventListener('keydown', (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (by && e.shiftKey && !e.ctrlKey && !e.altKey && e.target.matches?.('.pane .code') && viewerOf(e.target.closest('.pane'))) {
      e.preventDefault()
      return extend(e.target.closest('.pane'), by)
    }
    if (e.key !== 'Enter' || !e.target.matches?.('a.ln')) return
    e.preventDefault()
    const card = e.target.closest('[data-card]')
    const n = numberOf(e.target)
    choose(card, e.shiftKey && selected.chosen?.card === card ? selected.chosen.anchor : n, n)
  })
  document.addEventListener('webchat:lines', paint, true)
  addEventListener('hashchange', goToHash)
  goToHash()
}
