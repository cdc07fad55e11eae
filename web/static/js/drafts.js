// What was typed is never lost: drafts are kept per session, sent prompts can be
// recalled.

const draftKey = () => `webchat.draft.${document.body.dataset.session || 'new'}`
const sentKey = 'webchat.sent'
const most = 50

export const draft = {
  load: () => localStorage.getItem(draftKey()) ?? '',
  save(text) {
    try {
      if (text) localStorage.setItem(draftKey(), text)
      else localStorage.removeItem(draftKey())
    } catch { /* the store is full: the text is still in the field */ }
  },
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
