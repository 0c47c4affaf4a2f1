# `make demo` and `make test` work on a machine that has Python 3.11+ and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --no-compile
# Versions for this machine that the package itself does not ask for.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# Each process would compile all it imports again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo serve test suite test-all lint format types imports docs bench clean
.DEFAULT_GOAL := help

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP) --progress-bar on -e '.[theory,web]'
	@touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP) --progress-bar on -e '.[test]'
	@touch $(VENV)/core $@

$(VENV)/all: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP) --progress-bar on -e '.[dev]'
	@touch $(VENV)/core $(VENV)/test $@

$(VENV)/browser: $(VENV)/test
	@$(BIN)/python tools/browser.py
	@touch $@

$(VENV)/docs: $(VENV)/core
	$(PIP) -e '.[docs]'
	@touch $@

demo: $(VENV)/core ## install, learn additions of 5 digits three ways, test to 200, prove a fourth (under 10 minutes)
	$(BIN)/ordinate reproduce beyond/addition-1000 --scale demo --out demo
	$(BIN)/ordinate reproduce beyond/proven --scale demo --out demo

serve: $(VENV)/core ## open the page: playground, runs, relations, verdicts
	$(BIN)/ordinate serve --open

test: $(VENV)/test $(VENV)/browser lint imports ## install, lint, type-check and run the tests with coverage
	@$(MAKE) --no-print-directory -j2 types suite

suite: $(VENV)/test $(VENV)/browser
	$(BIN)/python -m pytest -n auto --dist loadscope --ignore=tests/slow --cov --cov-report=term --cov-fail-under=90

test-all: $(VENV)/all test ## every extra, everything `make test` runs, and tests/slow: nothing is skipped
	$(BIN)/python -m pytest -n auto --dist loadscope --timeout=1800 tests/slow

lint: $(VENV)/test ## ruff, formatting included
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

format: $(VENV)/test ## let ruff rewrite the files
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

types: $(VENV)/test ## mypy, strict on src
	$(BIN)/mypy

imports: $(VENV)/test ## import directions between the layers
	$(BIN)/lint-imports

docs: $(VENV)/docs ## build the documentation into site/
	$(BIN)/zensical build --clean

bench: $(VENV)/core ## ratios against textbook implementations
	$(BIN)/ordinate bench

clean: ## remove the environment and everything generated
	rm -rf $(VENV) site demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
