package guard

import (
	"io"
	"net/http"
)

// A service worker that another program left at this port answers in our place, for as long as it
// likes. Only it is not asked when the browser looks whether its script has changed, which it does
// after each page that the worker answered, and it says so in a header. Whatever the path, that
// request gets this script, which replaces the worker, removes it, and has the pages it answered
// loaded again. A page is asked for with another query since the browser would take the same
// address for a jump within the page. Cookies and storage belong to other programs, too, and are
// left alone.
//
// https://w3c.github.io/ServiceWorker/#update-algorithm
const lastWorker = `// Removes the service worker that another program left at this address.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil((async () => {
  const pages = await clients.matchAll({ type: 'window' })
  await registration.unregister()
  for (const page of pages) {
    const to = new URL(page.url)
    if (to.hash) to.searchParams.set('again', '')
    page.navigate(to.href).catch(() => {})
  }
})()))
`

// asksForWorker reports whether the browser looks for a service worker's script.
func asksForWorker(r *http.Request) bool { return r.Header.Get("Service-Worker") == "script" }

func endWorker(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Service-Worker-Allowed", "/") // else a worker of a wider scope would stay
	_, _ = io.WriteString(w, lastWorker) // a browser that has gone needs no answer
}
