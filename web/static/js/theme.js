// Runs before the first paint, so a chosen theme never flashes. What a page needs to be
// used comes right behind the first paint, and what is pressed before that waits for it.

import { ahead, focused, usable } from './ahead.js'

{
  const theme = localStorage.getItem('webchat.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

  const here = document.currentScript
  let begun = !here.dataset.begins // a page with scripts of its own
  ahead(!begun)
  const link = (rel, name) => {
    const el = document.createElement('link')
    el.rel = rel
    el.href = new URL(name, here.src)
    document.head.append(el)
  }
  const begin = () => {
    if (begun) return
    begun = true
    const sources = localStorage.getItem('webchat.sources') // to run the modules as they are written
    if (!sources) for (const name of here.dataset.begins.split(' ')) link('modulepreload', `${name}.js`)
    link('stylesheet', '../css/later.css')
    import(new URL(sources ? '../js/main.js' : 'main.js', here.src)).then(() => {
      usable()
      document.body.dataset.usable = ''
    })
  }

  // A page in the background is not painted, and its scripts are needed all the same.
  const painted = () => {
    if (document.hidden) return begin()
    new PerformanceObserver((list) => { if (list.getEntriesByName('first-contentful-paint').length) begin() }).observe({ type: 'paint', buffered: true })
    setTimeout(begin, 1500) // some browsers do not tell
  }
  document.addEventListener('DOMContentLoaded', () => {
    painted()
    if (!/^#(?!out\/)/.test(location.hash) && !matchMedia('(pointer: coarse)').matches) document.getElementById('prompt')?.focus({ preventScroll: true })
    focused()
  })
  document.addEventListener('visibilitychange', () => document.readyState === 'loading' || begin())
}
