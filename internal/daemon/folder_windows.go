package daemon

// checkFolder leaves it to the folder's access list, which the user's profile
// passes on.
func checkFolder(string) error { return nil }
