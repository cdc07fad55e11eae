package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// strangers has 5,000 of them hold unfinished sign-ins, each coming back as soon as
// it is let go, and measures what those who are signed in notice: over connections
// they have, and over new ones.
func (s *soaked) strangers() string {
	const crowd, asked = 5000, 1000
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var knocks atomic.Int64
	for range crowd {
		wg.Go(func() {
			for ctx.Err() == nil {
				s.stall(ctx, &knocks)
			}
		})
	}
	for knocks.Load() < crowd {
		time.Sleep(10 * time.Millisecond)
	}
	single := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	said := ""
	for name, client := range map[string]*http.Client{"over one connection": s.client,
		"over new connections": single} {
		var took []time.Duration
		for range asked {
			r, err := http.NewRequest("GET", "http://"+s.address+"/api/sessions", nil)
			if err != nil {
				s.t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.token)
			began := time.Now()
			res, err := client.Do(r)
			if err != nil {
				s.t.Errorf("%s: %v", name, err)
				continue
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if took = append(took, time.Since(began)); res.StatusCode != 200 {
				s.t.Errorf("%s: %d", name, res.StatusCode)
			}
		}
		if len(took) > 0 {
			slices.Sort(took)
			said += fmt.Sprintf(", signed-in requests %s p50 %v p99 %v most %v", name,
				took[len(took)/2].Round(time.Microsecond),
				took[len(took)*99/100].Round(time.Microsecond), took[len(took)-1].Round(time.Microsecond))
		}
	}
	stop()
	wg.Wait()
	return fmt.Sprintf("%d strangers, who knocked %d times%s", crowd, knocks.Load(), said)
}

// stall holds one unfinished sign-in until it is let go or ctx ends.
func (s *soaked) stall(ctx context.Context, knocks *atomic.Int64) {
	c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp",
		strings.Replace(s.address, "localhost", "127.0.0.1", 1))
	knocks.Add(1)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_, _ = io.WriteString(c,
		"POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Content-Length: 1000\r\n\r\n{")
	_, _ = io.Copy(io.Discard, c) // until it is cut
	select {                      // a stranger's patience before the next try
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
