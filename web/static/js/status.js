// The title and the icon of the tab say what the session does: … runs, (1) waits, ✓ is
// done since somebody looked.

const icon = document.querySelector('link[rel=icon]')
const plain = icon?.href
const composer = document.getElementById('composer')
/** The title of the document, without marks. */
const heading = {
  name: document.title,
  done: false,
}

/** Says what the page is called. */
export function title(text) {
  heading.name = text
  show()
}

function show() {
  const state = { waiting: 'waiting', running: 'running' }[composer?.dataset.status] ?? (heading.done ? 'done' : '')
  document.title = `${{ running: '… ', done: '✓ ' }[state] ?? ''}${heading.name}`
  const href = state ? plain.replace(/favicon\.svg$/, `favicon-${state}.svg`) : plain
  if (icon && icon.href !== href) icon.href = href
}

export function statuses() {
  if (!composer) return
  let was = composer.dataset.status
  new MutationObserver(() => {
    const now = composer.dataset.status
    if (now === was) return
    heading.done = document.hidden && now === 'idle'
    was = now
    show()
  }).observe(composer, { attributes: true, attributeFilter: ['data-status'] })
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !heading.done) return
    heading.done = false
    show()
  })
  show()
}
