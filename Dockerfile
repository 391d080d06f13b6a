# One small image of one static binary, which is server, store, driver and health check alike. docs/docker.md says how
# it is used. Both base images are arguments, so that a machine that reaches no registry can name local ones.
ARG GO_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM ${GO_IMAGE} AS build
# Empty: Go's own default. file:///some/folder takes the modules from a folder of the Go image.
ARG GOPROXY=
WORKDIR /src
# The modules first: they change less often than the code, and a layer keeps them.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The revision is stamped where there is one to be read: not in a checkout without .git, nor one whose .git points elsewhere.
# The cache of the build is dropped in the same layer, which would be half a gigabyte else.
RUN vcs=false; if git rev-parse HEAD >/dev/null 2>&1; then vcs=true; fi; \
    CGO_ENABLED=0 GOCACHE=/tmp/cache go build -buildvcs=$vcs -trimpath -ldflags='-s -w' -o /out/bakeoff ./cmd/bakeoff \
    && ln -s bakeoff /out/miniaero && mkdir /out/results && rm -rf /tmp/cache

FROM ${BASE_IMAGE}
COPY --from=build --chown=65532:65532 /out/ /
# Nobody: no file on any host is theirs.
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/bakeoff"]
