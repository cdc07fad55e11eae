package main

// checkDataDir leaves it to the folder's access list, which the user's profile
// passes on.
func checkDataDir(string) error { return nil }
