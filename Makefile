# make run and make test do all the set-up they need on a fresh machine with Go, make and git.
GO    ?= go
ARGS  ?=
SEED  ?= 1
IMAGE ?= webchat
# The race detector needs a C compiler.
RACE  := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)
OS_ARCH := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: run build test check bench soak docker docker-copilot

run: build ## start the server in this folder: make run ARGS="--workspace ../other"
	./bin/webchat $(ARGS)

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/webchat ./cmd/webchat

test: ## everything that proves behaviour, in a few minutes
	@sh scripts/setup.sh
	$(GO) test $(RACE) -timeout 15m ./...

check: ## what a reviewer should not have to look for
	@test -z "$$(gofmt -l cmd internal web)" || { gofmt -l cmd internal web; echo "run gofmt -w on these files"; exit 1; }
	$(GO) mod verify
	@GO="$(GO)" sh scripts/vuln.sh
	$(GO) tool staticcheck ./...
	@for p in $(OS_ARCH); do echo "vet and build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... && \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/webchat || exit 1; done

bench: ## our speeds beside their references, measured in the same run
	$(GO) test -run '^$$' -bench . -benchmem ./...

soak: ## the long runs: make soak SEED=7
	@GO="$(GO)" RACE="$(RACE)" sh scripts/soak.sh $(SEED)

docker:
	docker build -t $(IMAGE) .
docker-copilot: ; docker build --target copilot -t $(IMAGE)-copilot .
