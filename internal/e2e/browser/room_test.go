package browser

import "testing"

// inside is what of a menu is out of the window, or cut by what holds it.
const inside = `((box) => {
	const r = box.getBoundingClientRect()
	const on = box.querySelector('[aria-selected=true]')?.getBoundingClientRect()
	return r.height > 60 && r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth && (!on || on.top >= r.top - 1 && on.bottom <= r.bottom + 1) &&
		box.contains(document.elementFromPoint(r.left + 20, r.top + 6)) && box.contains(document.elementFromPoint(r.left + 20, r.bottom - 6))
})(document.getElementById('menu'))`

// Menus of the composer open where there is room, and none leaves the window.
func TestMenusStayInTheWindow(t *testing.T) {
	_, p := desked(t)
	p.look(1440, 900, "light")
	p.compose("/")
	p.wait(`document.querySelectorAll('#menu [role=option]').length > 5`)
	p.is(`String(Math.round(document.getElementById('menu').getBoundingClientRect().top - document.getElementById('composer').getBoundingClientRect().bottom))`, "6")
	p.press("Escape")
	p.js(`document.getElementById('prompt').value = ''`)
	for _, size := range [][2]int64{{1440, 900}, {1100, 640}, {390, 700}} {
		p.look(size[0], size[1], "light")
		p.compose("/")
		p.wait(`document.querySelectorAll('#menu [role=option]').length > 5`)
		p.press("ArrowDown", "ArrowDown")
		p.wait(inside)
		p.press("ArrowUp", "ArrowUp", "ArrowUp")
		p.wait(inside)
		p.shot("menu-start")
		p.press("Escape")
		p.js(`document.getElementById('prompt').value = ''`)
		p.compose("@")
		p.wait(`document.querySelectorAll('#menu [role=option]').length > 1`)
		p.wait(inside)
		p.press("Escape")
		p.js(`document.getElementById('prompt').value = ''`)
	}
	p.look(1440, 900, "light")
	p.told("show me README.md")
	p.compose("/")
	p.wait(`document.querySelectorAll('#menu [role=option]').length > 5 && ` + inside)
	p.wait(`document.getElementById('menu').getBoundingClientRect().bottom <= document.getElementById('composer').getBoundingClientRect().top`)
}

// Ctrl Enter in the bar opens beside what is read, also when nothing was looked at or
// clicked before, and after each step on the Desk the focus is on something.
func TestBesideAndFocus(t *testing.T) {
	_, p := desked(t)
	const held = `document.activeElement !== document.body && document.activeElement.checkVisibility()`
	p.told("show me README.md")
	p.front("README.md")
	p.bar("pump.go")
	p.wait(hits + `[0] === 'internal/pump/pump.go'`)
	p.press("Control+Enter")
	p.wait(`document.querySelector('.tab.is-beside [data-part=name]')?.textContent === 'pump.go'`)
	p.front("README.md")
	p.wait(held)

	// What is there already, too.
	p.press("Escape", "\\")
	p.wait(`!document.querySelector('.tab.is-beside')`)
	p.bar("pump.go")
	p.wait(hits + `[0] === 'internal/pump/pump.go'`)
	p.press("Control+Enter")
	p.wait(`document.querySelector('.tab.is-beside [data-part=name]')?.textContent === 'pump.go'`)
	p.front("README.md")

	p.press("Escape", "\\")
	p.click(".tab:not(.is-front) [role=tab]")
	p.front("pump.go")
	p.wait(held + ` && document.activeElement.closest('#desk')`)
	p.press("Escape")
	p.wait(`document.activeElement.matches('.pane:not([hidden]) .code')`)
	p.click(".tab.is-front [data-act=close-tab]")
	p.front("README.md")
	p.wait(held + ` && document.activeElement.closest('#desk')`)
	p.click(".tab.is-front [data-act=close-tab]")
	p.wait(`!document.querySelector('.tab')`)
	p.wait(held)
	p.press("Escape")
	p.wait(held)
}
