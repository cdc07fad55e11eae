package files_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/files"
)

// mess does to the workspace what commands do: it writes, makes, moves, deletes and links files,
// changes what they are, and makes folders where files were. names begin with dir.
func (s *snapshots) mess(r *rand.Rand, dir string) {
	at := func(name string) string { return filepath.Join(s.workspace.dir, dir, name) }
	some := func() string { return fmt.Sprintf("%c/%c", 'a'+r.IntN(4), 'a'+r.IntN(6)) }
	for range 12 {
		name := some()
		switch st, err := os.Lstat(at(name)); {
		case err == nil && st.IsDir():
			s.do(os.RemoveAll(at(name)))
		case r.IntN(8) == 0:
			s.do(os.RemoveAll(at(filepath.Dir(name))))
		case err != nil && r.IntN(4) == 0:
			s.do(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.Symlink(some(), at(name)))
		case err != nil && r.IntN(4) == 0:
			s.write(filepath.Join(dir, name, "below"), fmt.Sprint(r.Uint64()))
		case err == nil && r.IntN(4) == 0:
			to := at(some())
			s.do(os.RemoveAll(to), os.MkdirAll(filepath.Dir(to), 0o755))
			if _, err := os.Lstat(at(name)); err == nil {
				s.do(os.Rename(at(name), to))
			}
		case err == nil && st.Mode().IsRegular() && r.IntN(3) == 0:
			s.do(os.Chmod(at(name), st.Mode().Perm()^0o111))
		case err == nil && r.IntN(3) == 0:
			s.do(os.Remove(at(name)))
		default:
			s.do(os.RemoveAll(at(name)))
			s.write(filepath.Join(dir, name), fmt.Sprint(r.Uint64(), "\x00\r\n"))
		}
	}
}

// below is the part of a tree in a folder, or outside of it.
func below(tree map[string]string, dir string, in bool) map[string]string {
	all := maps.Clone(tree)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, dir+"/") != in })
	return all
}

// After some turns, between which somebody else works too, going back to before each of them gives
// the tree that was there then, and taking that back the tree of now, byte by byte. What somebody
// else changed stays.
func TestGoBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	s := newSnapshots(t)
	s.mess(r, "ours")
	s.mess(r, "theirs")
	var acts []files.Act
	var trees []map[string]string
	turn := func() {
		was, tree := s.take(), s.tree()
		s.mess(r, "ours")
		acts, trees = append(acts, files.Act{Was: was, Left: s.take()}), append(trees, tree)
		s.mess(r, "theirs")
	}
	for range 4 {
		turn()
	}
	theirs, now := below(s.tree(), "theirs", true), s.tree()
	for to := range slices.Backward(acts) {
		of := files.RestoreOf{
			Workspace: s.workspace.dir,
			Session:   "one",
			Acts:      acts[to:],
			ID:        fmt.Sprint("back", to),
		}
		dry := of
		dry.Dry = true
		listed, err := s.Restore(t.Context(), dry, nil)
		s.do(err)
		s.is("listed", now)
		done, err := s.Restore(t.Context(), of, nothing)
		s.do(err)
		if fmt.Sprint(listed) != fmt.Sprint(done) {
			t.Errorf("listed %+v, done %+v", listed, done)
		}
		want := below(trees[to], "ours", true)
		maps.Copy(want, theirs)
		s.is(fmt.Sprint("before turn ", to), want)
		back := files.Act{Was: files.WasOf(of.ID), Left: files.LeftOf(of.ID)}
		_, err = s.Restore(t.Context(), files.RestoreOf{
			Workspace: s.workspace.dir,
			Session:   "one",
			From:      back.Left,
			To:        back.Was,
			ID:        of.ID + "u",
		}, nothing)
		s.do(err)
		s.is("taken back", now)
	}
	// going back, and work after it, does not count as somebody else's
	_, err := s.Restore(t.Context(), files.RestoreOf{
		Workspace: s.workspace.dir,
		Session:   "one",
		Acts:      acts[2:],
		ID:        "r",
	}, nothing)
	s.do(err)
	acts = append(acts, files.Act{Was: files.WasOf("r"), Left: files.LeftOf("r")})
	turn()
	theirs = below(s.tree(), "theirs", true)
	_, err = s.Restore(t.Context(), files.RestoreOf{
		Workspace: s.workspace.dir,
		Session:   "one",
		Acts:      acts[1:],
		ID:        "q",
	}, nothing)
	s.do(err)
	want := below(trees[1], "ours", true)
	maps.Copy(want, theirs)
	s.is("twice", want)
}

