// Choices of which one is on: [role=radio] buttons in a [role=radiogroup].

const all = (b) => [...b.closest('[role=radiogroup]').querySelectorAll('[role=radio]')]

/** Turns a choice on and the others of its group off; Tab leads to it. */
export function turnOn(b) {
  for (const one of all(b)) {
    one.ariaChecked = String(one === b)
    one.tabIndex = one === b ? 0 : -1
  }
}

/** The choice that an arrow leads to from another; null: no arrow. */
export function beside(b, key) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key]
  const list = all(b)
  return by ? list[(list.indexOf(b) + by + list.length) % list.length] : null
}
