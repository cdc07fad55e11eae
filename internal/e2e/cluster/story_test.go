//go:build unix

package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/witness"
)

// TestCluster: three replicas go on where one was killed, and while everything fails at random.
func TestCluster(t *testing.T) {
	rnd := witness.Seeded(t)
	c := start(t, 3, program(t, "shortlease"))
	c.story(t, "killed and started again", func(r *replica) bool {
		return r.signal(syscall.SIGKILL)
	}, lease)
	c.story(t, "stopped in order", func(r *replica) bool { return r.signal(syscall.SIGTERM) }, lease)
	c.unanswered(c.replicas[0])
	s := newStorm(c, rnd)
	s.round(t, 1, 4, func() { s.blow(10*time.Second, kinds()) })
	t.Logf("soak: three replicas: %v", s.counts)
}

// TestSoakCluster is the long form: trouble of all kinds, and replicas that are stopped in order
// and have the time they need.
func TestSoakCluster(t *testing.T) {
	witness.Soak(t)
	t.Run("Trouble", soakTrouble)
	t.Run("Drain", soakDrain)
}

// soakTrouble goes on in rounds of sessions of their own until there was enough of each.
func soakTrouble(t *testing.T) {
	rnd := witness.Seeded(t)
	c := start(t, 3, program(t, "shortlease"))
	s := newStorm(c, rnd)
	enough := func() bool {
		return s.counts["kill"] >= 200 && s.counts["freeze"] >= 100 && s.counts["term"] >= 100 &&
			s.counts["cut"]+s.counts["half"] >= 1000
	}
	c.story(t, "lost with its machine", (*replica).vanish, lease+5*time.Second)
	for round := 1; !enough() && !t.Failed(); round++ {
		s.round(t, round, 6, func() { s.blow(time.Minute, kinds()) })
	}
	t.Logf("soak: three replicas: %v, 0 lost, 0 twice, 0 gaps", s.counts)
}

// soakDrain: a deploy interrupts no turn. Turns that run end by themselves, where they are, and no
// reader is without a stream for long.
func soakDrain(t *testing.T) {
	rnd := witness.Seeded(t)
	s := newStorm(start(t, 3, program(t, "shortlease"), "--drain", "1m"), rnd)
	interrupted, away := s.round(t, 1, 3, func() { s.drain(50) })
	t.Logf("soak: three replicas with --drain: %v, %d turns interrupted, longest without a stream %v",
		s.counts, interrupted, away.Round(time.Millisecond))
	if interrupted > 0 || away > 2*time.Second {
		t.Errorf("%d turns were interrupted, and a reader had no stream for %v", interrupted, away)
	}
}

// TestSoakWithoutFence: what [TestCluster] looks for is found in programs that look neither at the
// owner nor at the sequence nor at the time when they append. The same in a moment, without chance,
// is TestPostgres/FrozenOwnerWithAndWithoutFence of internal/store.
func TestSoakWithoutFence(t *testing.T) {
	witness.Soak(t)
	if os.Getenv("WEBCHAT_NOFENCE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSoakWithoutFence$", "-test.v")
		cmd.Env = append(os.Environ(), "WEBCHAT_NOFENCE=1")
		out, err := cmd.CombinedOutput()
		found := regexp.MustCompile(
			`was acknowledged and is not in the log|, reader \d: |reader \d has |a turn no end|ran twice|after life`).FindAllString(string(out), -1)
		if err == nil || len(found) == 0 {
			t.Errorf("nothing was found:\n%s", out)
		}
		t.Logf("soak: without the fence %d faults were found", len(found))
		return
	}
	rnd := witness.Seeded(t)
	c := start(t, 3, program(t, "shortlease,nofence"))
	s := newStorm(c, rnd)
	s.patience = 2 * time.Second
	for round := 1; round <= 3 && !t.Failed(); round++ {
		s.round(t, round, 6, func() { s.blow(lease+2*time.Second, []string{"freeze"}) })
	}
}

