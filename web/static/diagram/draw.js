// Runs in the frame of a diagram, behind the library: draws the text that the page sends, and tells
// its height in pixels; 0: it could not be drawn.
{
  const tell = (height) => parent.postMessage(height, '*')
  const measure = new ResizeObserver(() => tell(document.body.offsetHeight))
  const draw = async ({ text, dark }) => {
    measure.disconnect()
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
    mermaid.initialize({
      startOnLoad: false, securityLevel: 'strict', suppressErrorRendering: true, maxTextSize: 20_000, maxEdges: 200,
      theme: dark ? 'dark' : 'default', fontFamily: 'system-ui, sans-serif',
    })
    const { svg } = await mermaid.render('diagram', text)
    document.body.innerHTML = svg
    for (const a of document.querySelectorAll('a')) a.replaceWith(...a.childNodes)
    measure.observe(document.body)
    tell(document.body.offsetHeight)
  }
  addEventListener('message', ({ source, data }) => {
    if (source === parent) draw(data).catch(() => tell(0))
  })
}
