package proc

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
)

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		child, err := Start(Command{Args: []string{"/bin/true"}})
		if err != nil {
			b.Fatal(err)
		}
		child.Wait()
		child.Stop(context.Background())
	}
}

// BenchmarkRunReference is the same without a tree that can be ended.
func BenchmarkRunReference(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

type count int64

func (c *count) Write(b []byte) (int, error) { *c += count(len(b)); return len(b), nil }

func BenchmarkOutput(b *testing.B) {
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		var n count
		child, err := Start(Command{
			Args:   []string{"head", "-c", fmt.Sprint(size), "/dev/zero"},
			Output: &n,
		})
		if err != nil {
			b.Fatal(err)
		}
		child.Wait()
		child.Stop(context.Background())
		if n != size {
			b.Fatal(n)
		}
	}
}
