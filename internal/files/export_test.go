package files

import "context"

// Between returns the files that differ between two snapshots of a session, by path.
// [ErrNoSnapshot] if one is not kept.
func (s *Snapshots) Between(ctx context.Context, workspace, session, was, left string) (list []Difference, err error) {
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return nil, err
	}
	defer leave()
	list, _, _, err = p.between(session, was, left)
	return list, err
}
