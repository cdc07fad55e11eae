// What a finger does that a pointer has other ways for: it rests on something, or it swipes.

const rest = 500 // milliseconds
const far = 72 // pixels
/** What fingers do. */
const hand = {
  held: false,
}

/** Whether the finger that was on the screen last had rested: lifting it is not a tap then. */
export const rested = () => hand.held

/** The name of a key, for where there are keys: none on phones. */
export const keyName = (key) => (matchMedia('(pointer: coarse)').matches ? undefined : key)

/** Runs act with what find(target) returns once a finger has rested there. */
export function longPress(root, find, act) {
  let timer = 0
  const end = () => clearTimeout(timer)
  root.addEventListener('pointerdown', (e) => {
    end()
    hand.held = false
    const el = e.pointerType === 'touch' && find(e.target)
    if (el) timer = setTimeout(() => { hand.held = true; act(el, e) }, rest)
  })
  for (const type of ['pointerup', 'pointercancel']) root.addEventListener(type, end)
  root.addEventListener('contextmenu', (e) => { if (e.pointerType === 'touch' && find(e.target)) e.preventDefault() })
}

/** Runs act when one finger went sideways on el: by 1 to the right, by -1 to the left. begins: whether it may begin there. */
export function swipe(el, by, begins, act) {
  el.addEventListener('touchstart', (start) => {
    const [from] = start.touches
    if (start.touches.length > 1 || !begins(from)) return
    document.addEventListener('touchend', (end) => {
      const [to] = end.changedTouches
      if (by * (to.clientX - from.clientX) >= far && Math.abs(to.clientY - from.clientY) < far) act()
    }, { once: true })
  }, { passive: true })
}
