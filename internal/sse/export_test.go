package sse

// Subscribers counts the clients of the topic.
func (t *Topic) Subscribers() int {
	t.hub.mu.RLock()
	defer t.hub.mu.RUnlock()
	if l := t.hub.topics[t.name]; l != nil {
		return l.refs
	}
	return 0
}
