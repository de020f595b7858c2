# The one door: `make help`. CI goes through it, too (.ci/run), with VENV, BUILD and SITE outside the tree.
VENV ?= .venv
BUILD ?= build
SITE ?= site
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
JOBS ?= auto
CMAKE := $(shell command -v cmake || echo $(BIN)/cmake)
CORE := $(wildcard core/*/*.cpp core/*/*.hpp)
RUNTIME := $(wildcard runtime/*.cpp runtime/*.hpp)
export MYPYPATH := src

.DEFAULT_GOAL := help
.PHONY: help setup build build-asan fmt lint types test test-all test-core tables golden papers results bench docs docs-update proof wheel clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

setup: $(VENV)/.ready ## Make .venv with memfence (editable) and everything for development

$(VENV)/.ready: pyproject.toml CMakeLists.txt $(CORE)
	test -x $(BIN)/python || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# Where the system has no cmake, pip does. ($(NEEDED) is empty where it has.)
NEEDED := $(filter $(BIN)/%,$(CMAKE))
$(BIN)/cmake: | $(VENV)/.ready
	$(BIN)/python -m pip install --quiet cmake

build: ## Compile the native core again
	$(BIN)/python -m pip install --quiet --editable .
	touch $(VENV)/.ready

build-asan: $(NEEDED) ## Compile the core and its tests with the address and undefined-behaviour sanitizers
	$(CMAKE) -S . -B $(BUILD)/asan -DCMAKE_BUILD_TYPE=Debug -DMEMFENCE_DEV=ON -DMEMFENCE_TESTS=ON -DMEMFENCE_SANITIZE=ON
	$(CMAKE) --build $(BUILD)/asan --parallel 2

$(BUILD)/native/core_tests: $(CORE) CMakeLists.txt $(NEEDED)
	$(CMAKE) -S . -B $(BUILD)/native -DMEMFENCE_DEV=ON -DMEMFENCE_TESTS=ON
	$(CMAKE) --build $(BUILD)/native --parallel 2

# A folder of the core is checked as one file: each header is read once, not twenty times.
$(BUILD)/lint/compile_commands.json: $(CORE) CMakeLists.txt $(NEEDED)
	$(CMAKE) -S . -B $(BUILD)/lint -DMEMFENCE_UNITY=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
	touch $@

fmt: setup ## Format the code
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/clang-format -i $(CORE) $(RUNTIME)

lint: setup $(BUILD)/lint/compile_commands.json ## Check style and format, of Python and C++
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/clang-format --dry-run --Werror $(CORE) $(RUNTIME)
	$(BIN)/python $(BIN)/run-clang-tidy.py -p $(BUILD)/lint -clang-tidy-binary $(BIN)/clang-tidy \
		-config-file .clang-tidy -quiet -j 2

types: setup ## Check types
	$(BIN)/mypy --strict -p memfence

test: setup test-core ## Run the normal test suite, and that of the core
	$(PYTEST) -n $(JOBS) -m "not slow"

test-all: setup test-core ## Run every test, the slow ones too
	$(PYTEST) -n $(JOBS) -m "" --hypothesis-profile=random

test-core: $(BUILD)/native/core_tests ## Run the native unit tests (and the sanitized ones after build-asan)
	$(BUILD)/native/core_tests
	if test -x $(BUILD)/asan/core_tests; then $(BUILD)/asan/core_tests; fi

tables: setup ## Write the parse tables again after a change of a grammar
	$(BIN)/python -m memfence.frontends.parsing.generate

golden: setup ## Write the expected output of golden tests again; look at the diff before you commit
	$(BIN)/python -m memfence.report.contract.schema
	$(BIN)/python -m memfence.api.typing
	UPDATE_GOLDEN=1 $(PYTEST) -n 0 tests/golden

papers: setup ## Compare with the papers' tables and with other tools; print those of BEEM and of atomic writes
	$(PYTEST) -n $(JOBS) -m "" --hypothesis-profile=random tests/papers
	$(BIN)/python tests/papers/atomic_table.py
	$(BIN)/python tests/papers/beem_table.py

# Scripts whose output is in docs/results, with what they need beside the corpus.
MEASURING := persistence symmetry families many_processes fences ltl sober run run_programs certificates reading c_speed

results: setup ## Measure docs/results/tables again, other tables into $(BUILD)/results (CORPUS=models of other tools)
	$(BIN)/memfence bench tables $(if $(CORPUS),--corpus $(CORPUS)) -o docs/results/tables
	mkdir -p $(BUILD)/results
	for script in $(MEASURING); do \
	  $(BIN)/python benchmarks/$$script.py >$(BUILD)/results/$$script.md || echo "$$script.py has failed" >&2; done

bench: setup ## Time the engine, and Spin beside it where installed
	$(BIN)/python benchmarks/run.py

docs: setup ## Build the documentation into site/
	$(BIN)/python -m pip install --quiet 'mkdocs-material>=9.5'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir "$(SITE)"

docs-update: setup ## Write the output of every command in the documentation again; look at the diff before you commit
	UPDATE_DOCS=1 UPDATE_SCREENSHOTS=1 $(PYTEST) -n 0 tests/repo/test_docs_commands.py tests/browser

proof: ## Check the proofs with Coq and build the checker that is made of them; print what the proofs assume
	@command -v coqc >/dev/null && command -v ocamlopt >/dev/null || \
		{ echo "make proof needs Coq 8.16 and OCaml (Debian: coq, ocaml-nox)" >&2; exit 1; }
	$(MAKE) --no-print-directory -C proof BUILD=$(if $(filter /%,$(BUILD)),,../)$(BUILD)/proof

wheel: setup ## Build a wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## Remove everything that was built
	rm -rf $(BUILD) dist $(SITE) $(VENV)
