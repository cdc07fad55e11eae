// Where something that floats stands: below or above its button, inside the window.

export function drop(el, button) {
  const at = button?.getBoundingClientRect() ?? { left: innerWidth, right: innerWidth, top: 40, bottom: 48 }
  const left = Math.max(8, Math.min(at.right - el.offsetWidth, innerWidth - el.offsetWidth - 8))
  el.style.left = `${at.left < innerWidth / 2 ? Math.max(8, Math.min(at.left, innerWidth - el.offsetWidth - 8)) : left}px`
  el.style.top = `${at.bottom + el.offsetHeight + 4 > innerHeight ? Math.max(8, at.top - el.offsetHeight - 4) : at.bottom + 4}px`
}
