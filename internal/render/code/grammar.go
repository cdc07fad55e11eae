package code

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// resumeState is the state our copies of chroma's grammars have besides their own: its only rule
// matches nothing and puts the lexer back into a state it had before. It is how highlighting starts
// in the middle of a file.
const resumeState = "webchat-resume"

// matchTimeout bounds one regular expression. The expression engine's clock ticks every 100 ms, so
// a hopeless one may take up to two ticks longer. Tests raise it: beside a busy machine it cuts off
// what is not hopeless.
var matchTimeout = 20 * time.Millisecond

// grammar is our copy of one of chroma's lexers.
type grammar struct {
	name  string
	lexer *chroma.RegexLexer
	err   func() error // compiles on first call

	mu      sync.Mutex // held from setting resume until the lexer has taken it
	resumed func(*chroma.LexerState)
}

// lexState is what a lexer must remember at a line end. It is shared and never changed.
type lexState struct {
	stack []string
}

var rootState = &lexState{stack: []string{"root"}}

// lexing is one run of a grammar over one text.
type lexing struct {
	next  chroma.Iterator
	state *chroma.LexerState
	text  string
	pos   int // bytes of text given out
	runes int // the same in characters, comparable with state.Pos
}

var errNoState = errors.New("the lexer did not take its state")

// start begins lexing text[skip:] in state; what stands before skip is seen by expressions that
// look behind.
func (g *grammar) start(text string, skip int, state *lexState) (l *lexing, err error) {
	defer recoverAs(&err)
	if err := g.err(); err != nil {
		return nil, err
	}
	l = &lexing{text: text, pos: skip, runes: utf8.RuneCountInString(text[:skip])}
	if skip == len(text) {
		l.next = func() chroma.Token { return chroma.EOF }
		return l, nil
	}
	options := &chroma.TokeniseOptions{State: resumeState, Nested: true}
	iterator, err := g.lexer.Tokenise(options, text)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resumed = func(s *chroma.LexerState) {
		l.state = s
		s.Pos = l.runes
		s.Stack = slices.Clone(state.stack)
		options.State = "root" // where the lexer returns to after an error
	}
	first := iterator()
	g.resumed = nil
	if l.state == nil {
		return nil, errNoState
	}
	l.next = func() chroma.Token {
		l.next = iterator
		return first
	}
	return l, nil
}

// token returns the next token and the text before it that chroma lost (some grammars drop what no
// group captured), or ok false at the end. Joined, gaps and values are the text exactly.
func (l *lexing) token() (gap string, t chroma.Token, ok bool, err error) {
	defer recoverAs(&err)
	for {
		t = l.next()
		if t == chroma.EOF {
			return "", t, false, nil
		}
		if t.Value == "" {
			continue
		}
		rest := l.text[l.pos:]
		i := 0
		if !strings.HasPrefix(rest, t.Value) {
			if i = strings.Index(rest[:min(len(rest), 4096)], t.Value); i < 0 {
				continue
			}
		}
		gap = rest[:i]
		l.pos += i + len(t.Value)
		l.runes += utf8.RuneCountInString(rest[:i]) + utf8.RuneCountInString(t.Value)
		return gap, t, true, nil
	}
}

// at returns the state to resume from here, or nil if the lexer is in the middle of something.
func (l *lexing) at() *lexState {
	if l.state == nil || l.runes != l.state.Pos || len(l.state.Stack) == 0 {
		return nil
	}
	return &lexState{stack: l.state.Stack}
}

// recoverAs turns a panic inside a grammar (chroma panics on unknown states and empty stacks) into
// an error.
func recoverAs(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("highlight: the grammar failed: %v", p)
	}
}

// guard stops a grammar that changes its state again and again without moving on, as some do on
// text they were not written for; chroma would go round for ever.
type guard struct{ chroma.Mutator }

type guardKey struct{}

// steps counts the changes of state since the lexer last moved.
type steps struct{ pos, n int }

const maxSteps = 500

var errStuck = errors.New("the grammar goes round in circles")

