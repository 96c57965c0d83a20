# phb. `make help` lists the targets.

# The first of these that is Python 3.11 or newer; override with PYTHON=...
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
SEED ?= 1
NETWORKS ?= s390 isode e1 cip osa
FUZZ_SECONDS ?= 12
SECONDS ?= 3600
PROCESSORS := $(shell nproc 2>/dev/null || echo 2)
# Tests side by side: half as many again as there are processors, for many tests wait for switches.
JOBS ?= $(shell expr \( 3 \* $(PROCESSORS) + 1 \) / 2)
DENY := build/tools/bin/cargo-deny --log-level error
TARGET ?=
SUITES ?=
FUZZ_TARGETS := packet artifact write program received rpc
CARGO_FUZZ := PATH="$(CURDIR)/build/tools/bin:$$PATH" cargo fuzz
FUZZ_SHARED := --fuzz-dir switch/fuzz --target-dir target/fuzz --sanitizer none

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find switch/crates -name '*.rs' -o -name Cargo.toml 2>/dev/null)
# What type checkers see: each package under its own name, wherever its folder lies.
TYPING := build/typing
PACKAGES := benchmarks=benchmarks phb=controller/phb phb_conform=ptf-tests/phb_conform phb_device=ptf-tests/phb_device \
	phb_examples=examples phb_lab=topologies/phb_lab phb_model=ptf-tests/phb_model phb_p4=p4src phb_ptf=ptf-tests/phb_ptf \
	phb_switch=switch/python/phb_switch release=release soak=soak docs=docs

.DEFAULT_GOAL := help
.PHONY: help setup demo lab emulate test test-alone fuzz-build lint lint-rust lint-python lint-dependencies docs docs-site docs-rust fuzz sanitize miri bench soak format lock p4 stf-record differential capabilities conform readme ptf dist image clean system-packages ldap-library ptf-library

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## own virtual environment with everything built (.venv)

demo: setup ## the S/390 test network: eight tests, table, results and pictures in out/s390
	$(BIN)/phb-lab run s390 --seed $(SEED) --json out/s390/results.json --out out/s390

lab: setup ## all five networks in virtual time: tables, results, pages and pictures in out/NETWORK
	@for network in $(NETWORKS); do \
		$(BIN)/phb-lab run $$network --seed $(SEED) --json out/$$network/results.json --out out/$$network || exit 1; \
	done

ptf: setup ptf-library ## the PTF suites on TARGET=phb-switch, bmv2 or all (PORTS=veth or memory, SUITES="parse mark")
	$(BIN)/python -m phb_ptf run $(SUITES) --target $(or $(TARGET),phb-switch) $(if $(PORTS),--ports $(PORTS))

emulate: system-packages setup ## every network whole in Mininet (root): real interfaces, kernel TCP; hours
	$(BIN)/python -m phb_lab.emulation out/emulate --seed $(SEED)

test: system-packages setup ldap-library ptf-library $(VENV)/.docs ## every check and test
	@# Two at once: mypy and the site take one processor, and cargo waits for one crate now and then.
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint docs
	@# One seed for every run; without the variable property tests look elsewhere each time.
	PROPTEST_RNG_SEED=$(SEED) cargo test --workspace --exclude phb-python --quiet --no-fail-fast
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not alone"
	@# The fuzz targets are compiled with what these leave of the processors, and nothing more: they compare real time.
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-alone fuzz-build NICE="nice -n 19"
	$(MAKE) --no-print-directory fuzz

test-alone: setup
	$(BIN)/pytest -m alone

lint: lint-rust lint-python lint-dependencies ## formatting, clippy, ruff, mypy, dependencies

lint-rust:
	cargo fmt --all --check
	cargo fmt --manifest-path switch/fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@# Without native code.
	cargo clippy --package phb-switch --no-default-features --all-targets --quiet -- -D warnings

lint-python: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@rm -rf $(TYPING) && mkdir -p $(TYPING)
	@for pair in $(PACKAGES); do ln -s "$(CURDIR)/$${pair#*=}" "$(TYPING)/$${pair%%=*}"; done
	MYPYPATH=$(TYPING) $(BIN)/mypy -p benchmarks -p phb -p phb_conform -p phb_device -p phb_lab -p phb_model -p phb_p4 -p phb_ptf \
		-p phb_switch -p release -p soak -p docs.site
	MYPYPATH=$(TYPING) $(BIN)/python -m mypy.stubtest phb_switch._native

