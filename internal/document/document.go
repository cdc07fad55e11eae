// Package document keeps small texts in files that are read and written whole.
//
// # Guarantees
//
// A reader, and a start after a crash, finds the text before a change or after it, never a part. A
// new file may be read by its owner only, from its first byte on. A text that cannot be understood
// is set aside and never overwritten.
//
// # Concurrency
//
// Files may be read and written from any goroutine; of two writers the last one wins.
package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file, whose folder has to exist. After an error the file is as it was.
func Write(name string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// WriteJSON replaces a file by a value in JSON.
func WriteJSON(name string, value any) error {
	b, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		return err
	}
	return Write(name, append(b, '\n'))
}

// ReadJSON reads what [WriteJSON] wrote; the zero value if there is no such file. A file that is not
// JSON of this shape is renamed to moved, and the value is zero as well.
func ReadJSON[T any](name string) (value T, moved string, err error) {
	b, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return value, "", nil
	case err != nil:
		return value, "", err
	}
	if json.Unmarshal(b, &value) == nil {
		return value, "", nil
	}
	var none T
	moved = name + ".damaged"
	if err := os.Rename(name, moved); err != nil {
		return none, "", fmt.Errorf("set the damaged file aside: %w", err)
	}
	return none, moved, nil
}
