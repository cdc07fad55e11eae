// The page comes alive here; each behaviour is a module of its own.

import { asking } from './ask.js'
import { auth } from './auth.js'
import { cards } from './cards.js'
import { compose } from './composer.js'
import { connect } from './connection.js'
import { keyboard } from './keys.js'
import { lives } from './life.js'
import { live } from './live.js'
import { notifying } from './notify.js'
import { popups } from './popup.js'
import { copying } from './copy.js'
import { scroll } from './scroll.js'
import { searching } from './search.js'
import { selecting } from './select.js'
import { sessions } from './sessions.js'

document.addEventListener('webchat:signed-out', () => {
  document.getElementById('signed-out')?.removeAttribute('hidden')
})

if (!auth()) {
  scroll()
  cards()
  selecting()
  live()
  asking()
  compose()
  lives()
  sessions()
  searching()
  popups() // before the keys of the page: an open menu takes them first
  keyboard()
  copying()
  notifying()
  connect()
}
