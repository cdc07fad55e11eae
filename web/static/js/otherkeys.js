// Keys that act on what other panes show. The list of keys that ? opens is the one table of them.

/** Whether a key acts in other panes only, so that one with keys of its own keeps it from the page. */
export const ofOthers = (key) => [...document.querySelectorAll('#keys [data-others] kbd')].some((k) => k.textContent === key || k.dataset.also === key)
