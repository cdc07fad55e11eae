// Package browser drives the whole program in a real Chromium, from typing
// to visible pixels: its tests build the binary, start it on a workspace of
// their own and look at the page as a person would. Any console error, uncaught
// exception, CSP or Trusted Types violation fails the test it happened in.
//
// With WEBCHAT_SCREENS=1 screenshots of all states are kept in .cache/screens for looking
// at, else those of what failed. Without Chromium the tests are skipped with one line; in
// CI they fail.
package browser
