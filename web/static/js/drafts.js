// What was typed is never lost, nor are the chips of lines that wait to go with it: drafts are
// kept per session, sent prompts can be recalled.

const keyOf = (what) => `webchat.${what}.${document.body.dataset.session || 'new'}`
const sentKey = 'webchat.sent'
const most = 50
const mostListed = 1000

export const draft = {
  load: () => localStorage.getItem(keyOf('draft')) ?? '',
  save: (text) => keep('draft', text),

  /** Calls then with a draft that another page of this session has sent. */
  gone: (then) => window.addEventListener('storage', (e) => { if (e.key === keyOf('draft') && e.newValue === null) then(e.oldValue) }),

  /** A list that is kept beside the text, by its name. */
  list: (what) => parsed(localStorage.getItem(keyOf(what))),
  saveList: (what, list) => keep(what, list.length ? JSON.stringify(list.slice(-mostListed)) : ''),

  /** Calls then with that list as it was and is, when another page of this session has changed it. */
  elsewhere: (what, then) => window.addEventListener('storage', (e) => { if (e.key === keyOf(what)) then(parsed(e.oldValue), parsed(e.newValue)) }),
}

function parsed(json) {
  return JSON.parse(json ?? '[]')
}

/** Records undone changes that went to the agent, or that are kept from it. */
export function told(keys) {
  draft.saveList('told', [...new Set([...draft.list('told'), ...keys])])
}

function keep(what, text) {
  try {
    if (text) localStorage.setItem(keyOf(what), text)
    else localStorage.removeItem(keyOf(what))
  } catch { /* the store is full: what is in the composer is still there */ }
}

const sent = () => JSON.parse(localStorage.getItem(sentKey) ?? '[]')

export function remember(text) {
  const list = sent().filter((t) => t !== text)
  list.push(text.slice(0, 20_000))
  try { localStorage.setItem(sentKey, JSON.stringify(list.slice(-most))) } catch { /* recall is a comfort */ }
}

/** Walks through what was sent: step -1 is older, +1 newer. */
export function recaller() {
  let at = null
  return {
    step(by) {
      const list = sent()
      at = Math.min(list.length, Math.max(0, (at ?? list.length) + by))
      return list[at] ?? ''
    },
    stop() { at = null },
    get active() { return at !== null },
  }
}
