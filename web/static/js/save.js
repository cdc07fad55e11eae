// Files to keep.

import { base } from './base.js'

/** Downloads what is at a path of the server's; the page stays where it is. */
export function save(path, name = '') {
  const a = document.createElement('a')
  a.href = base + path
  a.download = name
  document.body.append(a)
  a.click()
  a.remove()
}

/** Downloads a session as a file. */
export const saveSession = (id, format) => save(`/api/sessions/${id}/export?format=${format}`)
