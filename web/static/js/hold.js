// Keys that may be for something that is not there yet: ahead.js keeps them until it is.

/**
 * Has what is pressed from now on wait until a promise is over, and returns the promise. With the event
 * of a key, that key waits as well, and is pressed again.
 */
export function holdKeys(coming, key) {
  document.dispatchEvent(new CustomEvent('webchat:hold', { detail: { coming, key } }))
  return coming
}
