// The line below the composer: what the chips there would add to what the model
// holds, and its figures.

import { above } from './above.js'

/** What the next prompt adds. */
const ledger = {
  adds: 0,
}

function paint() {
  const meter = document.getElementById('meter')
  const words = meter?.querySelector('[data-adds-words]')
  if (!words) return
  const text = ledger.adds ? `+${ledger.adds.toLocaleString('en')}` : ''
  if (words.textContent !== text) words.textContent = text
  const limit = Number(meter.dataset.limit)
  const bar = meter.querySelector('[data-adds]')
  bar?.setAttribute('width', ledger.adds && limit ? `max(2px, ${Math.min(100, 100 * ledger.adds / limit)}%)` : '0')
  if (bar) bar.style.width = ledger.adds && limit ? `max(2px, ${Math.min(100, 100 * ledger.adds / limit)}%)` : ''
}

export function metering() {
  const chips = document.getElementById('chips')
  if (!chips) return
  const count = () => {
    ledger.adds = [...chips.querySelectorAll('[data-cost]')].reduce((sum, el) => sum + Number(el.dataset.cost), 0)
    paint()
  }
  new MutationObserver(count).observe(chips, { childList: true, subtree: true, attributeFilter: ['data-cost'] })
  document.addEventListener('webchat:frame', paint)
}

/** Shows the figures above the composer, or takes them away. */
export const figures = () => above('ledger-pop', 'meter')
