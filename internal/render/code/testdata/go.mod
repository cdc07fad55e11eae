module example.com/relay

go 1.26.8

toolchain go1.26.8

require (
	github.com/example/pump v1.2.3 // indirect
	golang.org/x/sys v0.49.0-0.20260101000000-abcdefabcdef
)

replace example.com/a => ../a

exclude example.com/b v2.0.0+incompatible

retract [v1.0.0, v1.0.5] // a bad release
