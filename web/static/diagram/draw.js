// Runs in the frame of a diagram, behind the library: draws the text that the page sends, and tells
// its height in pixels; 0: it could not be drawn.
{
  // Where the browser gives the frame no process of its own, what does not end stops the page as well,
  // and its clock. So what the library calls over and over ends a drawing that takes too long.
  const longest = 5000 // ms
  const enough = 2_000_000 // calls, which the largest diagrams need: they may take longer on a busy machine
  let end = Infinity
  let calls = 0
  for (const [of, names] of [[Array.prototype, ['push', 'forEach', 'map', 'filter', 'some']], [Map.prototype, ['get', 'set', 'has']],
    [Object, ['keys', 'entries', 'assign', 'hasOwn']], [Object.prototype, ['hasOwnProperty', 'toString']],
    [Document.prototype, ['createElementNS', 'querySelector']], [Element.prototype, ['setAttribute', 'getBoundingClientRect']],
    [SVGGraphicsElement.prototype, ['getBBox']], [Node.prototype, ['appendChild', 'insertBefore']]]) {
    for (const name of names) {
      const call = of[name]
      of[name] = function (...given) {
        if (++calls % 16 === 0 && calls > enough && performance.now() > end) throw new Error()
        return Reflect.apply(call, this, given)
      }
    }
  }
  const tell = (height) => parent.postMessage(height, '*')
  const measure = new ResizeObserver(() => tell(document.body.offsetHeight))
  const draw = async ({ text, dark }) => {
    measure.disconnect()
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
    mermaid.initialize({
      startOnLoad: false, securityLevel: 'strict', suppressErrorRendering: true, maxTextSize: 20_000, maxEdges: 200,
      theme: dark ? 'dark' : 'default', fontFamily: 'system-ui, sans-serif',
    })
    end = performance.now() + longest
    calls = 0
    const { svg } = await mermaid.render('diagram', text).finally(() => { end = Infinity })
    document.body.innerHTML = svg
    for (const a of document.querySelectorAll('a')) a.replaceWith(...a.childNodes)
    measure.observe(document.body)
    tell(document.body.offsetHeight)
  }
  addEventListener('message', ({ source, data }) => {
    if (source === parent) draw(data).catch(() => tell(0))
  })
}