lint-dependencies: setup build/tools/bin/cargo-deny
	$(BIN)/python -m tests.dependencies
	$(DENY) --manifest-path Cargo.toml check bans licenses sources
	$(DENY) --manifest-path switch/fuzz/Cargo.toml check bans licenses sources
	@if why=$$($(DENY) fetch db 2>&1); then \
		$(DENY) --manifest-path Cargo.toml check advisories && $(DENY) --manifest-path switch/fuzz/Cargo.toml check advisories; \
	else \
		echo "cargo-deny: advisories can't be had, not looked at: $$(echo "$$why" | grep . | tail -1)"; \
	fi

# Strict: a link or an anchor that leads nowhere is an error.
docs: docs-site docs-rust ## the documentation as a site with search, without a network: out/docs/index.html
	cp -r target/doc out/docs/rust

docs-site: setup $(VENV)/.docs
	@rm -rf out/docs
	$(BIN)/python -m docs.site build/docs
	NO_COLOR=1 $(BIN)/zensical build --strict --clean

docs-rust:
	RUSTDOCFLAGS="--deny rustdoc::broken_intra_doc_links --allow rustdoc::private_intra_doc_links" cargo doc --workspace --exclude phb-python --no-deps --document-private-items --quiet

$(VENV)/.docs: requirements/docs.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/docs.lock
	@touch $@

# Stable Rust: without a sanitizer, so panics and differences of executors are looked for; with counters of coverage.
fuzz-build: build/tools/bin/cargo-fuzz
	@mkdir -p build/fuzz
	@PATH="$(CURDIR)/build/tools/bin:$$PATH" $(NICE) cargo fuzz build $(FUZZ_SHARED) >build/fuzz/build.log 2>&1 || { tail -40 build/fuzz/build.log; exit 1; }

fuzz: setup fuzz-build ## packets, artifacts and requests that a fuzzer makes up (FUZZ_SECONDS=12 each)
	@$(BIN)/python switch/fuzz/requests.py build/fuzz/p4info build/fuzz/rpc
	@for target in packet artifact write program; do $(BIN)/python switch/fuzz/seeds.py build/fuzz/$$target; done
	@# Each takes one processor.
	@$(MAKE) --no-print-directory --jobs $(PROCESSORS) --output-sync=target $(FUZZ_TARGETS:%=fuzz-%)

fuzz-%:
	@mkdir -p build/fuzz/$* switch/fuzz/corpus/$*
	@echo "fuzz $*: $(FUZZ_SECONDS) s"
	@$(CARGO_FUZZ) run $(FUZZ_SHARED) $* build/fuzz/$* $(CURDIR)/switch/fuzz/corpus/$* \
		-- -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -len_control=0 -seed=$(SEED) -timeout=30 \
		-rss_limit_mb=2048 -artifact_prefix=build/fuzz/ >build/fuzz/$*.log 2>&1 \
		|| { tail -40 build/fuzz/$*.log; exit 1; }
	@grep -aq 'inline 8-bit counters' build/fuzz/$*.log || { echo "fuzz $*: built without counters of coverage"; exit 1; }
	@echo "$$(grep -a '^Done' build/fuzz/$*.log), edges covered: $$(grep -ao ' cov: [0-9]*' build/fuzz/$*.log | tail -1 | cut -d' ' -f3)"

# The address sanitizer and Miri are of nightly Rust; each says where it isn't run. The sanitizer looks at what rustc compiles,
# memcheck at native code, too.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
sanitize: ## tests of native code under the address sanitizer (nightly Rust) and valgrind's memcheck
	@if rustc +nightly --version >/dev/null 2>&1; then \
		RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --package phb-pipeline --test native --test twins --target $(HOST) \
			--target-dir target/sanitize --quiet || exit 1; \
	else echo "no nightly toolchain: the address sanitizer is not run"; fi
	@if command -v valgrind >/dev/null; then \
		cargo test --release --package phb-pipeline --test twins --quiet --config \
			'target."cfg(unix)".runner = ["valgrind", "--quiet", "--smc-check=all-non-file", "--error-exitcode=9"]' \
			-- --exact made_up_programs_do_something programs_of_the_repository; \
	else echo "no valgrind: memcheck is not run"; fi

