# docker build -t webchat . && docker run --rm -p 127.0.0.1:8080:8080 -v "$PWD:/workspace" webchat
# Several folders: mount each below /workspaces, such as -v ~/code/relay:/workspaces/relay.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o /webchat ./cmd/webchat

FROM debian:13-slim AS base
# Debian, since the agents' programs are built for its C library. A shell and git
# are what people run in a workspace; curl asks for the health. Any user id may run
# the image (docker run --user), so everybody may make a data folder in /data, as in
# most volumes, and git works in a workspace that is somebody else's. New volumes at
# /workspace and /shared take the rights of the folders here.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash ca-certificates curl git \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory '*' \
 && mkdir -p /data /shared /workspace && chmod 1777 /data /shared /workspace
COPY --from=build /webchat /usr/local/bin/webchat
ENV HOME=/data SHELL=/bin/bash \
    WEBCHAT_CONTAINER=1 WEBCHAT_DATA_DIR=/data/webchat WEBCHAT_WORKSPACE=/workspace \
    WEBCHAT_LISTEN=0.0.0.0:8080 WEBCHAT_NO_OPEN=true
USER 10001:10001
WORKDIR /workspace
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD curl -fsS -o /dev/null http://127.0.0.1:8080/healthz
ENTRYPOINT ["webchat"]

# docker build --target copilot -t webchat-copilot . adds the GitHub Copilot CLI,
# which npm installs on your machine, under its own licence: what we publish never
# holds it. It talks to a model of yours, for example on the host:
#   docker run --rm -p 127.0.0.1:8080:8080 -v "$PWD:/workspace" --add-host=host.docker.internal:host-gateway \
#     -e WEBCHAT_PROVIDER_URL=http://host.docker.internal:11434/v1 -e WEBCHAT_MODEL=qwen3 -e WEBCHAT_PROVIDER_KEY webchat-copilot
FROM node:22-slim AS cli
RUN npm install --no-audit --no-fund --prefix /opt/copilot @github/copilot@1.0.102

FROM base AS copilot
COPY --from=cli /opt/copilot/node_modules /opt/copilot/node_modules
ENV WEBCHAT_COPILOT_PATH=/opt/copilot/node_modules/.bin/copilot

# Without a target, the image is the one without anybody else's program.
FROM base
