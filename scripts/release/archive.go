package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// pack makes the archive of one system, a folder of that name with the program and
// what is common, and returns where it is.
func pack(name, program, common, out string, date time.Time) (packed string, err error) {
	entries, err := contents(program, common)
	if err != nil {
		return "", err
	}
	ending, write := ".tar.gz", tarball
	if strings.HasSuffix(program, ".exe") {
		ending, write = ".zip", zipped
	}
	packed = filepath.Join(out, name+ending)
	f, err := os.Create(packed)
	if err != nil {
		return "", err
	}
	return packed, errors.Join(write(f, name, entries, date), f.Close())
}

// entry is a file of an archive.
type entry struct {
	name    string // with slashes, below the archive's folder
	content []byte
	mode    fs.FileMode
}

// contents are the program and the files below common, in the order of their names.
func contents(program, common string) ([]entry, error) {
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	list := []entry{{filepath.Base(program), b, 0o755}}
	err = filepath.WalkDir(common, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(common, file)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(file)
		list = append(list, entry{filepath.ToSlash(rel), b, 0o644})
		return err
	})
	return list, err
}

func tarball(w io.Writer, folder string, entries []entry, date time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     path.Join(folder, e.name),
			Size:     int64(len(e.content)),
			Mode:     int64(e.mode),
			ModTime:  date,
			Format:   tar.FormatUSTAR,
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func zipped(w io.Writer, folder string, entries []entry, date time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: path.Join(folder, e.name), Method: zip.Deflate, Modified: date}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.content); err != nil {
			return err
		}
	}
	return z.Close()
}
