// Keys that waited, as if they were pressed now: the page acts on them first, and then what a browser
// would do with them happens, which it does by itself only with keys of a keyboard.

/** Whether a key writes there. */
const field = (el) => el?.matches?.('textarea, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])')

/** Writes in place of what is chosen, or of one character before or behind the caret. */
function edit(el, text, inputType, { before = 0, behind = 0 } = {}) {
  const { selectionStart: from, selectionEnd: to } = el
  const one = from === to
  el.setRangeText(text, Math.max(0, from - (one ? before : 0)), to + (one ? behind : 0), 'end')
  el.dispatchEvent(new InputEvent('input', { bubbles: true, inputType, data: text || null }))
}

const write = (el, text) => edit(el, text, 'insertText')

/** Writes text where the focus is, or else in the prompt. */
export function insert(text) {
  if (!field(document.activeElement)) document.getElementById('prompt')?.focus({ preventScroll: true })
  if (field(document.activeElement)) write(document.activeElement, text)
}

function tab(by) {
  const all = [...document.querySelectorAll('a[href], button, input, textarea, select, summary, [tabindex]')]
    .filter((el) => el.tabIndex >= 0 && !el.disabled && el.checkVisibility({ visibilityProperty: true }) && !el.closest('[inert]'))
  const place = all.indexOf(document.activeElement)
  all.at((place + by) % all.length)?.focus()
}

const caret = (to) => (el) => {
  if (!field(el)) return
  const at = Math.max(0, to(el))
  el.setSelectionRange(at, at)
}

const acts = {
  Enter: (el) => (el.matches('textarea') ? write(el, '\n') : field(el) ? el.form?.requestSubmit() : el.matches('a[href], button, summary') && el.click()),
  ' ': (el) => (field(el) ? write(el, ' ') : el.matches('button, summary, [type=checkbox], [type=radio]') && el.click()),
  Backspace: (el) => field(el) && edit(el, '', 'deleteContentBackward', { before: 1 }),
  Delete: (el) => field(el) && edit(el, '', 'deleteContentForward', { behind: 1 }),
  Tab: (el, { shiftKey }) => tab(shiftKey ? -1 : 1),
  Escape: () => (document.querySelector('dialog:modal') ?? document.querySelector('[popover]:popover-open'))?.[document.querySelector('dialog:modal') ? 'requestClose' : 'hidePopover']?.(),
  ArrowLeft: caret((el) => el.selectionStart - 1),
  ArrowRight: caret((el) => el.selectionEnd + 1),
  Home: caret(() => 0),
  End: caret((el) => el.value.length),
}

/** Nothing that waited answers a question: it was pressed before that had the focus. */
const question = (el) => el.closest('[data-ask], [data-several]') && !field(el)

/** Presses a key that waited. */
export function actByItself(key) {
  const at = document.activeElement ?? document.body
  if (question(at) && !/^(Tab|Escape)$/.test(key.key)) return
  if (!at.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true, composed: true }))) return
  if (key.ctrlKey || key.metaKey || key.altKey) return
  const el = document.activeElement ?? document.body // the page may have led it elsewhere
  if (Object.hasOwn(acts, key.key)) acts[key.key](el, key)
  else if (key.key.length === 1 && field(el)) write(el, key.key)
}
