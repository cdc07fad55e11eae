package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/document"
	"webchat/internal/server"
	"webchat/internal/sessions"
)

// checkReplica refuses flags with which a webchat cannot be one of several. A server is one as soon
// as its sessions are in a database: what another one has there it could not answer. Commands need
// no more than that database.
func (o *options) checkReplica(server bool) error {
	flags := []struct{ name, value, what string }{
		{"--engine-file", o.EngineFile, "the database that has the sessions of all"},
		{"--public-url", o.PublicURL, "the one address of all, by which browsers know them"},
		{"--token-file", o.TokenFile, "the API token, which has to be the same for all"},
		{"--shared-dir", o.SharedDir, "the folder for outputs and agents' homes, which all have to see"},
		{"--peer-url", o.PeerURL, "where the others reach this one"},
	}
	given := ""
	switch {
	case o.PeerURL != "":
		given = "--peer-url"
	case o.SharedDir != "":
		given = "--shared-dir"
	case o.EngineFile != "" && server:
		given = "--engine-file"
	default:
		return nil
	}
	var missing []string
	for _, f := range flags {
		if f.value == "" {
			missing = append(missing, f.name+", "+f.what)
		}
	}
	if missing != nil {
		return usage("%s makes this webchat one of several on a database, which needs more flags: %s",
			given, strings.Join(missing, "; "))
	}
	u, err := url.Parse(o.PeerURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return usage(
			"--peer-url %s: it must be where the other webchats reach this one, such as "+
				"http://10.0.0.5:8080", o.PeerURL)
	}
	if !isFolder(o.SharedDir) {
		return usage("--shared-dir %s: there is no such folder; mount the volume that all webchats see",
			o.SharedDir)
	}
	return nil
}

// shared is the folder for what replicas share, or the data folder.
func (o *engineFlags) shared(dataDir string) string {
	if o.SharedDir != "" {
		return o.SharedDir
	}
	return dataDir
}

// replicasFolder holds a file of each replica, by which the others see that they share the folder.
const replicasFolder = "replicas"

// Times of these files.
const (
	markEvery = 10 * time.Second
	markLasts = time.Hour // then its replica is long dead
)

// sees reports whether a replica writes to this shared folder.
func sees(sharedDir string, number int64) bool {
	_, err := os.Stat(filepath.Join(sharedDir, replicasFolder, strconv.FormatInt(number, 10)))
	return err == nil
}

// markShared keeps the file of this replica fresh until ctx ends, and says of which others there is
// none.
func markShared(ctx context.Context, dir string, p server.Peers, log *slog.Logger) {
	self := p.Self()
	own := filepath.Join(dir, replicasFolder, strconv.FormatInt(self.Number, 10))
	defer os.Remove(own)
	tick := time.NewTicker(markEvery)
	defer tick.Stop()
	missed, failing := map[int64]int{}, false
	for ctx.Err() == nil {
		err := os.MkdirAll(filepath.Dir(own), 0o700)
		if err == nil {
			err = document.Write(own, []byte(self.URL+"\n"))
		}
		if err != nil && !failing {
			log.Error("the shared folder cannot be written", "error", daemon.Plain(err))
		}
		failing = err != nil
		for _, other := range p.Peers() {
			if sees(dir, other.Number) || failing {
				delete(missed, other.Number)
			} else if missed[other.Number]++; missed[other.Number] == 2 { // one look may be before it began
				log.Error(
					"another webchat has another --shared-dir: outputs and agents' conversations are lost with "+
						"a webchat", "its address", other.URL)
			}
		}
		removeOld(filepath.Dir(own))
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// removeOld removes the files of replicas that were killed.
func removeOld(dir string) {
	entries, _ := os.ReadDir(dir) // the next look tries again
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > markLasts {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another replica may have
		}
	}
}

// checkAddress refuses an address at which another replica answers. The server listens already.
func (o *engineFlags) checkAddress(ctx context.Context, self sessions.Peer,
	log *slog.Logger) error {
	client := &http.Client{
		Timeout:       2 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	why := errors.New("something else answers")
	for range 10 {
		number, err := askReplica(ctx, client, strings.TrimSuffix(o.PeerURL, "/")+"/readyz")
		switch {
		case number == self.Number:
			return nil
		case number != 0:
			return usage("--peer-url %s: another webchat answers there; each needs an address of its own",
				o.PeerURL)
		case err != nil:
			why = err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
	log.Warn("this server does not reach itself at its --peer-url, so others may not reach it either",
		"peer-url", o.PeerURL, "error", why)
	return nil
}

// askReplica returns the number of the replica at an address; 0 means none says one.
func askReplica(ctx context.Context, client *http.Client, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	number, _ := strconv.ParseInt(res.Header.Get(server.ReplicaHeader), 10, 64) // none: 0
	return number, res.Body.Close()
}
