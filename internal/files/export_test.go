package files

// Keeps reports whether x keeps names.
func Keeps(x *Index) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.list != nil
}

// KeptBy is how many indexes have a share of a budget.
func KeptBy(b *Budget) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.used)
}
