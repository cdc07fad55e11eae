# make run and make test do all the set-up they need on a fresh machine with Go, make and git.
GO    ?= go
ARGS  ?=
SEED  ?= 1
IMAGE ?= webchat
PREFIX ?= $(HOME)/.local
# The race detector needs a C compiler and its headers. This is looked at when a
# target uses it, so after the set-up that may install them.
RACE = $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo '\#include <stdlib.h>' | $$($(GO) env CC) -E -x c - >/dev/null 2>&1 && echo -race)
OS_ARCH := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: run build install test setup check bench soak release docker docker-copilot

run: build ## start the server in this folder: make run ARGS="--workspace ../other"
	./bin/webchat $(ARGS)

build: ## names each module that is downloaded and each package that is compiled
	@test -e bin/webchat || echo "building bin/webchat: the first time downloads and compiles what it is made of, for a minute or more"
	CGO_ENABLED=0 $(GO) build -v -trimpath -o bin/webchat ./cmd/webchat

install: build ## put webchat on PATH: make install PREFIX=/usr/local
	@mkdir -p "$(PREFIX)/bin" && install -m 755 bin/webchat "$(PREFIX)/bin/webchat" && echo "installed $(PREFIX)/bin/webchat"
	@found=$$(command -v webchat); case ":$$PATH:" in \
	*":$(PREFIX)/bin:"*) [ "$$found" = "$(PREFIX)/bin/webchat" ] || echo "your shell finds $$found first: remove it, or put $(PREFIX)/bin before it on PATH" ;; \
	*) printf '%s\n' "$(PREFIX)/bin is not on your PATH: add this line to your shell's start file (such as ~/.profile or ~/.zshrc) and open a new terminal:" \
	  '    export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

test: setup ## everything that proves behaviour, in a few minutes
	@GO="$(GO)" sh scripts/test.sh

setup:
	@sh scripts/setup.sh

check: setup ## what a reviewer should not have to look for
	@test -z "$$(gofmt -l cmd deploy internal scripts web)" || { gofmt -l cmd deploy internal scripts web; echo "run gofmt -w on these files"; exit 1; }
	$(GO) mod verify
	cd deploy && $(GO) mod verify && $(GO) vet ./... && $(GO) test -vet=off -count=1 ./... # manifests by the types of what reads them, in a module of their own
	@GO="$(GO)" sh scripts/vuln.sh
	@GO="$(GO)" sh scripts/test.sh race
	$(GO) tool staticcheck ./...
	$(GO) run ./scripts/systems linux/arm64 darwin/arm64 windows/amd64 # what go vet says there; make release links

bench: ## our speeds beside their references, measured in the same run, and a table of what is asked of them
	$(GO) test -run '^$$' -bench . -benchmem ./... | $(GO) run ./scripts/bench

soak: setup ## the long runs: make soak SEED=7
	@GO="$(GO)" RACE="$(RACE)" sh scripts/soak.sh $(SEED)

release: ## archives of the six systems in dist, the same bytes each time; needs the list of vulnerabilities
	@GO="$(GO)" sh scripts/vuln.sh release
	@GO="$(GO)" sh scripts/release.sh dist $(OS_ARCH)

docker: ## the image, tried with as little as it may need
	docker build -t $(IMAGE) . && sh scripts/image.sh $(IMAGE)
docker-copilot: ; docker build --target copilot -t $(IMAGE)-copilot .