miri: ## the parts without native code under Miri (nightly Rust with the components miri and rust-src)
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 cargo +nightly miri test --package phb-pipeline --no-default-features --lib \
			--target-dir target/miri --quiet -- --skip lowered_is_exact --skip linear_search; \
	else echo "no nightly toolchain with Miri: it is not run"; fi

# Not optimised: they run for seconds, and optimised they are built for minutes.
build/tools/bin/cargo-%:
	CARGO_PROFILE_DEV_DEBUG=false $(NICE) cargo install cargo-$* --debug --locked --quiet --root build/tools --target-dir target/tools

bench: setup ## measure speed: ratios of one run, table, out/bench.json and out/bench.md (root for all; PAGE=..., BMV2_BUILD="-O3")
	$(BIN)/python -m benchmarks --json out/bench.json --page $(or $(PAGE),out/bench.md)

soak: setup ## both executors compared, then a switch under overload, faults and misuse (root; SECONDS=3600 SEED=1, for each): table, out/soak.json, out/soak.png
	TWINS_SECONDS=$(SECONDS) TWINS_SEED=$(SEED) cargo test --release -p phb-pipeline --test twins --quiet -- --ignored --nocapture
	cargo test --release -p phb-pipeline --test hostile --quiet -- --ignored --nocapture
	cargo test --release -p phb-node --test replace --quiet -- --ignored --nocapture
	$(BIN)/python -m soak --seconds $(SECONDS) --seed $(SEED) --report out/soak.json --picture out/soak.png

format: setup ## rewrite Rust and Python sources as lint wants them
	cargo fmt --all
	cargo fmt --manifest-path switch/fuzz/Cargo.toml
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --custom-compile-command 'make lock'
lock: setup ## the newest of every Python package that pyproject.toml allows, by name and hash in requirements
	$(BIN)/python -m pip install --quiet --upgrade uv
	$(LOCK) --group build --group dev --output-file requirements/setup.lock pyproject.toml
	for part in ldap ptf docs dist; do \
		$(BIN)/python -m tests.dependencies $$part | $(LOCK) --constraint requirements/setup.lock --output-file requirements/$$part.lock - || exit 1; \
	done

