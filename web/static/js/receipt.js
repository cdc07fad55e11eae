// The foot of a card: what the agent may read of it, at which price. Beside the
// chosen lines stand the way to all of them and to what a search has found.

import { clone, some } from './html.js'
import { announce } from './announce.js'
import { selection } from './select.js'
import { liftedOf } from './veil.js'

const found = new WeakMap() // card → {lines: numbers, more: there are others}

/** What reading so many lines would cost: exact for all, by length for a part. */
export function price(card, lines) {
  const all = Number(card.dataset.tokens ?? 0)
  const total = Number(card.dataset.last) - Number(card.dataset.first) + 1
  return lines === undefined ? all : Math.max(1, Math.round(all * lines / total))
}

/** Numbers in ascending order as "3,7-9". */
export function ranges(numbers) {
  const out = []
  for (const n of numbers) {
    if (out.at(-1)?.[1] === n - 1) out.at(-1)[1] = n
    else out.push([n, n])
  }
  return out.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join()
}

const hitsIn = ({ lines, more }) => `${more ? 'first ' : ''}${some(lines.length, 'hit')}`

/** What a button of a card stands for: {label, cost, lines}; no lines: all of it. */
function meant(card, act) {
  const name = card.dataset.name?.split('/').pop() ?? 'output'
  const hits = found.get(card)
  const s = selection(card)
  if (act === 'read-hits' && hits) return { name, label: `${name}: ${hitsIn(hits)}`, cost: price(card, hits.lines.length), lines: ranges(hits.lines) }
  if (act === 'read-all' || !s) return { name, label: name, cost: price(card) }
  return { name, label: `${name}:${s.from}-${s.to}`, cost: price(card, s.to - s.from + 1), lines: `${s.from}-${s.to}` }
}

export function read(card, button) {
  const { name, label, cost, lines } = meant(card, button?.dataset.act)
  const receipt = card.querySelector('[data-receipt]')
  const { root, parts } = clone('tpl-read')
  parts.what.textContent = label
  parts.tokens.textContent = some(cost, 'token')
  receipt.replaceWith(root)
  const detail = {
    label, cost, attachment: { outputId: card.dataset.output, name, lines, lifted: liftedOf(card.dataset.output) || undefined },
    onRemove: () => { if (root.isConnected) { root.replaceWith(receipt); offer(card) } },
  }
  document.dispatchEvent(new CustomEvent('webchat:attach', { detail }))
  root.querySelector('[data-act=unread]').addEventListener('click', () => detail.remove?.())
  announce(`Goes with your next prompt, ${some(cost, 'token')}`)
}

/** Puts a button for a part of the output before the one that is always there. */
function part(button, act, label, cost) {
  const { root, parts } = clone('tpl-part')
  root.dataset.act = act
  parts.label.textContent = label
  parts.price.textContent = `+${cost.toLocaleString('en')}`
  button.before(root)
}

/** Draws the buttons anew after the choice or the hits have changed. */
function offer(card) {
  const s = selection(card)
  const hits = found.get(card)
  card.querySelector('[data-act=copy]')?.setAttribute('aria-label', s ? `Copy ${some(s.to - s.from + 1, 'line')}` : 'Copy')
  const words = card.querySelector('[data-act=read] [data-label]')
  if (!words || 'pane' in card.dataset) return
  for (const old of card.querySelectorAll('[data-act=read-all], [data-act=read-hits]')) old.remove()
  const button = words.closest('button')
  if (s) part(button, 'read-all', 'All', price(card))
  if (hits) part(button, 'read-hits', hitsIn(hits).replace('first', 'First'), price(card, hits.lines.length))
  words.textContent = s ? `Let the agent read line${s.to > s.from ? `s ${s.from}–${s.to}` : ` ${s.from}`}` : 'Let the agent read this'
  button.querySelector('[data-price]').textContent = `+${price(card, s ? s.to - s.from + 1 : undefined).toLocaleString('en')}`
}

export function receipts() {
  document.addEventListener('webchat:chosen', (e) => offer(e.target))
  document.addEventListener('webchat:found', (e) => {
    const { lines, more } = e.detail
    const had = found.get(e.target)
    if (had ? ranges(had.lines) === ranges(lines) && had.more === more : !lines.length) return
    if (lines.length) found.set(e.target, e.detail)
    else found.delete(e.target)
    offer(e.target)
  })
}
