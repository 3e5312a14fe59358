# Needs python3 (3.11 or newer) and make; everything else is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
MINUTES ?= 10
SAMPLE ?= 300
QUIETLY := -qq --disable-pip-version-check
PEERS := laplax==0.0.2 torch==2.13.0 mapie==1.6.0 botorch==0.18.1 ax-platform==1.3.1 baybe==0.15.0 \
	onnx==1.23.2 onnxruntime==1.31.1 mlflow-skinny==3.17.2 arviz==0.23.4 polars==2.1.0
# laplace-torch and what it imports; of what it asks for, torchvision is left out.
PEERS_ALONE := laplace-torch==0.3 curvlinops-for-pytorch==3.0.1 backpack-for-pytorch==1.7.1 \
	asdfghjkl==0.1a4 einconv==0.1.0 einops==0.8.2 lightning-utilities==0.15.3 \
	linear-operator==0.6.1 torchmetrics==1.9.0 unfoldNd==0.2.3

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-peers check fuzz mutants docs tutorials figures paper lock audit sbom clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(READY)  ## fit a real table, predict new rows and leave the page that explains it
	@$(BIN)/gfsvi demo

test: check  ## style, types, layers and every test that takes seconds
	@echo "pytest" && $(BIN)/pytest -n 2 --dist loadfile -m "not slow"

test-all: check  ## the same with the slow tests
	@echo "pytest, slow tests included" && $(BIN)/pytest -n 2 --dist loadfile

test-peers: $(READY)  ## other libraries beside ours, which are installed for it
	@$(BIN)/python -m pip install $(QUIETLY) --constraint .venv/versions.lock $(PEERS)
	@$(BIN)/python -m pip install $(QUIETLY) --no-deps $(PEERS_ALONE)
	@echo "pytest, against other libraries" && $(BIN)/pytest \
		tests/gold/test_laplace_against_peers.py tests/gold/test_kronecker_against_peers.py \
		tests/post_hoc/test_torch.py tests/estimators/test_mapie.py \
		tests/acquisition/test_botorch.py tests/portable/test_onnx.py tests/interchange \
		"tests/docs/test_code_blocks.py::test_every_python_block_of_a_page_runs_after_the_ones_before[docs/do/serve.md]" \
		"tests/docs/test_code_blocks.py::test_every_python_block_of_a_page_runs_after_the_ones_before[docs/do/botorch.md]"
	@$(BIN)/gfsvi bench peers
	@echo "pytest, the peers of tables" && $(BIN)/pytest tests/bench/test_peers_of_tables.py

check: $(READY)  ## style, types and layers alone
	@echo "ruff" && $(BIN)/ruff check --quiet && $(BIN)/ruff format --check --quiet
	@echo "pyright" && $(BIN)/pyright --warnings
	@echo "import-linter" && $(BIN)/lint-imports --no-logo

fuzz: $(READY)  ## hostile inputs of every kind for MINUTES=10; failures are kept in build/fuzz
	@$(BIN)/python -m fuzz --minutes $(MINUTES)

mutants: $(READY)  ## faults in the mathematics, SAMPLE=300 of them: do tests notice? records are kept
	@$(BIN)/python -m mutants --planted && $(BIN)/python -m mutants --sample $(SAMPLE)

paper: $(READY)  ## what the paper's tables and figures lack, how long it takes, and the runs
	@$(BIN)/python -m benchmarks.paper --run

figures: $(READY)  ## the paper's figures: runs whose records are missing, then pictures
	@for path in experiments/figure_*.toml; do \
		folder=results/$$(basename $$path .toml); \
		$(BIN)/gfsvi bench run $$path --output $$folder --workers 2 && \
		$(BIN)/gfsvi bench report $$folder || exit 1; \
	done

docs: $(READY)  ## the documentation site, in build/site; warnings are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "site: build/site/index.html"

tutorials: $(READY)  ## run the tutorials and keep what they print and draw
	@$(BIN)/python docs/site/tutorials.py

lock: $(READY)  ## the newest versions that pyproject.toml admits, written to requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
		--fork-strategy fewest --upgrade --generate-hashes --no-annotate --no-emit-index-url --quiet \
		--no-emit-package gfsvi --custom-compile-command "make lock" \
		--output-file requirements.lock

audit: $(READY)  ## known vulnerabilities of the locked packages, if the index can be asked
	@$(BIN)/python -m supply_chain.audit || test $$? -eq 2

sbom: $(READY)  ## a software bill of materials (CycloneDX) of the lock, in build/sbom.json
	@$(BIN)/python -m supply_chain.sbom

clean:  ## remove the environment and everything built
	@rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path "./.git/*" -prune -exec rm -rf {} +

# uv installs several times faster than pip, but does not read pip's configuration:
# where a mirror is configured for pip alone, pip takes over. Both check the hashes of all files, and
# pip looks for no others: with hashes it asks for a pin of every extra (`etils[epath]`), too;
# versions.lock is the lock without them, for installing something else in agreement with it.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "gfsvi expects Python 3.11 or newer; got $$($(PYTHON) --version). Set PYTHON=python3.12, say." >&2; exit 1; }
	@echo "installing into .venv (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@awk '/^[^ ]/ {is_uv = /^uv==/} is_uv' requirements.lock > .venv/uv.lock
	@sed -E '/^ +--hash/d; s/ \\$$//' requirements.lock > .venv/versions.lock
	@$(BIN)/python -m pip install $(QUIETLY) --require-hashes -r .venv/uv.lock
	@$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r requirements.lock \
		2> /dev/null || \
		$(BIN)/python -m pip install $(QUIETLY) --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation -e .
	@touch $@