p4: setup ## compile p4src and every test program with p4c (where installed)
	$(BIN)/python -m phb_p4
	$(BIN)/python -m phb_switch.p4c switch/programs switch/programs/psa switch/programs/pna switch/python/tests/programs switch/crates/*/tests/programs

stf-record: setup ## run p4c's own test programs anew (P4C=its source tree), write docs/evidence/recorded/stf.md
	$(BIN)/python -m phb_switch.stf.record $(P4C)/testdata switch/programs docs/evidence/recorded/stf.md

differential: setup ## every program on phb-switch and bmv2 (BMV2=simple_switch_grpc P4C=its source tree OLDER=artifacts SEED=1 FRAMES=20), write docs/evidence/recorded/differential.md
	$(BIN)/python -m phb_switch.differential $(if $(BMV2),--bmv2 $(BMV2)) $(if $(P4C),--p4c $(P4C)) --seed $(SEED) --frames $(or $(FRAMES),20) \
		--document docs/evidence/recorded/differential.md switch/programs p4src/build $(OLDER)

conform: setup ## the RFC checklist on phb-switch and bmv2 (where installed; TARGET=...), write docs/evidence/recorded
	$(BIN)/python -m phb_conform.recording docs/evidence/recorded $(TARGET)

capabilities: setup ## try what each target can do (bmv2 where installed), write controller/phb/targets and docs/evidence/recorded/targets.md
	$(BIN)/python -m phb_conform.capabilities
	$(BIN)/python -m phb.targets docs/evidence/recorded/targets.md

readme: setup ## measure README's picture and the tables of docs/networks/index.md anew
	$(BIN)/python -m phb_lab.readme .

dist: setup $(VENV)/.dist build/tools/bin/cargo-cyclonedx ## a release in out/dist: source, wheels, bills of materials
	@PATH="$(CURDIR)/build/tools/bin:$$PATH" $(BIN)/python -m release out/dist

# Of whichever of these is here; IMAGE_TOOL=... chooses, BASE=... is another Debian to build on. IMAGE_OPTIONS
# are the tool's: behind a proxy, --volume /etc/ssl/certs/ca-certificates.crt:/run/ca.crt:ro --build-arg PIP_CERT=/run/ca.crt.
IMAGE_TOOL ?= $(firstword $(foreach tool,podman docker buildah,$(if $(shell command -v $(tool) 2>/dev/null),$(tool))))
DIST ?= out/dist
image: ## the container image localhost/phb of this machine's wheel in out/dist (podman, docker or buildah)
	@test -n "$(IMAGE_TOOL)" || { echo "make image needs podman, docker or buildah" >&2; exit 2; }
	@ls $(DIST)/phb-*_$$(uname -m).whl >/dev/null || { echo "no wheel for $$(uname -m) in $(DIST): make dist" >&2; exit 2; }
	@rm -rf build/image && mkdir -p build/image && cp $(DIST)/phb-*_$$(uname -m).whl build/image
	@grep == requirements/setup.lock | sed 's/ \\$$//' >build/image/constraints.txt
	$(IMAGE_TOOL) build $(IMAGE_OPTIONS) $(if $(BASE),--build-arg BASE=$(BASE)) --tag localhost/phb --file deploy/Containerfile build/image

$(VENV)/.dist: requirements/dist.lock $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/dist.lock
	@touch $@

clean: ## remove everything that make made
	rm -rf $(VENV) target out build *.egg-info switch/python/phb_switch/*.so

# Tests that need a tool from Debian skip, and say so, where it can't be installed.
# slapd without a configuration, and policy-rc.d forbids to start what is installed: no server runs but those of tests.
system-packages:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		wanted=; \
		command -v ip >/dev/null || wanted="iproute2"; \
		command -v slapd >/dev/null || wanted="$$wanted slapd"; \
		command -v promtool >/dev/null || wanted="$$wanted prometheus"; \
		command -v mnexec >/dev/null || wanted="$$wanted mininet"; \
		for command in ethtool iperf3 mgen s3270 curl; do command -v $$command >/dev/null || wanted="$$wanted $$command"; done; \
		ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || wanted="$$wanted libfaketime"; \
		command -v chromium >/dev/null || wanted="$$wanted chromium"; \
		for package in snmpd snmptrapd; do [ -x /usr/sbin/$$package ] || wanted="$$wanted $$package"; done; \
		command -v snmpwalk >/dev/null || wanted="$$wanted snmp"; \
		ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$$wanted postgresql"; \
		$(BIN)/python -c 'import ldap' 2>/dev/null || wanted="$$wanted libldap2-dev libsasl2-dev gcc libc6-dev"; \
		$(BIN)/python -c 'import netifaces' 2>/dev/null || wanted="$$wanted gcc libc6-dev"; \
		if [ -n "$$wanted" ]; then \
			export DEBIAN_FRONTEND=noninteractive; \
			apt-get update -qq; \
			echo 'slapd slapd/no_configuration boolean true' | debconf-set-selections; \
			forbids=/usr/sbin/policy-rc.d; \
			[ -e $$forbids ] && forbids= || { printf '#!/bin/sh\nexit 101\n' >$$forbids; chmod 755 $$forbids; }; \
			for package in $$wanted; do \
				apt-get install -y -qq --no-install-recommends $$package >/dev/null || echo "not installed: $$package; what needs it is not tested"; \
			done; \
			[ -z "$$forbids" ] || rm $$forbids; \
		fi; \
	fi

# The optional part `phb[ldap]`; where it can't be built, the tests of directories skip.
ldap-library: setup
	@$(BIN)/python -c 'import ldap' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/ldap.lock || \
		echo "python-ldap: can't be built here (Debian: libldap2-dev libsasl2-dev gcc), directories not tested"

# The optional part `phb[ptf]`; where it can't be built, the PTF suites skip.
ptf-library: setup
	@$(BIN)/python -c 'import ptf, netifaces' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/ptf.lock || \
		echo "ptf: its netifaces can't be built here (Debian: gcc libc6-dev python3-dev), PTF suites not run"

$(VENV)/.installed: pyproject.toml requirements/setup.lock $(RUST_SOURCES)
	@test -n "$(PYTHON)" || { echo "phb needs Python 3.11 or newer; found none on the PATH (set PYTHON=...)" >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "phb needs a Rust toolchain (cargo 1.95 or newer) on the PATH" >&2; exit 2; }
	@echo "setting up $(VENV): Python packages and the Rust build, some minutes the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "no venv: on Debian, install python3-venv" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/setup.lock
	@# One by another name would be taken first.
	@rm -f switch/python/phb_switch/_native.*.so
	@# setuptools warns of every editable install; its errors still show.
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
