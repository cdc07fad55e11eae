// The line below the composer: what the chips there would add to what the model
// holds, and its figures.

import { above } from './above.js'
import { patch, path } from './api.js'
import { failed, toast } from './toast.js'

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
  budgeting()
}

/** A budget as it is written: 500k, 1,500,000 tokens, $5. */
function budgetOf(text) {
  const [, dollar, number, unit] = /^(\$?)\s*([\d.,]*)\s*([km]?)(?: tokens)?$/i.exec(text.trim()) ?? [null, '', 'x', '']
  const n = Number(number.replaceAll(',', '')) * ({ k: 1e3, m: 1e6 }[unit.toLowerCase()] ?? 1)
  if (Number.isNaN(n)) return null
  return dollar ? { money: n } : { tokens: Math.round(n) }
}

/** Gives the session the budget that was typed. */
function budgeting() {
  const form = document.querySelector('[data-budget-form]')
  form?.addEventListener('submit', async (e) => {
    e.preventDefault()
    const budget = budgetOf(form.budget.value)
    form.budget.setAttribute('aria-invalid', String(!budget))
    if (!budget) return toast('Type a number of tokens such as 500k, or of dollars such as $5')
    try {
      await patch(path(), { budget })
      toast(budget.tokens || budget.money ? `The budget is ${form.budget.value.trim()}` : 'There is no budget')
      figures()
    } catch (err) { failed(err) }
  })
}

/** Shows the figures above the composer, or takes them away. */
export const figures = () => above('ledger-pop', 'meter')
