// Sign-in. The one-time secret stands behind the # of the address, where no
// server log and no referrer sees it; it is spent by a POST. What the page that
// follows begins with comes meanwhile.

import { post, get, secret } from './api.js'
import { base } from './base.js'
import { newKey } from './proof.js'

const patience = 4000 // milliseconds until the way on no longer waits for what the next page would wait for

const shown = (id) => {
  for (const one of ['auth-wait', 'auth-out', 'auth-bad']) document.getElementById(one)?.toggleAttribute('hidden', one !== id)
}

/** The page to go to: the one that was asked for, never another site's. */
const goal = (to) => {
  const wanted = new URL(base + (to ?? '/'), location.origin)
  if (location.pathname !== `${base}/auth`) return location.pathname + location.search
  return to?.startsWith('/') && wanted.origin === location.origin ? wanted.href : `${base}/`
}

/** Has the browser keep what the next page begins with. */
function load() {
  const each = document.querySelector('script[data-next]').dataset.next.split(' ').map((name) => new Promise((done) => {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = new URL(`${name}.js`, import.meta.url)
    link.onload = link.onerror = done
    document.head.append(link)
  }))
  return Promise.race([Promise.all(each), new Promise((done) => { setTimeout(done, patience) })])
}

async function signIn() {
  const given = new URLSearchParams(location.hash.slice(1))
  const [token, to] = [given.get('t'), given.get('to')]
  history.replaceState(null, '', location.pathname + location.search)
  if (token) {
    try {
      const loaded = load()
      const key = await newKey()
      secret.set((await post('/api/sign-in', { token, key: key.open })).secret)
      await key.keep()
      await loaded
    } catch {
      shown('auth-bad')
      return
    }
    location.replace(goal(to))
    return
  }
  // A link from another site comes without our SameSite cookie, though we may
  // well be signed in: a request of our own tells, and a navigation of our own
  // brings the cookie along.
  try {
    await get('/api/sessions?limit=1')
    if (secret.get()) location.replace(goal(to))
    else shown('auth-out')
  } catch {
    shown('auth-out')
  }
}

shown('auth-wait')
signIn()