// A file that a turn changed and somebody else did, too, stays, and is brought back if that is
// asked for.
func TestGoBackKeepsWhatOthersChanged(t *testing.T) {
	s := newSnapshots(t)
	s.write("both", "1")
	was := s.take()
	s.write("both", "2")
	acts := []files.Act{{Was: was, Left: s.take()}}
	s.write("both", "3, by somebody else")
	was = s.take()
	s.write("both", "4")
	acts = append(acts, files.Act{Was: was, Left: s.take()})
	of := files.RestoreOf{Workspace: s.workspace.dir, Session: "one", Acts: acts, ID: "a"}
	r, err := s.Restore(t.Context(), of, nothing)
	if s.do(err); fmt.Sprint(r.Kept) != "[{both changed}]" {
		t.Errorf("%+v", r)
	}
	s.is("kept", map[string]string{"both": "false 4"})
	of.ID, of.Also = "b", []string{"both"}
	_, err = s.Restore(t.Context(), of, nothing)
	s.do(err)
	s.is("asked for", map[string]string{"both": "false 1"})
}

// What going back would write is there to be read before, also while the turn still runs; what git
// ignores and was written since is named as what stays.
func TestGoBackIsReadBefore(t *testing.T) {
	s := newSnapshots(t)
	s.git(".", "init", "-q")
	s.write(".gitignore", "deps/\nold/\n")
	s.write("a.txt", "one\n")
	s.write("gone.txt", "bye\n")
	s.write("old/x", "built before")
	s.do(os.Chtimes(filepath.Join(s.workspace.dir, "old/x"), time.Time{}, time.Now().Add(-time.Hour)),
		os.Chtimes(filepath.Join(s.workspace.dir, "old"), time.Time{}, time.Now().Add(-time.Hour)))
	was := s.take()
	s.write("a.txt", "two\n")
	s.do(os.Remove(filepath.Join(s.workspace.dir, "gone.txt")))
	s.write("made.txt", "made\n")
	s.write("deps/module/y", "installed")
	later := time.Now().Add(time.Hour)
	s.do(os.Chtimes(filepath.Join(s.workspace.dir, "deps/module/y"), later, later))
	of := files.RestoreOf{Workspace: s.workspace.dir, Session: "one", Acts: []files.Act{{Was: was}},
		ID: "a", Dry: true, Texts: true}
	r, err := s.Restore(t.Context(), of, nothing)
	s.do(err)
	got := fmt.Sprintf("%v %v %v", r.Written, r.Deleted, r.Kept)
	for _, f := range r.Texts {
		got += fmt.Sprintf("\n%s: %q -> %q %t", f.Path, f.Now, f.Then, f.Then == nil)
	}
	if want := `[a.txt gone.txt] [made.txt] [{deps ignored}]
a.txt: "two\n" -> "one\n" false
gone.txt: "" -> "bye\n" false
made.txt: "made\n" -> "" true`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Killed in the middle, going back is done if the log has it, and not begun if it has not.
func TestGoBackKilled(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, logged := range []bool{false, true} {
		s := newSnapshots(t)
		s.mess(r, "ours")
		before, then := s.take(), s.tree()
		s.mess(r, "ours")
		s.write("gone/deep", "made")
		now := s.tree()
		act := files.Act{Was: before, Left: s.take()}
		of := files.RestoreOf{Workspace: s.workspace.dir, Session: "one", Acts: []files.Act{act}, ID: "K"}
		if _, err := s.Restore(t.Context(), of, func(files.Restored) error {
			return os.ErrClosed
		}); !errors.Is(err, os.ErrClosed) {
			t.Fatal(err)
		}
		s.is("not logged", now)
		var journal string
		var text []byte
		_, err := s.Restore(t.Context(), of, func(files.Restored) (err error) {
			names, _ := filepath.Glob(filepath.Join(s.dir, "*", "restore.json"))
			journal = names[0]
			text, err = os.ReadFile(journal)
			return err
		})
		s.do(err)
		s.is("done", then)
		want := then
		if !logged {
			want = now
			for name := range then { // some files were not written yet
				if text, there := now[name]; there && r.IntN(2) == 0 && strings.HasPrefix(text, "false ") {
					s.do(os.RemoveAll(filepath.Join(s.workspace.dir, name)))
					s.write(name, strings.TrimPrefix(text, "false "))
				}
			}
		}
		s.do(os.WriteFile(journal, text, 0o600))
		s.Snapshots = files.NewSnapshots(files.SnapshotsConfig{Dir: s.dir, Env: s.env, Secret: secret})
		if got := s.Unsettled(); len(got) != 1 || got[0] != "one" {
			t.Fatalf("unsettled: %q", got)
		}
		if _, err := s.Restore(t.Context(), of, nothing); !errors.Is(err, files.ErrNoSnapshot) {
			t.Errorf("while it is not settled: %v", err)
		}
		s.do(s.Settle(t.Context(), s.workspace.dir, "one", func(id string) (bool, error) {
			return logged && id == "K", nil
		}))
		s.is(fmt.Sprint("settled, logged: ", logged), want)
		if len(s.Unsettled()) > 0 {
			t.Error("still unsettled")
		}
	}
}
