// In a session saved as a page: what came after the moment of the film is not there yet. It stands
// behind film.js in the file, and imports nothing.

const born = document.getElementById('turns').dataset.born.split(' ').filter(Boolean).map((pair) => {
  const colon = pair.lastIndexOf(':')
  return [document.getElementById(pair.slice(0, colon)), Number(pair.slice(colon + 1))]
})

document.addEventListener('webchat:moment', (e) => {
  let newest = null
  for (const [el, seq] of born) {
    if (!el) continue
    el.hidden = seq > e.detail
    if (!el.hidden) newest = el
  }
  newest?.scrollIntoView({ block: 'nearest' })
})
