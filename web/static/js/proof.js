// The key by which this browser proves, to a server that began anew, that it is
// the one that signed in. Its private half can be used here and not be read:
// not by a page, nor by another program that listens on this port later.

import { base } from './base.js'

const kind = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))

const answered = (request) => new Promise((done, fail) => {
  request.onsuccess = () => done(request.result)
  request.onerror = request.onblocked = () => fail(request.error)
})

/** Does something with the store of keys and waits until it is kept. */
async function keys(mode, act) {
  const opening = indexedDB.open(`webchat.proof${base}`, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('keys')
  const db = await answered(opening)
  try {
    const transaction = db.transaction('keys', mode)
    const kept = new Promise((done, fail) => { transaction.oncomplete = done; transaction.onabort = fail })
    const result = await answered(act(transaction.objectStore('keys')))
    await kept
    return result
  } finally {
    db.close()
  }
}

/** Makes a key: its public half, and how to keep it. Without one, as over plain HTTP, a sign-in ends with the server. */
export async function newKey() {
  try {
    const pair = await crypto.subtle.generateKey(kind, false, ['sign'])
    return {
      open: text(await crypto.subtle.exportKey('raw', pair.publicKey)),
      keep: () => keys('readwrite', (store) => store.put(pair.privateKey, 'sign-in')).catch(() => {}),
    }
  } catch {
    return { keep() {} }
  }
}

/** Signs what the server asks to have signed. */
export async function prove(challenge) {
  const key = await keys('readonly', (store) => store.get('sign-in'))
  return text(await crypto.subtle.sign(kind, key, new TextEncoder().encode(`webchat sign-in ${challenge}`)))
}
