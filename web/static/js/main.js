// The page comes alive here; each behaviour is a module of its own.

import { asking } from './ask.js'
import { auth } from './auth.js'
import { cards } from './cards.js'
import { changes } from './changed.js'
import { compose } from './composer.js'
import { connect } from './connection.js'
import { expiring } from './expire.js'
import { keyboard } from './keys.js'
import { lives } from './life.js'
import { live } from './live.js'
import { maps } from './map.js'
import { folded } from './more.js'
import { notifying } from './notify.js'
import { popups } from './popup.js'
import { copying } from './copy.js'
import { reaching } from './reach.js'
import { scroll } from './scroll.js'
import { searching } from './search.js'
import { selecting } from './select.js'
import { sessions } from './sessions.js'
import { tasks } from './tasks.js'
import { toast } from './toast.js'
import { letters } from './typing.js'

document.addEventListener('webchat:signed-out', () => {
  toast('Signed out. What you write is kept. For a new link, run webchat url where webchat runs', { how: 'fail', stay: true })
}, { once: true })

if (!auth()) {
  letters() // before all others that listen to keys
  scroll()
  cards()
  changes()
  folded()
  selecting()
  reaching()
  maps()
  live()
  tasks()
  asking()
  compose()
  lives()
  expiring()
  sessions()
  searching()
  popups() // before the keys of the page: an open menu takes them first
  keyboard()
  copying()
  notifying()
  connect()
}
