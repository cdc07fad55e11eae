package page

// trim forgets the oldest turns.
func (f *State) trim() {
	for len(f.root.Kids) > f.cfg.Turns && f.trimOne() {
	}
}

// trimOne forgets the oldest turn, unless it is needed.
func (f *State) trimOne() bool {
	old := f.root.Kids[0]
	if old == f.current || old.Turn.State == "queued" || f.keep > 0 && f.root.Kids[1].Turn.from > f.keep {
		return false
	}
	f.root.Kids = f.root.Kids[1:]
	f.weight -= old.Turn.weight
	f.forget(old)
	f.past = append(f.past, old.hashes(nil))
	if len(f.past) > keptPast {
		for _, id := range f.past[0] {
			delete(f.ids, id)
		}
		f.past = append(f.past[:0:0], f.past[1:]...)
	}
	f.first = f.root.Kids[0].Turn.from
	old.gone = true
	f.batch.trim(f.root.Kids[0].ID)
	f.batch.part(nil, "earlier", "earlier", func() any { return f.Earlier() })
	return true
}

// keptPast is after how many turns more the ids of a forgotten one may be taken
// again: a page that is some turns behind must not mix up the two.
const keptPast = 100

func (n *node) hashes(to []uint64) []uint64 {
	for _, k := range n.Kids {
		to = k.hashes(to)
	}
	return append(to, hash(n.ID))
}

func (f *State) forget(n *node) {
	for _, k := range n.Kids {
		f.forget(k)
	}
	if n.key() != "" && f.nodes[n.key()] == n {
		delete(f.nodes, n.key())
	}
	if n.Call != nil {
		f.forgetCall(n.Call)
	}
}

// key is the name under which later events find n.
func (n *node) key() string {
	switch {
	case n.Message != nil:
		return n.Message.key
	case n.Reasoning != nil:
		return n.Reasoning.key
	case n.Call != nil:
		return "c-" + n.Call.ID
	case n.Ask != nil:
		return "p-" + n.Ask.Request
	case n.Hook != nil:
		return "h-" + n.Hook.ID
	}
	return ""
}
