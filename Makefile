# The two commands: `make demo` and `make test`. Everything else is a step of theirs; `make help` lists the steps.
#
# Each front end adds its own steps in bindings/<name>/binding.mk: it appends its name to BINDINGS and gives the targets
# build-<name>, test-<name>, package-<name>, install-<name>, demo-<name>, gallery-<name> and lint-<name>. Each device that
# is a plugin does the same in runtime/devices/<name>/device.mk, with DEVICES and build-device-<name>.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BUILD := build
PYTHON := $(VENV)/bin/python
# Where the demo installs the packages, a folder for each front end.
INSTALLED := $(CURDIR)/$(BUILD)/installed
CODEGEN := PYTHONPATH=. $(PYTHON) -m codegen
BINDINGS :=
DEVICES :=

export OF_BUILD := $(CURDIR)/$(BUILD)

include $(sort $(wildcard bindings/*/binding.mk))
include $(sort $(wildcard runtime/devices/*/device.mk))

.PHONY: help
help: ## List the steps
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

# ------------------------------------------------------------------------------------------------ what it needs

APT_LISTS := apt.txt $(sort $(wildcard bindings/*/apt.txt runtime/devices/*/apt.txt))
BUILD_REQUIREMENTS := requirements/build.txt $(sort $(wildcard bindings/*/requirements.txt))

$(BUILD)/.packages: $(APT_LISTS) tools/install_packages.sh
	@mkdir -p $(BUILD)
	@tools/install_packages.sh $(APT_LISTS)
	@touch $@

$(VENV)/.build: $(BUILD_REQUIREMENTS) | $(BUILD)/.packages
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	@echo "Installing the generator's Python packages"
	@$(PYTHON) -m pip install -q --disable-pip-version-check $(foreach f,$(BUILD_REQUIREMENTS),-r $(f))
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.build
	@echo "Installing the Python packages of the tests, PyTorch among them"
	@$(PYTHON) -m pip install -q --disable-pip-version-check -r requirements/test.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.test
	@echo "Installing what the benchmarks compare with"
	@$(PYTHON) -m pip install -q --disable-pip-version-check -r requirements/bench.txt
	@touch $@

.PHONY: setup
setup: $(VENV)/.build ## Install Debian and Python packages

# ------------------------------------------------------------------------------------------------ build

.PHONY: codegen
codegen: setup ## Generate everything that follows from the definitions
	@$(CODEGEN) generate

$(BUILD)/build.ninja: | $(BUILD)/.packages
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython3_EXECUTABLE=$(CURDIR)/$(PYTHON) >$(BUILD)/configure.log 2>&1 \
		|| { cat $(BUILD)/configure.log; exit 1; }

# Headers that the build finds in a front end's own package manager come before it: see before-build-<name>.
.PHONY: native
native: codegen $(addprefix before-build-,$(BINDINGS))
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@cmake --build $(BUILD)
	@$(MAKE) --no-print-directory $(addprefix build-device-,$(DEVICES))

.PHONY: build
build: native ## Generate, compile, and make the front ends loadable from here
	@$(MAKE) --no-print-directory $(addprefix build-,$(BINDINGS))

# ------------------------------------------------------------------------------------------------ demo

# DEVICE=opencl:0 and the like: where the demo runs.
DEMO_OPTIONS := $(if $(DEVICE),--device $(DEVICE))

.PHONY: demo
demo: build ## Install the packages, run the programs with each, and compare what they print
	@mkdir -p $(BUILD)/demo
	@for name in $(BINDINGS); do \
		echo "== installing the package of $$name"; \
		$(MAKE) --no-print-directory -s install-$$name; \
		echo "== devices and digits in $$name"; \
		$(MAKE) --no-print-directory -s demo-$$name | tee $(BUILD)/demo/$$name.txt; \
	done
	@$(PYTHON) examples/digits/compare.py $(foreach name,$(BINDINGS),$(BUILD)/demo/$(name).txt)

.PHONY: gallery
gallery: build ## Run the gallery of einsum in each language, and compare what it prints
	@mkdir -p $(BUILD)/gallery
	@for name in $(BINDINGS); do $(MAKE) --no-print-directory -s gallery-$$name >$(BUILD)/gallery/$$name.txt; done
	@cat $(BUILD)/gallery/$(firstword $(BINDINGS)).txt
	@for name in $(BINDINGS); do diff $(BUILD)/gallery/$(firstword $(BINDINGS)).txt $(BUILD)/gallery/$$name.txt; done
	@echo; echo "$(BINDINGS): the same, line for line"

# ------------------------------------------------------------------------------------------------ tests

.PHONY: vectors
vectors: codegen $(VENV)/.test ## Compute the expected results of all operators from their oracles
	@PYTHONPATH=. $(PYTHON) -m tests.vectors

# Devices that the tests run on besides those that are found by themselves.
TEST_DEVICES := $(OF_BUILD)/test_plugins/far.so:$(OF_BUILD)/test_plugins/accel.so

TEST_STEPS := lint test-codegen test-runtime test-capi test-sanitizers test-fuzz $(addprefix test-,$(BINDINGS)) test-whole

.PHONY: test
test: build vectors ## Run all tests
	@$(PYTHON) tests/run_steps.py --logs $(BUILD)/test-logs $(TEST_STEPS)

.PHONY: test-codegen test-runtime test-capi test-sanitizers test-fuzz test-whole
$(TEST_STEPS): $(VENV)/.test
test-capi $(addprefix test-,$(BINDINGS)): export ONEFLOW_DEVICE_PATH := $(TEST_DEVICES)
test-codegen: # the generator
	@$(PYTHON) -m pytest tests/codegen
test-runtime: # what no front end reaches, in C++
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error
test-capi: # vectors and hostile input through the C API; programs built against the installed tree
	@$(PYTHON) -m pytest tests/capi
test-sanitizers: # the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/test_sanitized.sh
test-fuzz: # 200,000 random equations under the sanitizers
	@tools/fuzz_einsum.sh 200000
test-whole: # across languages: the definition workflow, packages, einsum, documents
	@$(PYTHON) -m pytest tests/whole tests/einsum

# ------------------------------------------------------------------------------------------------ the rest

.PHONY: bench
bench: build $(VENV)/.bench ## Measure against peers; writes benchmarks/results/
	@$(PYTHON) benchmarks/run.py

.PHONY: bench-einsum
bench-einsum: build $(VENV)/.bench ## The same for einsum alone, with a chart
	@PYTHONPATH=. $(PYTHON) benchmarks/run.py --as einsum --chart benchmarks/einsum/bench_einsum.py

.PHONY: docs
docs: codegen ## Write the reference manual to docs/generated, the table of docs/devices.md, the pictures of docs/einsum.md
	@$(PYTHON) tools/device_table.py
	@PYTHONPATH=. $(PYTHON) -m tools.einsum_pictures
	@echo "The manual is in docs/generated/reference"

.PHONY: packages
packages: build $(addprefix package-,$(BINDINGS)) ## Build the installable packages into dist/

.PHONY: lint
lint: $(VENV)/.test $(addprefix lint-,$(BINDINGS)) ## Check the style of all sources
	@$(VENV)/bin/ruff check -q . && $(VENV)/bin/ruff format -q --check .
	@$(VENV)/bin/mypy --strict codegen
	@git ls-files '*.h' '*.hpp' '*.c' '*.cpp' '*.cu' | xargs clang-format-14 --dry-run --Werror

.PHONY: clean
clean: ## Remove everything that was generated or built
	rm -rf $(BUILD) build-* dist
	find . -name generated -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
