package eventlog

import (
	"fmt"
	"unicode/utf8"

	"webchat/internal/wording"
)

// maxTitle is how many characters a title may have.
const maxTitle = 200

// CleanTitle is a session's title on one line; [ErrInvalid] for one that is too long.
func CleanTitle(title string) (string, error) {
	title = wording.Line(title)
	if utf8.RuneCountInString(title) > maxTitle {
		return "", fmt.Errorf("%w: the title is longer than %d characters", ErrInvalid, maxTitle)
	}
	return title, nil
}
