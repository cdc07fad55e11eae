package views

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"

	"webchat/internal/outputs"
)

// withDatabase opens an output as a database that can only be read, and of which nothing runs.
func withDatabase(ctx context.Context, o *outputs.Output, use func(*sql.Conn) error) (err error) {
	name, files, err := vfs.New(oneFile{o})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, files.Close()) }()
	db, err := sql.Open("sqlite", "file:db?vfs="+name+
		"&mode=ro&immutable=1&_defensive=1&_dqs=0&_pragma=query_only(1)&_pragma=trusted_schema(0)&"+
		"_pragma=cell_size_check(1)&_pragma=temp_store(2)&_pragma=mmap_size(0)")
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for id, most := range limitsOf {
		if _, err := sqlite.Limit(c, id, most); err != nil {
			return err
		}
	}
	err = c.Raw(func(driver any) error {
		a, ok := driver.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("this build of SQLite has no authorizer")
		}
		return a.RegisterAuthorizer(mayRead)
	})
	if err != nil {
		return err
	}
	return use(c)
}

// limitsOf bounds what SQLite does for a file that others wrote.
var limitsOf = map[int]int{
	lib.SQLITE_LIMIT_ATTACHED: 0, lib.SQLITE_LIMIT_WORKER_THREADS: 0,
	lib.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
	lib.SQLITE_LIMIT_LENGTH:        8 << 20, lib.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
	lib.SQLITE_LIMIT_EXPR_DEPTH:      100,
	lib.SQLITE_LIMIT_COMPOUND_SELECT: 10, lib.SQLITE_LIMIT_VDBE_OP: 100_000,
}

// mayRead allows what the statements of this file need and nothing else: no view is opened, and no
// other function called.
func mayRead(action sqlite.AuthorizerActionCode, arg1, two, _,
	inside string) sqlite.AuthorizerReturnCode {
	ok := false
	switch action {
	case sqlite.AuthSelect:
		ok = true
	case sqlite.AuthRead:
		ok = inside == ""
	case sqlite.AuthPragma:
		ok = arg1 == "table_info"
	case sqlite.AuthFunction:
		ok = slices.Contains([]string{"substr", "octet_length", "count", "coalesce"}, two)
	}
	if ok && inside == "" {
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// oneFile is the file system in which an output is a database and there is nothing else.
type oneFile struct{ o *outputs.Output }

// Open implements [fs.FS].
func (f oneFile) Open(name string) (fs.File, error) {
	if name != "db" && name != "/db" {
		return nil, fs.ErrNotExist
	}
	return &openFile{io.NewSectionReader(f.o, 0, f.o.Size())}, nil
}

// openFile is an output that SQLite reads.
type openFile struct{ *io.SectionReader }

// Stat implements [fs.File].
func (f *openFile) Stat() (fs.FileInfo, error) { return info{f.Size()}, nil }

// Close implements [fs.File].
func (f *openFile) Close() error { return nil }

// info is how large a file is.
type info struct{ size int64 }

func (i info) Name() string { return "db" }

func (i info) Size() int64 { return i.size }

func (info) Mode() fs.FileMode { return 0o400 }

func (info) ModTime() time.Time { return time.Time{} }

func (info) IsDir() bool { return false }

func (info) Sys() any { return nil }
