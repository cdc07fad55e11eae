// The page comes alive here; each behaviour is a module of its own.

import { asking } from './ask.js'
import { looking } from './peek.js'
import { cards } from './cards.js'
import { cardViews } from './cardviews.js'
import { changes } from './changed.js'
import { compose } from './composer.js'
import { connect } from './connection.js'
import { desks } from './desksync.js'
import { dividing } from './divider.js'
import { editing } from './editor.js'
import { expiring } from './expire.js'
import { failures } from './failure.js'
import { resting } from './focus.js'
import { ghosts } from './ghost.js'
import { giving } from './give.js'
import { handling } from './handles.js'
import { held } from './held.js'
import { keyboard } from './keys.js'
import { lives } from './life.js'
import { live } from './live.js'
import { maps } from './map.js'
import { folded } from './more.js'
import { metering } from './meter.js'
import { notifying } from './notify.js'
import { following } from './ondisk.js'
import { inPlace } from './inplace.js'
import { paneActs } from './pane.js'
import { paneMaps } from './panemap.js'
import { paneMenus } from './panemenu.js'
import { panesOff } from './paneoff.js'
import { paneViews } from './paneviews.js'
import { popups } from './popup.js'
import { references } from './prose.js'
import { copying } from './copy.js'
import { reaching } from './reach.js'
import { refusing } from './refused.js'
import { scroll } from './scroll.js'
import { selecting } from './select.js'
import { sessions } from './sessions.js'
import { statuses } from './status.js'
import { staying } from './stays.js'
import { tasks } from './tasks.js'
import { sheets } from './sheet.js'
import { shelves } from './shelf.js'
import { changedList } from './changedlist.js'
import { papers } from './paper.js'
import { starting } from './start.js'
import { stripped } from './strip.js'
import { failed, toast } from './toast.js'
import { goes } from './goes.js'
import { turnActs } from './turnacts.js'
import { letters } from './typing.js'
import { veils } from './veil.js'
import { wentBack } from './wentback.js'

document.addEventListener('webchat:signed-out', () => {
  toast('Signed out. Your draft is kept. For a new link, run “webchat url” where webchat runs', { how: 'fail', stay: true })
}, { once: true })

document.addEventListener('click', (e) => {
  const button = e.target.closest?.('[data-act=bar-more], [data-act=plus]')
  if (button) import('./phone.js').then((m) => m.more(button)).catch(failed)
})

letters() // before all others that listen to keys
veils() // before the rows they are in
scroll()
giving() // before the cards, whose buttons the panes share
cards()
changes()
folded()
selecting()
handling()
reaching()
maps()
held()
live()
tasks()
staying()
dividing()
paneActs()
paneMaps()
paneMenus()
editing()
paneViews()
panesOff()
references()
failures()
metering()
sheets() // before the Desk, which goes where the address leads
desks()
cardViews()
resting()
following()
inPlace()
stripped()
shelves()
changedList()
asking()
compose()
ghosts()
lives()
expiring()
sessions()
starting()
papers()
looking()
popups() // before the keys of the page: an open menu takes them first
keyboard()
copying()
turnActs()
wentBack()
goes()
refusing()
notifying()
statuses()
connect()
