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
