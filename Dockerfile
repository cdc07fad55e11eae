# docker build -t webchat . && docker run --rm -p 127.0.0.1:8080:8080 -v "$PWD:/workspace" webchat
FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o /webchat ./cmd/webchat

FROM alpine:3
# A shell and git are what people run in a workspace. Any user id may run the
# image (docker run --user), so the data folder belongs to everybody, and git
# works in a workspace that is somebody else's.
RUN apk add --no-cache bash git \
 && git config --system --add safe.directory '*' \
 && mkdir -p /data /workspace && chmod 1777 /data
COPY --from=build /webchat /usr/local/bin/webchat
ENV HOME=/data SHELL=/bin/bash \
    WEBCHAT_CONTAINER=1 WEBCHAT_DATA_DIR=/data WEBCHAT_WORKSPACE=/workspace \
    WEBCHAT_LISTEN=0.0.0.0:8080 WEBCHAT_NO_OPEN=true
USER 10001:10001
WORKDIR /workspace
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD wget -q -O /dev/null http://127.0.0.1:8080/healthz
ENTRYPOINT ["webchat"]
