// What runs in the background: its age, and its stop.

import { path, post } from './api.js'
import { failed } from './toast.js'

const acts = {
  'stop-task': (button) => post(path(`/tasks/${encodeURIComponent(button.closest('[data-task]').dataset.task)}/abort`)),
  'stop-everything': () => post(path('/abort'), { tasks: true }),
}

function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000))
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
  return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`
}

function tick() {
  for (const el of document.querySelectorAll('#dock-tasks [data-age]')) {
    const text = age(Date.now() - Date.parse(el.dateTime))
    if (el.textContent !== text) el.textContent = text
  }
}

export function tasks() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('#dock-tasks [data-act]')
    if (!button || !Object.hasOwn(acts, button.dataset.act)) return
    acts[button.dataset.act](button).catch(failed)
  })
  setInterval(tick, 1000)
  tick()
}
