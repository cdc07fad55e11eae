// Pictures: fitted at first; zoom by buttons or double-click, pan by dragging.

import { clone } from './html.js'

const scale = new WeakMap() // card → factor, absent when fitted

function show(card, factor) {
  const box = card.querySelector('.pic')
  const img = picture(card)
  if (!img) return
  box.classList.toggle('is-free', factor !== null)
  if (factor === null) {
    scale.delete(card)
    img.style.width = ''
  } else {
    scale.set(card, factor)
    img.style.width = `${img.naturalWidth * factor}px`
  }
  pill(box)
  for (const [act, on] of [['zoom-fit', factor === null], ['zoom-one', factor === 1]]) box.querySelector(`[data-act=${act}]`).setAttribute('aria-pressed', String(on))
  label(card)
}

/** Puts the zoom buttons beside a picture. */
function pill(box) {
  if (!box.querySelector('.zoom')) box.append(clone('tpl-zoom').root)
}

/** The picture of a card once it has come: none stands there before, nor where it could not be read. */
const picture = (card) => {
  const img = card.querySelector('.pic img')
  return img?.naturalWidth ? img : null
}

const now = (card) => {
  const img = picture(card)
  if (!img) return 1
  return scale.get(card) ?? Math.min(img.clientWidth / img.naturalWidth, img.clientHeight / img.naturalHeight)
}

function label(card) {
  const words = card.querySelector('.pic [data-part=percent]')
  if (words && picture(card)) words.textContent = `${Math.round(now(card) * 100)}%`
}

export const zoomIn = (card) => show(card, Math.min(16, now(card) * 1.5))
export const zoomOut = (card) => show(card, Math.max(0.05, now(card) / 1.5))
export const fit = (card) => show(card, null)
export const one = (card) => show(card, 1)

export function pictures() {
  document.addEventListener('dblclick', (e) => {
    const card = e.target.closest?.('.pic')?.closest('[data-card]')
    if (card) scale.get(card) === 1 ? fit(card) : one(card)
  })
  document.addEventListener('pointerdown', (e) => {
    const box = e.target.closest?.('.pic.is-free')
    if (!box || e.button !== 0 || e.target.closest('button')) return
    e.preventDefault()
    box.setPointerCapture(e.pointerId)
    const from = { x: e.clientX + box.scrollLeft, y: e.clientY + box.scrollTop }
    const drag = (m) => { box.scrollLeft = from.x - m.clientX; box.scrollTop = from.y - m.clientY }
    box.addEventListener('pointermove', drag)
    box.addEventListener('pointerup', () => box.removeEventListener('pointermove', drag), { once: true })
  })
  // The zoom pill stands beside a picture on the Desk; elsewhere it comes when that is pointed at or focused.
  for (const type of ['pointerover', 'focusin', 'webchat:pane']) {
    document.addEventListener(type, (e) => {
      const card = e.target.closest?.('[data-card]')
      const box = card?.querySelector('.pic')
      if (!box) return
      pill(box)
      label(card)
    })
  }
  document.addEventListener('load', (e) => { if (e.target.closest?.('.pic')) label(e.target.closest('[data-card]')) }, true)
}
