package browser

import (
	"encoding/json"
	"testing"
)

// BenchmarkScrollUp is how often a frame takes over 50 ms while a reader scrolls up through 300
// turns, of which the page begins with the last: files, commands and questions.
func BenchmarkScrollUp(b *testing.B) {
	s := start(b, "--permissions", "allow")
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(s.api("POST", "/api/sessions", map[string]string{"workspace": s.workspace})), &made); err != nil {
		b.Fatal(err)
	}
	s.put("pump.go", pumpGo)
	for i := range 300 {
		prompt := []string{"show me pump.go", "what is a pump?", "run seq 40"}[i%3]
		s.api("POST", "/api/sessions/"+made.ID+"/messages?wait=true", map[string]string{"content": prompt})
	}
	late, frames, turns := 0.0, 0.0, 0.0
	for b.Loop() {
		p := s.open("/sessions/" + made.ID)
		p.look(1440, 900, "light")
		p.wait(`document.querySelectorAll('#turns > .turn').length > 1`)
		p.js(`window.took = []
			const box = document.getElementById('scroll')
			const first = () => document.querySelector('#turns > .turn h2')?.textContent
			let last = 0
			let rest = 60 // frames at the top without older turns
			const step = (now) => {
				if (last) took.push(now - last)
				last = now
				box.scrollTop -= 80
				rest = box.scrollTop ? 60 : rest - 1
				if (rest && took.length < 3000) return requestAnimationFrame(step)
				window.over = true
			}
			requestAnimationFrame(step)`)
		p.wait(`window.over`)
		frames += eval[float64](p, `took.length`)
		late += eval[float64](p, `took.filter((ms) => ms > 50).length`)
		turns = eval[float64](p, `document.querySelectorAll('#turns > .turn').length`)
		b.Log("longest frames, ms:", eval[string](p, `took.toSorted((a, b) => b - a).slice(0, 12).map(Math.round).join(' ')`))
	}
	b.ReportMetric(100*late/frames, "%-over-50-ms")
	b.ReportMetric(turns, "turns")
	b.ReportMetric(0, "ns/op")
}
