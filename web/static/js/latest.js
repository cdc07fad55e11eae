// Questions to the server of which only the last one's answer counts: what is asked for a
// newer text, or dropped, makes what was asked before void.

/** Makes one: begin gives the signal of the next question, which is aborted when that is over. */
export function asker() {
  let now = null
  const drop = () => now?.abort()
  const begin = () => {
    drop()
    now = new AbortController()
    return now.signal
  }
  return { begin, drop }
}
