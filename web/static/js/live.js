// A running command: its card asks for the newest lines whenever frames say
// that there are more, and follows them until the reader pauses. Of a file that is read, for the first.

import { fragment } from './html.js'
import { rowsOf } from './lines.js'

const shown = 18 // lines of a running card
const pause = 200 // milliseconds between two looks
const beside = matchMedia('(min-width: 1100px)') // the Desk shows it there, and its card is a slip
const busy = new WeakMap() // card → the look under way

async function look(card) {
  if (beside.matches) return
  if (busy.has(card)) {
    busy.get(card).again = true
    return
  }
  const state = { again: false }
  busy.set(card, state)
  const last = Number(card.dataset.lines ?? 0)
  const { output } = card.dataset
  try {
    if (output && last > 0) {
      const follows = card.dataset.kind === 'terminal' // else a file, which is read from its top
      const rows = fragment(await rowsOf(output, follows ? Math.max(1, last - shown + 1) : 1, follows ? last : Math.min(shown, last)))
      if (card.isConnected && card.dataset.state === 'running' && !('paused' in card.dataset)) {
        card.querySelector('.lines').replaceChildren(rows)
        const code = card.querySelector('.code')
        if (follows) code.scrollTop = code.scrollHeight
      }
    }
  } catch { /* the next progress looks again */ }
  setTimeout(() => {
    busy.delete(card)
    if (state.again && card.isConnected) look(card)
  }, pause)
}

export function live() {
  const turns = document.getElementById('turns')
  if (!turns) return
  const each = (el) => {
    if (el.dataset?.card !== undefined && el.dataset.state === 'running' && !('paused' in el.dataset)) look(el)
  }
  new MutationObserver((changes) => { for (const c of changes) each(c.target) })
    .observe(turns, { subtree: true, attributes: true, attributeFilter: ['data-lines', 'data-output'] })
  const all = () => turns.querySelectorAll('[data-card][data-state=running]').forEach(each)
  beside.addEventListener('change', all)
  all()
}

/** Stops or goes on following. */
export function togglePause(card, button) {
  const paused = card.toggleAttribute('data-paused')
  const words = button.querySelector('[data-label]')
  words.textContent = paused ? 'Follow' : 'Pause'
  button.setAttribute('aria-pressed', String(paused))
  if (!paused) look(card)
}
