// Where the server begins: a proxy may have put it below a path of its own.

const here = new URL(import.meta.url).pathname

/** The path before all of the server's paths; usually empty. */
export const base = here.slice(0, here.lastIndexOf('/static/'))

/** Goes to one of our pages, which gets the keys that are pressed from now on. */
export function visit(path) {
  document.dispatchEvent(new CustomEvent('webchat:leaving', { detail: () => location.assign(base + path) }))
}
