# The toolchain is named once, in go.mod. A plain `go build ./...` works too, with
# Go 1.26 and nothing set: it takes the portable kernels.
export GOTOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)
export GOEXPERIMENT ?= simd
export GOFLAGS ?= -buildvcs=false

GO       ?= go
FUZZTIME ?= 30s
SOAK     ?= 1h
COUNT    ?= 10
MODULES  := . bench
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help build demo test test-race test-tiers test-crash test-faults lint bench bench-once bench-codec bench-arena bench-build bench-peers fuzz soak check cross clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/sheaf, as it ships: static, no cgo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/sheaf ./cmd/sheaf

demo: build ## index the Go source tree, search it, query it, compact, verify, show figures
	./examples/demo.sh bin/sheaf "$$($(GO) env GOROOT)/src" demo

test: ## every test, in both modules
	@for m in $(MODULES); do (cd $$m && $(GO) test ./...) || exit 1; done

test-race: ## the race detector over the packages that have goroutines; in all, memory that goes back is overwritten
	CGO_ENABLED=1 $(GO) test -short -race ./store/... ./cmd/... ./internal/codesearch/...
	$(GO) test -short -tags invariants ./iterator ./segment ./compaction ./internal/arena ./internal/invariants

test-crash: ## crashes before every operation of the file system, and 200 times kill -9; about half an hour
	@$(call counted,-run 'Crash|^TestKill' -crashevery 1 -crashrounds 500 -killrounds 200)
	$(GO) test -count 1 -v -run '^TestKilledWork$$' ./cmd/sheaf -killrounds 30

test-faults: ## errors of the disk at many places, a full disk, damage to every part of every file; about half an hour
	@$(call counted,-run 'Fault|Failed|DiskFull|MinFree|Damage' -faultevery 5 -damageplaces 2)

# Shows what long tests counted, and on failure how they ended.
counted = $(GO) test -timeout 90m -v ./store $(1) >counted.out 2>&1 || { grep -A 12 -e '--- FAIL' -e '^panic' counted.out | grep -v '^ *=== '; echo 'all of it is in counted.out'; exit 1; }; \
	grep -E '^(ok|    [a-z_]+_test.go)' counted.out; rm counted.out

# GODEBUG=cpu.X=off hides a feature from the run-time gates, so that machines with
# every feature run the lower tiers too.
test-tiers: ## the kernels' users on each lower tier, and without the SIMD experiment
	GODEBUG=cpu.avx512f=off $(GO) test ./blockcodec/... ./segment/... ./internal/docset/...
	GODEBUG=cpu.avx512f=off,cpu.avx2=off $(GO) test ./blockcodec/... ./segment/... ./internal/docset/...
	GOEXPERIMENT= $(GO) build ./...
	GOEXPERIMENT= $(GO) test -short ./blockcodec ./internal/docset ./iterator ./segment ./compaction ./store

lint: ## gofmt, vet, staticcheck, and the house rules that are tests
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	@for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...) || exit 1; done
	$(GO) test ./internal/lint

cross: ## builds for other machines, other toolchains and without the experiment
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=s390x $(GO) vet ./blockcodec ./segment ./iterator
	GOEXPERIMENT= $(GO) vet ./blockcodec ./internal/docset
	GOAMD64=v3 $(GO) vet ./blockcodec ./internal/docset
	GOAMD64=v4 $(GO) vet ./blockcodec ./internal/docset
	GOEXPERIMENT= GOTOOLCHAIN=local $(GO) build ./...

bench: ## every benchmark, COUNT times, for benchstat
	@for m in $(MODULES); do (cd $$m && $(GO) test -run '^$$' -bench . -count $(COUNT) ./...) || exit 1; done

bench-once: ## every benchmark once: they still run
	@for m in $(MODULES); do (cd $$m && $(GO) test -short -run '^$$' -bench . -benchtime 1x ./...) || exit 1; done

bench-codec: ## the codec's tables as in docs/perf.md: medians of COUNT runs, tiers in turn
	$(GO) test -v -count 1 -run CodecTable ./blockcodec -table $(COUNT)

bench-arena: ## size classes by bits beside the loop they replace; chunks, lists
	$(GO) test -run '^$$' -bench . -count $(COUNT) ./internal/arena

bench-build: ## building, indexing, compacting, against the bars; BUILD="-tree DIR -zipf", see bench/build
	cd bench && $(GO) run ./build $(BUILD)

bench-peers: ## Sheaf beside its peers, one table; PEERS="-quick" takes some minutes, all an hour
	cd bench && $(GO) run ./peers $(PEERS)

# At the end of its time the fuzzer may cut off a run and call that a failure
# ("context deadline exceeded"); only a failing input is one.
fuzz: ## each fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p >fuzz.out 2>&1 || \
	      { tail -n 40 fuzz.out; grep -q 'context deadline exceeded' fuzz.out && ! grep -q 'Failing input' fuzz.out; } || exit 1; \
	    tail -n 1 fuzz.out; \
	  done; \
	done; rm -f fuzz.out

soak: ## random sequences of all that a store does, with crashes, for SOAK
	$(GO) test -run '^TestOps$$' -v -timeout 0 ./store -args -soak $(SOAK)

check: lint test test-tiers test-race cross ## all that a change must pass, but fuzzing and benchmarks

clean: ## what make made
	rm -rf bin demo
