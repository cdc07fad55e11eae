// Marks the lines of a card that differ from the last time the same was shown;
// the server says which: data-changed="3-5 9".

import { onApplied } from './queue.js'

function paint(card) {
  const ranges = card.dataset.changed.split(' ').map((r) => r.split('-').map(Number))
  for (const row of card.querySelectorAll('.lines > .line')) {
    const n = Number(row.querySelector('.ln')?.textContent)
    row.classList.toggle('is-changed', ranges.some(([from, to = from]) => n >= from && n <= to))
  }
}

const all = () => document.querySelectorAll('[data-card][data-changed]').forEach(paint)

export function changes() {
  all()
  onApplied(all)
  document.addEventListener('webchat:lines', (e) => { if (e.target.dataset?.changed) paint(e.target) }, true)
}
