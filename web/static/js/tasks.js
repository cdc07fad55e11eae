// What runs in the background: its stop.

import { path, post } from './api.js'
import { failed } from './toast.js'

const acts = {
  'stop-task': (button) => post(path(`/tasks/${encodeURIComponent(button.closest('[data-task]').dataset.task)}/abort`)),
  'stop-everything': () => post(path('/abort'), { tasks: true }),
}

export function tasks() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('#dock-tasks [data-act]')
    if (!button || !Object.hasOwn(acts, button.dataset.act)) return
    acts[button.dataset.act](button).catch(failed)
  })
}
