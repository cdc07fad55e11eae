// The one place where text becomes elements. The server made and escaped the
// HTML; the policy's name is the only one the page's CSP admits.

import { base } from './base.js'

const policy = globalThis.trustedTypes
  ? globalThis.trustedTypes.createPolicy('webchat', {
    createHTML: (html) => html,
    createScriptURL: (url) => {
      const u = new URL(url, location.href)
      if (u.origin !== location.origin || !u.pathname.startsWith(`${base}/static/`)) throw new TypeError(`not our script: ${u}`)
      return u.href
    },
  })
  : { createHTML: (html) => html, createScriptURL: (url) => url }

/** Elements of a piece of the server's HTML. */
export function fragment(html) {
  const t = document.createElement('template')
  t.innerHTML = policy.createHTML(html)
  return document.importNode(t.content, true)
}

/** The address of one of our scripts, as the browser wants it for a worker. */
export function scriptURL(url) {
  return policy.createScriptURL(url)
}

/** A short text in one line in which nothing can hide or turn others around: ⟨U+202E⟩. */
export const plain = (text) => text.replaceAll('\n', ' ↵ ').replaceAll('\t', ' ')
  .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)

/** A number and what it counts: "1 line", "1,204 lines". */
export const some = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`

/** A clone of template #id; its parts by data-part. */
export function clone(id) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true)
  const parts = {}
  for (const el of [root, ...root.querySelectorAll('[data-part]')]) {
    if (el.dataset.part) parts[el.dataset.part] = el
  }
  return { root, parts }
}
