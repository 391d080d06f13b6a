# `make` shows that the tree is sound: generated code fresh, vet, lint, tests under the race detector.
# `make help` lists the targets. Only Go is needed, except where a line says so.

GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
PKGS  := ./...

.DEFAULT_GOAL := check
.PHONY: help check build test test-clis lint vet fresh generate bench bench-tax bench-store bench-peers fuzz simulate accuracy clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: fresh vet lint test ## everything below that a commit must pass (the default)

build: ## build bin/bakeoff
	$(GO) build -buildvcs=auto -o bin/bakeoff ./cmd/bakeoff

test: ## run all tests under the race detector, and those without it that it makes too slow
	$(GO) test -race -timeout 25m $(PKGS)
	$(GO) test -timeout 10m -run WithoutRace ./protocol/suite

test-clis: ## the gRPC server under the real gRPCurl and ghz, which are built from a module of their own
	cd servers/grpcserver/clitest && $(GO) vet . && $(GO) test -timeout 10m .

vet: ## go vet
	$(GO) vet $(PKGS)

lint: ## staticcheck, pinned in tools/go.mod; exceptions and their reasons are in staticcheck.conf
	@fmt=$$(gofmt -l $$(git ls-files '*.go' | grep -vE '\.pb\.go$$|^thrift/gen')); if [ -n "$$fmt" ]; then echo "gofmt would change:"; echo "$$fmt"; exit 1; fi
	$(TOOL) staticcheck $(PKGS)

fresh: ## fail when generated code is stale against the IDL (compares sums; with protoc and thrift it generates and compares)
	sh tools/fresh.sh

generate: ## generate the code of both IDLs (needs protoc 3.21.12 and thrift 0.17.0: Debian's protobuf-compiler and thrift-compiler)
	sh proto/generate.sh
	sh thrift/generate.sh
	sh tools/fresh.sh --record

bench: ## Go benchmarks of the hot paths
	$(GO) test -run '^$$' -bench . -benchmem ./harness/... ./service/... ./store/... ./servers/... ./clients/...

bench-tax: ## what the harness and the servers' own code cost, as ratios within one interleaved run
	$(GO) run ./bench/tax

bench-store: ## the embedded Aerospike through the real client: CPU a get beside a floor, allocations, memory of a million records
	$(GO) run ./bench/store

bench-peers: ## the driver beside ghz, bombardier and wrk, interleaved (needs wrk: Debian's package of that name)
	sh bench/peers/run.sh

simulate: ## what the statistics promise and keep, by thousands of simulated runs (some minutes)
	$(GO) run ./bench/simulate

accuracy: ## figures of ours beside what is known to be true: freezing and failing servers, CPU, memory, pace (two minutes, on an idle machine)
	$(GO) run ./bench/accuracy

FUZZTIME ?= 10s
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
		echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

clean: ## remove what was built
	rm -rf bin
