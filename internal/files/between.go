package files

// Difference is a file that differs between two snapshots.
type Difference struct {
	Path            string
	Existed, Exists bool
	was, left       version
}

// between returns what differs between two snapshots of a session, by path, and both.
func (p *shelf) between(session, was, left string) (list []Difference, a, b snapshot, err error) {
	if a, err = p.load(session, was); err == nil {
		b, err = p.load(session, left)
	}
	if err != nil {
		return nil, a, b, err
	}
	err = p.objects.differ(a.files, b.files, "", func(path string, was, left version) {
		list = append(list, Difference{Path: path, Existed: was != version{}, Exists: left != version{}, was: was, left: left})
	})
	return list, a, b, err
}
