// Package looking finds out what looking cost in sessions of other programs: it reads the session
// files of Claude Code, Codex and the Copilot CLI, and adds up what of their bill went for results
// that a person wanted to see and the model did not need.
//
// A look is a command that was run, or a file that was read, after which its turn has only an
// answer of at most 200 tokens. A large result is any of more than 4,000 tokens of which no line is
// named again; that the model did not need it is a guess, and reported apart. What such a result
// takes is counted in each call of the model that held it, until a compaction, priced as that call
// was: what came from a cache as cached.
//
// Nothing is sent. Files are read through an os.Root on their folder, links and everything that is
// not a regular file are left out. Memory is bounded whatever a file holds: no more than [longest]
// of a line is kept, and no more than [mostOfString] of a string in it. Versions that are not known
// are left out, and reported.
//
//	bill, err := looking.Read(ctx, looking.Config{Home: home, Prices: prices})
//	fmt.Println(bill.Sentence())
package looking
