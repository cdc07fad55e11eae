// Calls the user back when the page is out of sight and a turn ended or a
// question waits. Permission is asked for once, on a click.

import { visit } from './base.js'
import { onChanged } from './connection.js'

const asked = 'webchat.notify.asked'
const was = new Map() // session → what it was like

function ask() {
  if (!globalThis.Notification || Notification.permission !== 'default' || localStorage.getItem(asked)) return
  localStorage.setItem(asked, '1')
  Notification.requestPermission()
}

function tell(s, words) {
  if (globalThis.Notification?.permission !== 'granted') return
  const n = new Notification(s.title || 'webchat', { body: words, tag: s.sessionId })
  n.addEventListener('click', () => {
    window.focus()
    if (s.sessionId !== document.body.dataset.session) visit(`/sessions/${s.sessionId}`)
    n.close()
  })
}

export function notifying() {
  document.addEventListener('click', (e) => { if (e.target.closest?.('[data-act=send]')) ask() })
  onChanged((s) => {
    if (!s) return
    const before = was.get(s.sessionId)
    was.set(s.sessionId, s)
    // One tab tells: the one that shows the session, or else any home page.
    const mine = s.sessionId === document.body.dataset.session
    if (!before || !document.hidden || !mine) return
    if (s.pending > before.pending) tell(s, 'waits for your answer')
    else if (s.status === 'idle' && before.status !== 'idle') tell(s, 'is done')
  })
}
