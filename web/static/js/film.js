// The film over a session: one slider, its keys, and playing. It stands in a replay and, written
// into the file, in a session saved as a page; so it imports nothing. What shows the moment listens
// to webchat:moment, whose detail is the number of an event.

const film = document.getElementById('film')

if (film) {
  const slider = document.getElementById('moment')
  const play = document.getElementById('play')
  const figures = document.getElementById('figures')
  const last = Number(slider.max)
  const numbers = (text) => text.split(' ').filter(Boolean).map(Number)
  const { start, zone, stride } = film.dataset
  let sum = Number(start)
  const times = numbers(film.dataset.times).map((gap) => (sum += gap)) // of every stride-th event
  const costs = film.dataset.costs.split(',').map(numbers) // [event, so far, had everything been read]
  const prompts = numbers(film.dataset.prompts)
  const sends = Number(film.dataset.sent) // the first event with something sent to a model; 0: none
  let at = Number(slider.value)
  let timer = 0

  const time = (seq) => times[Math.min(times.length - 1, Math.floor((seq - 1) / stride))]
  const clock = (ms) => new Date(ms + Number(zone)).toISOString().slice(11, 19)

  /** Goes to the moment after an event. */
  const show = (seq) => {
    at = Math.min(last, Math.max(1, seq))
    slider.value = at
    document.getElementById('past-part').setAttribute('width', `${100 * (at - 1) / Math.max(1, last - 1)}%`)
    document.getElementById('clock').textContent = clock(time(at))
    document.getElementById('nth').textContent = `event ${at.toLocaleString('en')} of ${last.toLocaleString('en')}`
    slider.setAttribute('aria-valuetext', `${clock(time(at))}, event ${at} of ${last}`)
    const [, sofar = 0, read = 0] = costs.findLast(([seq]) => seq <= at) ?? []
    const sent = sends > 0 && sends <= at
    figures.querySelector('[data-none]').hidden = read > 0 || sent
    figures.querySelector('[data-unsized]').hidden = read > 0 || !sent
    for (const el of figures.querySelectorAll('[data-cost]')) el.hidden = read === 0
    figures.querySelector('[data-sofar]').textContent = sofar.toLocaleString('en')
    figures.querySelector('[data-read]').textContent = read.toLocaleString('en')
    document.dispatchEvent(new CustomEvent('webchat:moment', { detail: at }))
  }

  const stop = () => {
    clearTimeout(timer)
    play.setAttribute('aria-pressed', 'false')
  }

  /** Shows the next event when its time has come; by events no pause is longer than a second. */
  const next = () => {
    if (at >= last) return stop()
    const pace = Number(document.querySelector('input[name=pace]:checked').value)
    const gap = time(at + 1) - time(at)
    timer = setTimeout(() => { show(at + 1); next() }, Math.max(60, pace ? gap / pace : Math.min(gap, 1000)))
  }

  const toggle = () => {
    if (play.ariaPressed === 'true') return stop()
    play.setAttribute('aria-pressed', 'true')
    if (at >= last) show(1)
    next()
  }

  const go = (seq) => { stop(); show(seq) }

  const keys = {
    j: () => go(at + 1),
    k: () => go(at - 1),
    J: () => go(prompts.find((p) => p > at) ?? last),
    K: () => go(prompts.findLast((p) => p < at) ?? 1),
    Home: () => go(1),
    End: () => go(last),
    ' ': toggle,
  }
  addEventListener('keydown', (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return
    if (e.target.matches?.('input:not([type=range], [type=radio]), textarea, select')) return // there it is text
    if (e.key === ' ' && e.target.closest?.('a, button, summary, input[type=radio]')) return
    e.preventDefault()
    keys[e.key]()
  })
  slider.addEventListener('input', () => go(Number(slider.value)))
  play.addEventListener('click', toggle)
  document.addEventListener('click', (e) => {
    const step = e.target.closest?.('[data-step], .film [data-at]')
    if (!step || e.ctrlKey || e.metaKey) return
    e.preventDefault()
    go(step.dataset.step ? at + Number(step.dataset.step) : Number(step.dataset.at))
  })
}
