package main

func mostConnections(wanted int) int { return wanted }
