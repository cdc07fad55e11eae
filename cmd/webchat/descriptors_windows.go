package main

func mostConnections() int { return maxConnections }
