// Calls the user back when the page is out of sight and a turn ended or a question
// waits. Whether it may is asked when it would have helped: at the next look.

import { visit } from './base.js'
import { onChanged } from './connection.js'
import { inWords } from './ready.js'
import { toast } from './toast.js'

const asked = 'webchat.notify.asked'
const was = new Map() // session → what it was like

/** Whether notifications are turned off in this browser: empty, or off. */
export const muted = {
  now: () => localStorage.getItem('webchat.notify') ?? '',
  set(value) {
    if (value) localStorage.setItem('webchat.notify', value)
    else localStorage.removeItem('webchat.notify')
  },
}

/** What happened out of sight. */
const away = {
  missed: '', // what happened out of sight and could not be notified
}

/** Offers to tell the next time, once. */
function offer() {
  if (document.hidden || !away.missed) return
  toast(`The agent ${away.missed} while you were elsewhere`, { how: 'ask', stay: true, act: { label: 'Notify me next time', run: () => Notification.requestPermission() } })
  localStorage.setItem(asked, '1')
  away.missed = ''
}

function tell(s, words) {
  if (!globalThis.Notification || muted.now()) return
  if (Notification.permission === 'default' && !localStorage.getItem(asked)) away.missed = words
  if (Notification.permission !== 'granted') return
  const n = new Notification(s.title || 'webchat', { body: words, tag: s.sessionId })
  n.addEventListener('click', () => {
    window.focus()
    if (s.sessionId !== document.body.dataset.session) visit(`/sessions/${s.sessionId}`)
    n.close()
  })
}

/** Tells what is asked, as soon as the page has the question. */
function question(s) {
  const all = document.querySelectorAll('#asks [data-ask]')
  if (all.length >= s.pending) tell(s, inWords([...all].at(-1)))
  else document.addEventListener('webchat:frame', () => document.hidden && question(s), { once: true })
}

export function notifying() {
  document.addEventListener('visibilitychange', offer)
  onChanged((s) => {
    if (!s) return
    const before = was.get(s.sessionId)
    was.set(s.sessionId, s)
    // One tab notifies: the one that shows the session, or else any home page.
    const mine = s.sessionId === document.body.dataset.session
    if (!before || !document.hidden || !mine) return
    if (s.pending > before.pending) question(s)
    else if (s.status === 'idle' && before.status !== 'idle') tell(s, 'finished')
  })
}
