// The divider between the conversation and the Desk: dragged, moved by arrows, put
// back by a double click. The width is kept for this browser.

const key = 'webchat.talk'
const least = 400
const most = 640
const usual = 520

function set(width, keep = true) {
  const w = Math.round(Math.min(most, Math.max(least, width)))
  document.getElementById('app').style.setProperty('--talk', `${w}px`)
  document.getElementById('divider').setAttribute('aria-valuenow', w)
  if (keep) localStorage.setItem(key, w)
}

export function dividing() {
  const divider = document.getElementById('divider')
  if (!divider) return
  if (localStorage.getItem(key)) set(Number(localStorage.getItem(key)), false)
  const now = () => document.getElementById('bar').offsetWidth
  divider.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return
    e.preventDefault()
    divider.setPointerCapture(e.pointerId)
    divider.classList.add('is-held')
    const by = now() - e.clientX
    const move = (m) => set(m.clientX + by)
    divider.addEventListener('pointermove', move)
    divider.addEventListener('lostpointercapture', () => {
      divider.removeEventListener('pointermove', move)
      divider.classList.remove('is-held')
    }, { once: true })
  })
  divider.addEventListener('dblclick', () => set(usual))
  divider.addEventListener('keydown', (e) => {
    const to = { ArrowLeft: now() - 16, ArrowRight: now() + 16, Home: least, End: most }[e.key]
    if (to === undefined) return
    e.preventDefault()
    set(to)
  })
}
