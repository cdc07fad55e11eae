// What changes with time alone: life rings, running clocks, the countdown of a
// question, how long something lasts. Once a second, and only what is in the page.

import { expire } from './expire.js'
import { announce } from './announce.js'
import { rowOf } from './tabs.js'

const clock = (ms) => {
  const s = Math.max(0, Math.floor(ms / 1000))
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
}

/** What is left of a card's output, on the card and in the list of outputs. */
function life(card, now) {
  const { expires, ttl, output } = card.dataset
  const left = Date.parse(expires) - now
  const minutes = Math.ceil(left / 60_000)
  const text = left <= 0 ? 'expired' : left < 60_000 ? '< 1 min left' : minutes < 120 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h left`
  for (const el of [card, rowOf(output)]) {
    const mark = el?.querySelector('.life')
    if (!mark) continue
    mark.querySelector('circle.left')?.setAttribute('stroke-dasharray', `${Math.max(0, Math.min(100, 100 * left / Number(ttl)))} 100`)
    const words = mark.querySelector('[data-life]')
    if (words && words.textContent !== text) words.textContent = text
    mark.classList.toggle('soon', left < 240_000)
  }
  if (left <= 0) expire(card)
}

/** Notes in the list of outputs which of them are over; no server says so at that moment. */
function ends(now) {
  const over = [...document.querySelectorAll('#outs [data-state=done][data-expires]')].filter((row) => Date.parse(row.dataset.expires) <= now)
  for (const row of over) {
    row.dataset.state = 'gone'
    row.classList.add('gone')
    row.querySelector('use').setAttribute('href', '#i-gone')
    row.querySelector('.life')?.replaceWith(`deleted ${new Date(row.dataset.expires).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`)
  }
  if (over.length) document.dispatchEvent(new Event('webchat:ended'))
}

function elapsed(card, now) {
  const words = card.querySelector('.state .live')
  if (!words) return
  if (card.told !== card.dataset.elapsed) { // the server's clock leads, ours fills the time between
    card.told = card.dataset.elapsed
    card.since = now - Number(card.told ?? 0)
  }
  words.textContent = clock(now - card.since)
}

function question(el, now) {
  const left = Date.parse(el.dataset.expires) - now
  const all = Date.parse(el.dataset.expires) - Date.parse(el.dataset.asked)
  const words = el.querySelector('[data-left]')
  if (words) words.textContent = clock(left)
  el.querySelector('.drain rect')?.setAttribute('width', `${Math.max(0, Math.min(100, 100 * left / all))}%`)
  for (const mark of [60, 10]) {
    const near = left <= mark * 1000 && left > (mark - 1.5) * 1000
    if (near && el.told !== mark) {
      el.told = mark
      announce(`${mark} seconds left to answer`)
    }
  }
}

/** How long it is since a time, in words; none before data-after seconds are over. */
function age(el, now) {
  const s = Math.max(0, Math.floor((now - Date.parse(el.dateTime)) / 1000))
  const short = el.dataset.age === 'short'
  const text = s < Number(el.dataset.after ?? 0) ? '' : s < 60 ? `${s} s` : s < 3600 ? (short ? `${Math.floor(s / 60)} min` : clock(s * 1000))
    : `${Math.floor(s / 3600)} h${short ? '' : ` ${Math.floor(s / 60) % 60} min`}`
  if (el.textContent === text) return
  if (!el.textContent && el.closest('#wait')) announce(el.previousElementSibling.textContent)
  el.textContent = text
}

function ages(root) {
  for (const el of root?.querySelectorAll('[data-age]') ?? []) age(el, Date.now())
}

function tick() {
  const now = Date.now()
  for (const el of document.querySelectorAll('[data-card][data-state=done][data-expires]')) life(el, now)
  ends(now)
  for (const el of document.querySelectorAll('[data-card][data-state=running]')) elapsed(el, now)
  for (const el of document.querySelectorAll('#dock-asks .perm[data-expires]')) if (el.checkVisibility()) question(el, now)
  for (const el of document.querySelectorAll('[data-until]')) el.querySelector('[data-left]').textContent = clock(Date.parse(el.dataset.until) - now)
  ages(document)
}

export function lives() {
  setInterval(tick, 1000)
  document.addEventListener('visibilitychange', () => document.hidden || tick())
  document.addEventListener('webchat:frame', (e) => { for (const o of e.detail.ops) ages(document.getElementById(o.t)) })
  tick()
}
