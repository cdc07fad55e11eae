package proc

import "testing"

func TestParseStat(t *testing.T) {
	line := "42 (a) S ) b) Z 7 8 9 0 -1 4194560 106 0 0 0 0 0 0 0 20 0 1 0 12345 2621440 228\n"
	p, ok := parseStat(42, []byte(line))
	if want := (process{identity: identity{42, 12345}, parent: 7, session: 9, zombie: true}); !ok ||
		p != want {
		t.Errorf("got %+v, %v", p, ok)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (init) S 0 1 1 0 -1 4194560 106 0 0 0 0 0 0 0 20 0 1 0 12345 2621440 228\n"))
	f.Add([]byte("1 (x) S"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := parseStat(3, b); ok && p.pid != 3 {
			t.Errorf("%q gave %+v", b, p)
		}
	})
}
