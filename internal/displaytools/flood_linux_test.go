package displaytools

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// rss is the memory of this process, in bytes.
func rss(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// THREATS F6: a gigabyte floods a command's card. Its two ends and its true size
// are kept, and memory stays within the budget of outputs and some.
func TestFaultF6FloodSoak(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("set WEBCHAT_SOAK for the gigabyte")
	}
	const budget = 32 << 20
	b := newBench(t, func(c *Config) {
		store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		c.Outputs = store
	})
	b.call(RunCommand, "command", "echo warm")
	before := rss(t)
	res := b.call(RunCommand, "command", "echo first; yes | head -c 1073741824; echo last")
	o := b.output(res)
	if m := o.Meta(); !m.Truncated || m.Gap == nil || o.Size() != 1<<30+11 {
		t.Errorf("%+v of %d bytes", m, o.Size())
	}
	if got := b.bytes(res); !strings.HasPrefix(got, "first\ny\n") ||
		!strings.HasSuffix(got, "y\nlast\n") {
		t.Errorf("%.20q", got)
	}
	if grown := rss(t) - before; grown > budget+64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}