// story ends the replica that has a session while its turn runs, which others follow and wrote to.
// Another one closes the turn.
func (c *cluster) story(t *testing.T, what string, end func(*replica) bool, most time.Duration) {
	t.Helper()
	owner, writes, reads := c.replicas[0], c.replicas[1], c.replicas[2]
	browser := c.signIn(owner)
	id := c.session(owner.url())
	r := &reader{story: witness.NewStory()}
	r.story.Lost = 1 << 20
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { r.read(ctx, c, id, reads.url) })
	path := "/api/sessions/" + id
	c.must(http.StatusAccepted, writes.url(), "POST", path+"/messages",
		`{"content":"show me go.mod then stream 1000 words slowly","messageId":"first"}`)
	output := ""
	c.eventually("something was shown, and a message has begun", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		output = regexp.MustCompile(`out_[A-Za-z0-9_]+`).FindString(strings.Join(r.story.Logged, ""))
		return output != "" && len(r.story.Texts) > len(r.story.Wholes)
	})
	if !end(owner) {
		t.Fatal("the owner does not run")
	}
	ended := time.Now()
	c.eventually("the turn is interrupted where it is read", func() bool {
		return r.saw(`"outcome":"interrupted"`) || r.wrong() != nil
	})
	t.Logf("soak: a replica is %s: turn.end in another one's stream after %v, at rest within %v", what,
		time.Since(ended).Round(time.Millisecond), most)
	c.must(http.StatusAccepted, writes.url(), "POST", path+"/messages",
		`{"content":"show me go.mod then stream 1000 words slowly","messageId":"first"}`)
	c.must(http.StatusAccepted, reads.url(), "POST", path+"/messages",
		`{"content":"hello","messageId":"last"}`)
	c.ready()
	var log []witness.Event
	c.eventually("a prompt is answered", func() bool {
		log = c.logOf(writes.url(), id)
		return answered(log, "last")
	})
	c.eventually("the reader has all", func() bool { return r.has() >= len(log) || r.wrong() != nil })
	stop()
	all.Wait()
	if err := r.wrong(); err != nil {
		t.Error(err)
	}
	witness.Closed(t, id, log)
	witness.Same(t, "the reader", r.story, log)
	first := 0
	for _, e := range log {
		if e.Type == "user.message" && e.Data.MessageID == "first" {
			first++
		}
	}
	if first != 1 {
		t.Errorf("the prompt that was sent again is %d times in the log", first)
	}
	for _, at := range c.replicas {
		if status := c.status(at.url(), "/api/outputs/"+output); status != http.StatusOK {
			t.Errorf("what was shown, %s, is answered with %d by replica %d", output, status, at.number)
		}
		if status := c.loads(at.url(), "/sessions/"+id, browser); status != http.StatusOK {
			t.Errorf("the browser that signed in gets %d from replica %d", status, at.number)
		}
	}
}

// unanswered cuts a replica off from the database and back while there are no writes: what sends
// requests there knows both.
func (c *cluster) unanswered(r *replica) {
	c.t.Helper()
	says := func(word string) {
		c.t.Helper()
		c.eventually("/readyz says "+word, func() bool {
			_, text, _ := c.do(time.Second, r.url(), "GET", "/readyz", "")
			return text == word+"\n"
		})
	}
	before, began := r.lives(), time.Now()
	r.line.set(hole, 0)
	says("engine")
	r.line.set(none, 0)
	says("ready")
	if r.lives() != before && time.Since(began) < lease/2 {
		c.t.Errorf("replica %d lost its lease meanwhile", r.number)
	}
}

// signIn uses a link of a replica, and returns the browser's cookie.
func (c *cluster) signIn(r *replica) (cookie string) {
	c.t.Helper()
	cmd := exec.Command(c.program, "url", "--data-dir", r.dataDir(), "--public-url", "https://"+host,
		"--token-file", filepath.Join(c.dir, "token"))
	out, err := cmd.CombinedOutput()
	_, secret, ok := strings.Cut(strings.TrimSpace(string(out)), "/auth#t=")
	if err != nil || !ok {
		c.t.Fatalf("webchat url: %v %s", err, out)
	}
	body, err := json.Marshal(map[string]string{"token": secret})
	if err != nil {
		c.t.Fatal(err)
	}
	// Another replica knows of the link, too.
	res, err := c.ask(c.t.Context(), c.edge, "POST", "/api/sign-in", string(body), "Authorization: ",
		"Origin: https://"+host)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	for _, k := range res.Cookies() {
		return k.Name + "=" + k.Value
	}
	c.t.Fatalf("the sign-in is answered %s, without a cookie", res.Status)
	return ""
}

// loads asks for a page as a browser that signed in.
func (c *cluster) loads(base, path, cookie string) int {
	c.t.Helper()
	res, err := c.ask(c.t.Context(), base, "GET", path, "", "Authorization: ", "Cookie: "+cookie,
		"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