func (g guard) Mutate(s *chroma.LexerState) error {
	seen, _ := s.MutatorContext[guardKey{}].(*steps)
	if seen == nil {
		seen = &steps{}
		s.MutatorContext[guardKey{}] = seen
	}
	if seen.pos != s.Pos {
		*seen = steps{pos: s.Pos}
	}
	if seen.n++; seen.n > maxSteps {
		return errStuck
	}
	return g.Mutator.Mutate(s)
}

// nested is a grammar as other grammars use it (JavaScript inside HTML).
type nested struct{ *grammar }

func (n nested) Config() *chroma.Config { return n.lexer.Config() }
func (n nested) SetRegistry(
	r *chroma.LexerRegistry) chroma.Lexer {
	n.lexer.SetRegistry(r)
	return n
}
func (n nested) SetAnalyser(
	f func(string) float32) chroma.Lexer {
	n.lexer.SetAnalyser(f)
	return n
}
func (n nested) AnalyseText(text string) float32 { return 0 }
func (n nested) Tokenise(o *chroma.TokeniseOptions, text string) (chroma.Iterator, error) {
	if err := n.err(); err != nil {
		return nil, err
	}
	return n.lexer.Tokenise(o, text)
}

// grammars are our copies by chroma's name. Copying is cheap: rules are read and compiled when a
// language is first used.
var grammars = sync.OnceValue(func() map[string]*grammar {
	all := map[string]*grammar{}
	registry := chroma.NewLexerRegistry()
	originals := append(slices.Clone(lexers.GlobalLexerRegistry.Lexers), goModule)
	for _, lexer := range originals {
		original := regexLexer(lexer)
		if original == nil || unusable[original.Config().Name] {
			continue
		}
		if g := newGrammar(original); g != nil {
			all[g.name] = g
			registry.Register(nested{g})
		}
	}
	return all
})

// unusable are grammars whose state is more than a stack, so that they cannot be resumed, and the
// one without rules.
var unusable = map[string]bool{"Haxe": true, "Raku": true, "plaintext": true, "fallback": true}

// regexLexer returns the rules inside lexer: chroma's Markdown wraps them to colour a YAML head;
// the other wrappers (a language inside a template inside HTML) work on whole files only.
func regexLexer(lexer chroma.Lexer) *chroma.RegexLexer {
	if r, ok := lexer.(*chroma.RegexLexer); ok {
		return r
	}
	if lexer.Config().Name != lexers.Markdown.Config().Name {
		return nil
	}
	v := reflect.Indirect(reflect.ValueOf(lexer))
	if v.Kind() != reflect.Struct || !v.FieldByName("Lexer").IsValid() {
		return nil
	}
	r, _ := v.FieldByName("Lexer").Interface().(*chroma.RegexLexer)
	return r
}

func newGrammar(original *chroma.RegexLexer) *grammar {
	g := &grammar{name: original.Config().Name}
	config := *original.Config()
	copied, err := chroma.NewLexer(&config, func() chroma.Rules {
		rules, err := original.Rules()
		if err != nil {
			panic(err)
		}
		rules = rules.Clone()
		rules[resumeState] = []chroma.Rule{{Pattern: ``, Mutator: chroma.MutatorFunc(g.resume)}}
		return rules
	})
	if err != nil {
		return nil
	}
	g.lexer = copied
	g.err = sync.OnceValue(g.compile)
	return g
}

func (g *grammar) resume(s *chroma.LexerState) error {
	if g.resumed == nil {
		s.Stack = []string{"root"}
		return nil
	}
	g.resumed(s)
	return nil
}

// compile makes the rules ready and shortens their time limit, before anybody else uses them.
func (g *grammar) compile() (err error) {
	defer recoverAs(&err)
	options := &chroma.TokeniseOptions{State: resumeState, Nested: true}
	iterator, err := g.lexer.Tokenise(options, "\n")
	if err != nil {
		return fmt.Errorf("prepare the grammar of %s: %w", g.name, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resumed = func(s *chroma.LexerState) {
		for _, rules := range s.Rules {
			for _, rule := range rules {
				rule.Regexp.MatchTimeout = matchTimeout
				if _, guarded := rule.Mutator.(guard); rule.Mutator != nil && !guarded {
					rule.Mutator = guard{rule.Mutator}
				}
			}
		}
		s.Pos = len(s.Text)
	}
	defer func() { g.resumed = nil }()
	iterator()
	return nil
}
